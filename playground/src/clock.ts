/** The clock of the service, which decides when a token expires: that of this computer may be wrong. */

import { signal } from "@preact/signals";

/** Less than that, in milliseconds, is the way of a reply, and its date has no parts of a second. */
const LEAST = 10_000;

/** How many milliseconds the service is ahead of this computer. */
const ahead = signal(0);

/** Learn what time it is there from the `Date` of a reply that has just come. */
export function learnTime(date: string | null): void {
  const by = Date.parse(date ?? "") - Date.now();
  if (Number.isNaN(by) || Math.abs(by - ahead.value) < LEAST) return;
  ahead.value = Math.abs(by) < LEAST ? 0 : by;
}

/** The time that it is there, in milliseconds since 1970. */
export function timeOfService(): number {
  return Date.now() + ahead.value;
}

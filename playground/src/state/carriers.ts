/** Where the token stands in a request. */

import { signal } from "@preact/signals";
import type { Carrier } from "../catalog";

/** A header that carries the token, and what stands there before it. */
export interface TokenHeader {
  name: string;
  before: string;
}

/** Where the hooks look for a token, as the catalog says. */
export const carriers = signal<Carrier[]>([{ in: "header", name: "token" }]);

/** The headers that carry the token; of several cookies the first. */
export function tokenHeaders(): TokenHeader[] {
  const found = carriers.value.map(headerOf);
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
}

function headerOf({ in: kind, name }: Carrier): TokenHeader {
  if (kind === "bearer") return { name: "Authorization", before: "Bearer " };
  return kind === "cookie" ? { name: "Cookie", before: `${name}=` } : { name, before: "" };
}

/** Where the token goes, in words. A browser sends its own cookies, and no page can set that header. */
export function tokenHint(): string {
  const places = carriers.value.map(({ in: kind, name }) => {
    if (kind === "bearer") return "as “Authorization: Bearer”";
    return kind === "cookie" ? `in the cookie “${name}”, by the code of requests only: the browser sends its own` : `in the header “${name}”`;
  });
  return `Sent ${places.join(" and ")}.`;
}

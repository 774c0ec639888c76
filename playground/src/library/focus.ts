/** Where the keyboard goes when what it was on is removed. */

/** Move the focus from a row that is about to go to the one after it, else to the one before. */
export function leaveRow(event: Event): void {
  const row = (event.currentTarget as HTMLElement).closest("li, [role=group]");
  const others = [row?.nextElementSibling, row?.previousElementSibling];
  const next = others.map((other) => other?.querySelector<HTMLElement>("button, input")).find(Boolean);
  next?.focus();
}

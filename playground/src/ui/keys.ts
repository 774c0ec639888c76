/** Keys that are commands of the page. */

/** Whether a key is meant for a field, or a dialog is open. */
export function isTyping({ target }: Event): boolean {
  const field = target instanceof Element && target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  return Boolean(field || document.querySelector("dialog[open]"));
}

/** Go to what the page is about: the list of acts comes before what most want to reach. */
export function focusContent(): void {
  const main = document.getElementById("main");
  (main?.querySelector<HTMLElement>("[data-content]") ?? main)?.focus();
}

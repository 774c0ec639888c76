/** Keys that are commands of the page. */

/** Whether a key is meant for a field, or a dialog is open. */
export function isTyping({ target }: Event): boolean {
  const field = target instanceof Element && target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  return Boolean(field || document.querySelector("dialog[open]"));
}

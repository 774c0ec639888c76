/** The focus stays where it was when what has it is taken away. */

const CAN_HAVE_IT = "button:enabled, input:enabled, select:enabled, textarea:enabled, a[href], [tabindex]";

/** Return what gives the focus back to an element; where that is gone, to what stands in its place, else around it. */
export function placeOf(element: Element | null): () => void {
  const around: [parent: Element, at: number][] = [];
  for (let one = element; one?.parentElement; one = one.parentElement) around.push([one.parentElement, [...one.parentElement.children].indexOf(one)]);
  return () => {
    const isThere = element instanceof HTMLElement && element.isConnected && element.checkVisibility();
    (isThere ? element : around.map(firstAt).find(Boolean))?.focus({ preventScroll: !isThere });
  };
}

function firstAt([parent, at]: [Element, number]): HTMLElement | undefined {
  const child = parent.isConnected ? parent.children[Math.min(at, parent.children.length - 1)] : undefined;
  const all = child ? [child, ...child.querySelectorAll(CAN_HAVE_IT)] : [];
  return all.find((one): one is HTMLElement => one instanceof HTMLElement && one.matches(CAN_HAVE_IT) && one.checkVisibility());
}

/** Watch over the whole page: what takes away a button does not have to say where the focus goes. */
export function keepFocus(): void {
  let last: Element | undefined;
  let back = (): void => undefined;
  const isLost = (): boolean => document.activeElement === document.body;
  addEventListener("focusin", ({ target }) => {
    last = target as Element;
    back = placeOf(last);
  });
  // A click on the ground takes the focus away, too: that is meant.
  addEventListener("focusout", () => setTimeout(() => isLost() && last?.isConnected && (last = undefined)));
  new MutationObserver(() => {
    if (!last || last.isConnected || !isLost()) return;
    last = undefined;
    back();
  }).observe(document.body, { childList: true, subtree: true });
}

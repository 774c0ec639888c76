/** What is cut off at its edge is whole in its tooltip, wherever it is. */

/** Show it where the pointer comes to a text that is cut; one that has a tooltip of its own keeps that. */
export function showWhatIsCut(): void {
  const told = new WeakSet<Element>();
  addEventListener("pointerover", ({ target }) => {
    for (let at = target as Element | null; at instanceof HTMLElement; at = at.parentElement) {
      if (getComputedStyle(at).textOverflow !== "ellipsis") continue;
      const isCut = at.scrollWidth > at.clientWidth;
      if (isCut && (!at.title || told.has(at))) {
        at.title = at.textContent ?? "";
        told.add(at);
      } else if (told.delete(at)) at.removeAttribute("title");
      return;
    }
  });
}

/** The widths of the columns of a listing, so that they stay from page to page. */

import type { Tab } from "../state";

interface Widths {
  /** Of the pane: in another one they are found anew. */
  pane: number;
  columns: Map<string, number>;
}

const kept = new WeakMap<Tab, Widths>();

/** Make no column of a table narrower than it was on the page before. */
export function keepWidths(tab: Tab, box: HTMLElement): void {
  const pane = box.clientWidth;
  const before = kept.get(tab);
  const columns = new Map(before?.pane === pane ? before.columns : []);
  const heads = [...box.querySelectorAll<HTMLElement>("th")];
  for (const head of heads) {
    const width = columns.get(head.dataset.name ?? "");
    if (width) head.style.minWidth = `${width}px`;
  }
  const widths = heads.map((head) => head.offsetWidth);
  heads.forEach((head, at) => columns.set(head.dataset.name ?? "", widths[at] ?? 0));
  kept.set(tab, { pane, columns });
}

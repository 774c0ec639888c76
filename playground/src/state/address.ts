/** The view in the address: `#/schema`; what follows it belongs to the view. */

import { effect } from "@preact/signals";
import { view, type View } from "./tabs";

export const VIEWS: readonly { key: View; title: string }[] = [
  { key: "acts", title: "Acts" },
  { key: "schema", title: "Schema" },
  { key: "sequences", title: "Sequences" },
  { key: "history", title: "History" },
  { key: "downloads", title: "Downloads" },
];

function viewOfAddress(): View | undefined {
  const name = /^#\/([a-z]+)/.exec(location.hash)?.[1];
  return VIEWS.find(({ key }) => key === name)?.key;
}

/** Keep the view and the address in step, from now on. */
export function followAddress(): void {
  view.value = viewOfAddress() ?? view.value;
  addEventListener("hashchange", () => (view.value = viewOfAddress() ?? view.value));
  effect(() => {
    if (viewOfAddress() !== view.value) location.hash = `#/${view.value}`;
    document.title = `${VIEWS.find(({ key }) => key === view.value)?.title ?? ""} · Playground`;
  });
}

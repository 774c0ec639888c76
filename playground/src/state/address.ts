/** The view in the address: `#/schema`, `#/acts/main/user/login`; what follows the view belongs to it. */

import { effect } from "@preact/signals";
import { TITLE } from "../brand";
import type { Place } from "../catalog";
import { activeId, activeTab, catalog, showAct, view, type View } from "./tabs";

export const VIEWS: readonly { key: View; title: string }[] = [
  { key: "acts", title: "Acts" },
  { key: "schema", title: "Schema" },
  { key: "sequences", title: "Sequences" },
  { key: "history", title: "History" },
  { key: "downloads", title: "Downloads" },
];

/** The address of the home page: the view of acts, with none of them. */
const HOME = "#/";
/** Characters of an address that names an act. */
const LONGEST = 600;

function viewOfAddress(): View | undefined {
  const name = /^#\/([a-z]+)/.exec(location.hash)?.[1];
  return VIEWS.find(({ key }) => key === name)?.key;
}

/** The act in the address, even one that the service does not have: that is told. */
function actOfAddress(): Place | undefined {
  const [service, model, act, ...more] = location.hash.replace(/^#\/acts\//, "").split("/").map(decoded);
  if (!location.hash.startsWith("#/acts/") || !service || !model || !act || more.length || !catalog.value) return undefined;
  return location.hash.length > LONGEST ? undefined : { service, model, act };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}

function addressNow(): string {
  if (view.value !== "acts") return viewOfAddress() === view.value ? location.hash : `#/${view.value}`;
  const now = activeTab.value?.request.value;
  return now ? `#/acts/${[now.service, now.model, now.act].map(encodeURIComponent).join("/")}` : HOME;
}

/** Go where the address leads, as Back and links do. */
function go(): void {
  const place = actOfAddress();
  if (place) return showAct(place);
  if (location.hash === HOME) activeId.value = 0;
  view.value = viewOfAddress() ?? (location.hash === HOME ? "acts" : view.value);
  // The address of the view alone shows what was shown there last.
  if (location.hash === "#/acts" && addressNow() !== location.hash) history.replaceState(null, "", addressNow());
}

/** Keep the view and the address in step, from now on. */
export function followAddress(): void {
  if (location.hash !== HOME) go();
  let isFirst = true;
  let isDue = false;
  const write = () => {
    isDue = false;
    const address = addressNow();
    if (location.hash !== address) location.hash = address;
  };
  effect(() => {
    const address = addressNow();
    if (isFirst) history.replaceState(null, "", address);
    // Later: the view and the tab may change one after the other, and each address is a step of Back.
    else if (!isDue) queueMicrotask(write);
    isDue = !isFirst;
    isFirst = false;
    document.title = `${VIEWS.find(({ key }) => key === view.value)?.title ?? ""} · ${TITLE}`;
  });
  addEventListener("hashchange", go);
}

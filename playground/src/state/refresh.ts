/** The catalog follows the service, which may be started again with other acts while the page is open. */

import { batch } from "@preact/signals";
import { allActs, fetchCatalogText, readCatalog, type Catalog } from "../catalog";
import { isSame } from "../json";
import { notify } from "../ui/notice";
import { carriers } from "./carriers";
import { catalog, onReply } from "./tabs";

/** From one look to the next at the soonest, in milliseconds. */
const PAUSE = 2_000;
/** How many names a note has. */
const NAMED = 3;

let text = "";
let looked = 0;

/** Fetch the catalog for the first time. */
export async function loadCatalog(): Promise<void> {
  text = await fetchCatalogText();
  looked = Date.now();
  take(readCatalog(text));
}

function take(found: Catalog): void {
  batch(() => {
    carriers.value = found.tokens;
    catalog.value = found;
  });
}

/** Look whether the catalog has changed; `isAsked` tells also that it has not. */
export async function refreshCatalog(isAsked = false): Promise<void> {
  if (!isAsked && Date.now() < looked + PAUSE) return;
  looked = Date.now();
  let now: string;
  try {
    now = await fetchCatalogText();
    if (now === text) return isAsked ? notify("No acts have changed.") : undefined;
    const [before, after] = [catalog.value, readCatalog(now)];
    text = now;
    take(after);
    notify(before ? `The service has changed: ${changesText(before, after)}.` : "The service has changed.");
  } catch (error) {
    // The service may be just starting; the next look is soon enough.
    if (isAsked) notify(`The catalog did not load: ${error instanceof Error ? error.message : String(error)}`, { bad: true });
  }
}

/** Look again when the user comes back to the page, and when the service says that it does not know an act. */
export function followService(): void {
  addEventListener("focus", () => void refreshCatalog());
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && void refreshCatalog());
  onReply((_request, { status }) => {
    if (status === 404 || status === 400) void refreshCatalog();
  });
}

/** `added getBook, removed getPage, changed addBook`, in few words. */
function changesText(before: Catalog, after: Catalog): string {
  const [old, now] = [byName(before), byName(after)];
  const added = [...now.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !now.has(name));
  const changed = [...now].filter(([name, act]) => old.has(name) && !isSame(old.get(name) as never, act as never)).map(([name]) => name);
  const parts = Object.entries({ added, removed, changed }).filter(([, names]) => names.length > 0);
  return parts.map(([what, names]) => `${what} ${named(names)}`).join("; ") || "its models or settings";
}

function byName(known: Catalog): Map<string, unknown> {
  return new Map(allActs(known).map(({ service, model, act, spec }) => [`${service === "main" ? "" : `${service}: `}${model}.${act}`, spec]));
}

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(", ") + (more > 0 ? ` and ${more} more` : "");
}

/** Starts the playground: the catalog, the shell, what the address asks for. */

import { render } from "preact";
import { applyColor } from "./brand";
import { fetchCatalog } from "./catalog";
import { startHistory } from "./library/record";
import { Shell } from "./shell";
import { carriers, catalog, catalogError, openRequest } from "./state";
import { followAddress } from "./state/address";
import { keepTabs } from "./state/kept-tabs";

async function start(): Promise<void> {
  applyColor();
  render(<Shell />, document.getElementById("app") as HTMLElement);
  startHistory();
  try {
    const found = await fetchCatalog();
    carriers.value = found.tokens;
    catalog.value = found;
  } catch (error) {
    catalogError.value = error instanceof Error ? error.message : String(error);
    return;
  }
  keepTabs();
  await openShared();
  followAddress();
  addEventListener("hashchange", () => void openShared());
}

/** Open the request of a share link; the address then no longer has it. */
async function openShared(): Promise<void> {
  if (!location.hash.startsWith("#share=")) return;
  const { readShare } = await import("./library/share");
  const request = readShare(location.hash);
  history.replaceState(null, "", "#/acts");
  if (request) openRequest(request);
}

void start();

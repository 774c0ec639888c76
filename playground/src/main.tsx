/** Starts the playground: the catalog, the shell, what the address asks for. */

import { render } from "preact";
import { applyColor } from "./brand";
import { startHistory } from "./library/record";
import { Shell } from "./shell";
import { catalogError, openRequest } from "./state";
import { followAddress } from "./state/address";
import { followRole } from "./state/follow-role";
import { keepTabs } from "./state/kept-tabs";
import { showWhatIsCut } from "./ui/cut";
import { keepFocus } from "./ui/focus";
import { followService, loadCatalog } from "./state/refresh";

async function start(): Promise<void> {
  applyColor();
  render(<Shell />, document.getElementById("app") as HTMLElement);
  showWhatIsCut();
  keepFocus();
  startHistory();
  try {
    await loadCatalog();
  } catch (error) {
    catalogError.value = error instanceof Error ? error.message : String(error);
    return;
  }
  keepTabs();
  await openShared();
  followAddress();
  followRole();
  followService();
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

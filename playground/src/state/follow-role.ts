/** Keeps the role of open requests one of whoever sends them. */

import { effect } from "@preact/signals";
import { inRole } from "./beginning";
import { identities, identity } from "./session";
import { specOf, tabs } from "./tabs";

/** Begin to follow log-ins, and whom tabs send as. */
export function followRole(): void {
  effect(() => {
    [identity.value, identities.value];
    for (const { request, as } of tabs.value) {
      const before = request.peek();
      const now = inRole(specOf(before), before, as.value);
      if (now !== before) request.value = now;
    }
  });
}

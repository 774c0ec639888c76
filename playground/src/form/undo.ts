/** Offers to take back what is about to be removed from a form. */

import { createContext } from "preact";

/** Told before the change, in words: "organizations 2 removed." Where nothing can be taken back, it does nothing. */
export const UndoContext = createContext<(what: string) => void>(() => {});

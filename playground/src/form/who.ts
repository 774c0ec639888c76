/** Whose form it is: an id picked in it is looked for with their token, and their roles are offered. */

import { createContext } from "preact";

/** As of a tab: "" is the one that is signed in. */
export const WhoContext = createContext("");

/** In a sequence: texts that stand for values of earlier steps, such as `{{id}}`, which are offered where an id is written. */
export const OfferContext = createContext<readonly string[] | null>(null);

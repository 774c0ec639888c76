/** Whose form it is: an id picked in it is looked for with their token, and their roles are offered. */

import { createContext } from "preact";
import type { Kind } from "../catalog";

/** As of a tab: "" is the one that is signed in. */
export const WhoContext = createContext("");

/** In a sequence: the texts that a field offers, such as `{{userId}}` for what an earlier step captured. */
export const OfferContext = createContext<((kind: Kind, name: string) => readonly string[]) | null>(null);

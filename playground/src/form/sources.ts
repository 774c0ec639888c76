/** Where ids of documents can be found; the dialog that finds them is loaded when it opens. */

import { allActs, actsReturningMany, manyOf, type PlacedAct } from "../catalog";
import { lazy } from "../lazy";
import { catalog } from "../state";

export const Picker = lazy(() => import("./picker").then((part) => part.Picker), "");

export function canPick(of: string | undefined): boolean {
  return sources(of).length > 0;
}

export function sources(of: string | undefined): PlacedAct[] {
  if (!catalog.value) return [];
  if (of !== undefined) return actsReturningMany(catalog.value, of);
  return allActs(catalog.value).filter(({ spec }) => manyOf(spec.returns));
}

/** The acts in which ids of documents can be found. */

import { allActs, actsReturningMany, manyOf, type PlacedAct } from "../catalog";
import { catalog } from "../state";

export function canPick(of: string | undefined): boolean {
  return sources(of).length > 0;
}

export function sources(of: string | undefined): PlacedAct[] {
  if (!catalog.value) return [];
  if (of !== undefined) return actsReturningMany(catalog.value, of);
  return allActs(catalog.value).filter(({ spec }) => manyOf(spec.returns));
}

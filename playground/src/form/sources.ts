/** The acts in which ids of documents can be found. */

import { allActs, actsReturningMany, manyOf, modelOf, type PlacedAct } from "../catalog";
import { catalog } from "../state";

export function canPick(of: string | undefined): boolean {
  return sources(of).length > 0;
}

export function sources(of: string | undefined): PlacedAct[] {
  if (!catalog.value) return [];
  if (of !== undefined) return actsReturningMany(catalog.value, of);
  return allActs(catalog.value).filter(({ spec }) => manyOf(spec.returns));
}

/** Whether the documents of a model are stored files, which can be opened. */
export function isFile(of: string | undefined): boolean {
  return of !== undefined && catalog.value !== null && modelOf(catalog.value, of)?.files === true;
}

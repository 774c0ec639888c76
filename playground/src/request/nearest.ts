/** The acts whose names are nearest to one that is not there. */

import { allActs, type Catalog, type Place } from "../catalog";
import { titleOf } from "../library/reading";

const MOST = 4;

/** At most four, the nearest first; none that are far away. */
export function nearestTo(catalog: Catalog, wanted: Place): Place[] {
  const name = wanted.act.toLowerCase();
  const far = (place: Place) =>
    stepsBetween(name, place.act.toLowerCase()) + (place.model === wanted.model ? 0 : 1) + (place.service === wanted.service ? 0 : 1);
  const all = allActs(catalog).map(({ spec: _, ...place }) => ({ place, steps: far(place) }));
  const near = all.filter(({ place, steps }) => steps <= Math.max(2, Math.min(name.length, place.act.length) / 2));
  return near.sort((one, other) => one.steps - other.steps).slice(0, MOST).map(({ place }) => place);
}

/** Said of acts that are not there. */
export function missingText(catalog: Catalog, missing: readonly Place[]): string[] {
  return missing.map((place) => {
    const near = nearestTo(catalog, place).map(titleOf);
    return `This service has no ${titleOf(place)}${near.length ? `; nearest: ${near.join(", ")}` : ""}.`;
  });
}

/** How many letters are to be added, removed or changed between two words. */
function stepsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  [...one].forEach((letter, line) => {
    const next = [line + 1];
    for (let at = 1; at < row.length; at++)
      next[at] = Math.min((row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1, (row[at - 1] ?? 0) + (other[at - 1] === letter ? 0 : 1));
    row = next;
  });
  return row.at(-1) ?? 0;
}

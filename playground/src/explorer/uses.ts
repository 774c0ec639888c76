/** Which acts use which model, and how. */

import { allActs, levelOf, type Catalog, type Kind, type PlacedAct, type Selection } from "../catalog";

export interface Use {
  placed: PlacedAct;
  /** Such as "returns it". */
  ways: string[];
}

/** Return the acts that use a model, in the order of the catalog. */
export function usesOf(catalog: Catalog, model: string): Use[] {
  return allActs(catalog)
    .map((placed) => ({ placed, ways: waysOf(catalog, placed, model) }))
    .filter(({ ways }) => ways.length > 0);
}

function waysOf(catalog: Catalog, { model: own, spec }: PlacedAct, model: string): string[] {
  const returned = partsOf(spec.returns).some((part) => part.kind === "documents" && part.model === model);
  const shown = partsOf(spec.get).some((part) => part.kind === "selection" && reaches(catalog, part, model));
  const taken = partsOf(spec.set).some((part) => part.kind === "object_id" && part.of === model);
  return [
    ...(own === model ? ["one of its acts"] : []),
    ...(returned ? ["returns it"] : []),
    ...(shown && !returned ? ["can show it"] : []),
    ...(taken ? ["takes its ids"] : []),
  ];
}

/** A kind and all kinds within it. */
function partsOf(kind: Kind): Kind[] {
  if (kind.kind === "array") return [kind, ...partsOf(kind.items)];
  if (kind.kind === "filter") return [kind, ...Object.values(kind.fields).map(({ value }) => value)];
  if (kind.kind === "object") return [kind, ...Object.values(kind.fields ?? {}).flatMap(partsOf)];
  return [kind];
}

function reaches(catalog: Catalog, selection: Selection, model: string, seen = new Set<string>()): boolean {
  if (selection.model === model) return true;
  if ("depth" in selection) {
    const key = `${selection.depth} ${selection.model}`;
    if (seen.has(key)) return false;
    seen.add(key);
  }
  return Object.values(levelOf(catalog, selection).links).some((next) => reaches(catalog, next, model, seen));
}

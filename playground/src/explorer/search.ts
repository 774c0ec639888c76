/** Search in models, fields, relations and acts. */

import { allActs, type Catalog, type PlacedAct } from "../catalog";
import { rowsOf } from "./describe";

export interface Hit {
  /** Such as "field of user". */
  what: string;
  name: string;
  model: string;
  /** The relation or reverse relation that was found. */
  link?: string;
  act?: PlacedAct;
}

const MOST = 80;

/** Return what has the words in its name or description; models first. */
export function search(catalog: Catalog, words: string): Hit[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return [];
  const fits = (...texts: (string | null | undefined)[]) => {
    const text = texts.join(" ").toLowerCase();
    return parts.every((part) => text.includes(part));
  };
  const models = Object.entries(catalog.models);
  const found: Hit[] = models.filter(([name]) => fits(name)).map(([name]) => ({ what: "model", name, model: name }));
  for (const [model, { fields, links }] of models) {
    for (const { path, kind } of rowsOf(fields)) {
      if (fits(path, kind.description)) found.push({ what: `field of ${model}`, name: path, model });
    }
    for (const [name, link] of Object.entries(links)) {
      const what = `${link.of === undefined ? "relation" : "reverse relation"} of ${model}`;
      if (fits(name)) found.push({ what, name, model, link: name });
    }
  }
  for (const placed of allActs(catalog)) {
    if (!fits(placed.act, placed.spec.description)) continue;
    found.push({ what: `act of ${placed.model}`, name: placed.act, model: placed.model, act: placed });
  }
  return found.slice(0, MOST);
}

/** What a model's box in the graph shows: some fields, then its relations. */

import { modelOf, type Catalog } from "../catalog";
import { kindName } from "../form/value";

/** The height of the name, and of a row. */
export const HEAD = 34;
export const ROW = 22;
const FOOT = 6;
/** Fields at most; in a large graph only relations are shown. */
const MOST_FIELDS = 7;
const MANY_MODELS = 24;

export interface Row {
  name: string;
  /** Its kind, or the model of a relation. */
  what: string;
  isLink: boolean;
}

export function rowsOf(catalog: Catalog, model: string, most = mostOf(catalog)): Row[] {
  const { fields = {}, links = {} } = modelOf(catalog, model) ?? {};
  const all = Object.entries(fields).map(([name, kind]) => ({ name, what: kindName(kind), isLink: false }));
  const left = all.length - most;
  const shown = left > 1 && most > 0 ? [...all.slice(0, most), { name: `${left} more`, what: "", isLink: false }] : most > 0 ? all : [];
  const own = Object.entries(links).filter(([, link]) => link.of === undefined);
  return [...shown, ...own.map(([name, link]) => ({ name, what: link.type === "multiple" ? `${link.model} []` : link.model, isLink: true }))];
}

function mostOf({ models }: Catalog): number {
  return Object.keys(models).length > MANY_MODELS ? 0 : MOST_FIELDS;
}

export function heightOf(rows: Row[]): number {
  return HEAD + rows.length * ROW + (rows.length ? FOOT : 0);
}

/** A JSON value as rows of a folding tree. */

import { isObject, type Json } from "../json";

export interface Row {
  /** Unique: the names from the root, each after a slash. */
  path: string;
  depth: number;
  /** The key or index; empty at the root. */
  name: string;
  value: Json;
  /** Of an object or list: how much is in it; else undefined. */
  size: number | undefined;
  open: boolean;
}

/** Larger ones begin folded, but for the root, and long lists near it: of those each item does. */
export const OPEN_UP_TO = 60;
const OPEN_DEPTH = 6;
const LONGEST_OPEN = 5_000;
const NEAR_ROOT = 2;

export type Folds = ReadonlyMap<string, boolean>;

/** Whether one is unfolded; `ofMany` where it is in a long list. */
function isOpen(path: string, depth: number, size: number, isList: boolean, ofMany: boolean, folds: Folds): boolean {
  const most = isList && depth <= NEAR_ROOT ? LONGEST_OPEN : OPEN_UP_TO;
  return folds.get(path) ?? (depth === 0 || (!ofMany && depth < OPEN_DEPTH && size <= most));
}

/** The rows that are not folded away, from the top. */
export function rowsOf(value: Json, folds: Folds, find = ""): Row[] {
  return find ? rowsWith(value, find.toLowerCase()) : openRows(value, folds);
}

/** The rows whose name or value has a text, with those they are in. */
function rowsWith(value: Json, find: string): Row[] {
  const kept = new Set<string>();
  const all = openRows(value, EVERYTHING);
  for (const { path, name, value: inner, size } of all) {
    const text = size === undefined ? `${name} ${typeof inner === "string" ? inner : String(inner)}` : name;
    if (!text.toLowerCase().includes(find)) continue;
    for (let at = path; ; at = at.slice(0, at.lastIndexOf("/"))) {
      if (kept.has(at)) break;
      kept.add(at);
      if (at === "") break;
    }
  }
  return all.filter(({ path }) => kept.has(path));
}

/** As if all were unfolded by hand. */
const EVERYTHING: Folds = Object.assign(new Map<string, boolean>(), { get: () => true });

function openRows(value: Json, folds: Folds): Row[] {
  const rows: Row[] = [];
  const visit = (name: string, inner: Json, path: string, depth: number, ofMany = false): void => {
    if (!isObject(inner) && !Array.isArray(inner)) {
      rows.push({ path, depth, name, value: inner, size: undefined, open: false });
      return;
    }
    const isList = Array.isArray(inner);
    const size = isList ? inner.length : Object.keys(inner).length;
    const open = size > 0 && isOpen(path, depth, size, isList, ofMany, folds);
    rows.push({ path, depth, name, value: inner, size, open });
    if (!open) return;
    if (isList) inner.forEach((item, index) => visit(String(index), item, `${path}/${index}`, depth + 1, size > OPEN_UP_TO));
    else for (const key of Object.keys(inner)) visit(key, inner[key] as Json, `${path}/${escaped(key)}`, depth + 1);
  };
  visit("", value, "", 0);
  return rows;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** What a folded object or list shows. */
export function summary(value: Json): string {
  if (Array.isArray(value)) return `${value.length} ${value.length === 1 ? "item" : "items"}`;
  const keys = Object.keys(value ?? {});
  const shown = keys.slice(0, 4).join(", ");
  return keys.length > 4 ? `${shown}, … ${keys.length} keys` : shown;
}

/** A JSON value as rows of a folding tree. */

import { isObject, type Json } from "../json";
import { givenName } from "../state/titles";

export interface Row {
  /** Unique: the names from the root, each after a slash. */
  path: string;
  depth: number;
  /** The key or index; empty at the root. */
  name: string;
  isIndex: boolean;
  value: Json;
  /** Of an object or list: how much is in it; else undefined. */
  size: number | undefined;
  open: boolean;
  /** Whether more follows in what it is in, so that a comma stands after it. */
  isFollowed: boolean;
  /** Of the row that ends an unfolded object or list: its bracket. It is no value, and nothing can be done with it. */
  end?: "}" | "]";
}

/** Larger ones begin folded, but for the root, and long lists near it: of those each item does. */
export const OPEN_UP_TO = 60;
const OPEN_DEPTH = 5;
const LONGEST_OPEN = 5_000;
const NEAR_ROOT = 1;

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
  for (const { path, name, value: inner, size, end } of all) {
    if (end) continue;
    const text = size === undefined ? `${name} ${typeof inner === "string" ? inner : String(inner)}` : name;
    if (!text.toLowerCase().includes(find)) continue;
    for (let at = path; ; at = at.slice(0, at.lastIndexOf("/"))) {
      if (kept.has(at)) break;
      kept.add(at);
      if (at === "") break;
    }
  }
  return all.filter(({ path, end }) => kept.has(end ? path.slice(0, -END.length) : path));
}

/** As if all were unfolded by hand. */
const EVERYTHING: Folds = Object.assign(new Map<string, boolean>(), { get: () => true });

/** After the path of what an end is of. No key has it: a slash in a key is escaped. */
const END = "/.";

function openRows(value: Json, folds: Folds): Row[] {
  const rows: Row[] = [];
  const visit = (row: Omit<Row, "size" | "open">, ofMany = false): void => {
    const { value: inner, path, depth } = row;
    if (!isObject(inner) && !Array.isArray(inner)) return void rows.push({ ...row, size: undefined, open: false });
    const isList = Array.isArray(inner);
    const keys = isList ? undefined : Object.keys(inner);
    const size = isList ? inner.length : (keys as string[]).length;
    const open = size > 0 && isOpen(path, depth, size, isList, ofMany, folds);
    rows.push({ ...row, size, open });
    if (!open) return;
    const part = (name: string, value: Json, at: number) =>
      visit({ path: `${path}/${isList ? name : escaped(name)}`, depth: depth + 1, name, isIndex: isList, value, isFollowed: at < size - 1 }, isList && size > OPEN_UP_TO);
    if (isList) inner.forEach((item, index) => part(String(index), item, index));
    else (keys as string[]).forEach((key, index) => part(key, inner[key] as Json, index));
    rows.push({ ...row, path: path + END, size: undefined, open: false, end: isList ? "]" : "}" });
  };
  visit({ path: "", depth: 0, name: "", isIndex: false, value, isFollowed: false });
  return rows;
}

function escaped(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** How many items a list has. */
export function itemsText(count: number): string {
  return `${count.toLocaleString("en")} ${count === 1 ? "item" : "items"}`;
}

/** What a folded object or list shows: how much is in it, what it is called, or its first keys. */
export function summary(value: Json): string {
  if (Array.isArray(value)) return itemsText(value.length);
  if (!isObject(value)) return "";
  const keys = Object.keys(value);
  return givenName(value) || `${keys.slice(0, 4).join(", ")}${keys.length > 4 ? ", …" : ""}`;
}

/** What differs between two JSON values, by path. Pure; the time it takes grows with their size only. */

import { isObject, isSame, type Json, type JsonObject } from "../json";

export interface Difference {
  /** Steps from the root. Into the new value; of what was removed, into the old one. */
  path: (string | number)[];
  what: "added" | "removed" | "changed" | "reordered";
  before?: Json;
  after?: Json;
}

type Path = readonly (string | number)[];

/** Return the differences in the order of the new value; what was removed follows what is there in its stead. */
export function differences(before: Json, after: Json): Difference[] {
  const found: Difference[] = [];
  compare(before, after, [], found);
  return found;
}

function compare(before: Json, after: Json, path: Path, found: Difference[]): void {
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, path, found);
  if (isObject(before) && isObject(after)) return compareObjects(before, after, path, found);
  const isOpen = isObject(before) || Array.isArray(before) || isObject(after) || Array.isArray(after);
  if (isOpen || !isSame(before, after)) found.push({ path: [...path], what: "changed", before, after });
}

function compareObjects(before: JsonObject, after: JsonObject, path: Path, found: Difference[]): void {
  for (const [name, value] of Object.entries(after)) {
    if (Object.hasOwn(before, name)) compare(before[name] as Json, value, [...path, name], found);
    else found.push({ path: [...path, name], what: "added", after: value });
  }
  for (const [name, value] of Object.entries(before)) {
    if (!Object.hasOwn(after, name)) found.push({ path: [...path, name], what: "removed", before: value });
  }
}

/** Documents are compared with those of the same `_id`, wherever they stand; other items by their places. */
function compareLists(before: Json[], after: Json[], path: Path, found: Difference[]): void {
  const [old, now] = [byId(before), byId(after)];
  if (!old || !now) return comparePlaces(before, after, path, found);
  const kept: number[] = [];
  after.forEach((item, at) => {
    const place = old.get(idOf(item) as string);
    if (place === undefined) return void found.push({ path: [...path, at], what: "added", after: item });
    kept.push(place);
    compare(before[place] as Json, item, [...path, at], found);
  });
  before.forEach((item, at) => {
    if (!now.has(idOf(item) as string)) found.push({ path: [...path, at], what: "removed", before: item });
  });
  if (kept.some((place, at) => at > 0 && place < (kept[at - 1] as number))) found.push({ path: [...path], what: "reordered" });
}

/** The places of a list's documents by their ids; undefined where one has none, or two have the same. */
function byId(items: readonly Json[]): Map<string, number> | undefined {
  const places = new Map<string, number>();
  for (const [at, item] of items.entries()) {
    const id = idOf(item);
    if (id === undefined || places.has(id)) return undefined;
    places.set(id, at);
  }
  return places;
}

function idOf(item: Json): string | undefined {
  return isObject(item) && typeof item._id === "string" ? item._id : undefined;
}

/** Items that begin or end both lists alike stay out, so that one that is added in the middle is the only difference. */
function comparePlaces(before: Json[], after: Json[], path: Path, found: Difference[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end++;
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  now.forEach((item, at) => {
    if (at < old.length) compare(old[at] as Json, item, [...path, start + at], found);
    else found.push({ path: [...path, start + at], what: "added", after: item });
  });
  old.slice(now.length).forEach((item, at) => {
    found.push({ path: [...path, start + now.length + at], what: "removed", before: item });
  });
}

/**
 * What a `get` shows, and how it changes when a box is ticked. Rules of the server: `_id` at the top is
 * shown unless it is 0; a link with 1 shows all its fields; with an object those it names, or `_id` alone
 * when it names no field.
 */

import { levelOf, modelOf, type Catalog, type Json, type JsonObject, type Level, type Selection } from "../catalog";
import { isObject, own, withKey } from "../json";

export type Ticked = "all" | "some" | "none";

/** Whether a field is shown; `isTop` at the first level of a selection. */
export function isShown(name: string, part: JsonObject | 1, level: Level, isTop: boolean): boolean {
  if (part === 1) return true;
  if (name !== "_id") return own(part, name) === 1;
  if (isTop) return part._id !== 0;
  return part._id === 1 || (part._id !== 0 && !level.fields.some((field) => field !== "_id" && own(part, field) === 1));
}

/** How much a link shows of what 1 would show. */
export function tickedOf(value: Json | undefined, level: Level): Ticked {
  if (value === 1) return "all";
  if (!isObject(value)) return "none";
  return level.fields.every((name) => isShown(name, value, level, false)) ? "all" : "some";
}

/** Whether a link takes 1: where all its model's fields may be asked for. */
export function takesOne(catalog: Catalog, selection: Selection): boolean {
  if ("depth" in selection) return true;
  const all = Object.keys(modelOf(catalog, selection.model)?.fields ?? {});
  return all.every((name) => selection.fields.includes(name));
}

/** Everything of a link but what is below it. */
export function whole(catalog: Catalog, selection: Selection): Json {
  return takesOne(catalog, selection) ? 1 : ones(levelOf(catalog, selection).fields);
}

/** A `get` with a field's box changed. */
export function toggleField(name: string, part: JsonObject | 1, level: Level, isTop: boolean): JsonObject {
  const shown = isShown(name, part, level, isTop);
  const next = withLink(name, shown ? undefined : 1, part, level);
  if (name === "_id") {
    if (isTop && !shown) return withLink(name, undefined, next, level); // It is shown without being named.
    if (shown && isShown(name, next, level, isTop)) return withLink(name, 0, next, level); // It would be shown all the same.
  }
  return next;
}

/** A `get` with a link set, or left out. */
export function withLink(name: string, value: Json | undefined, part: JsonObject | 1, level: Level): JsonObject {
  return withKey(part === 1 ? ones(level.fields) : part, name, value, [...level.fields, ...Object.keys(level.links)]);
}

/** The shortest way to say a part of a link: 1 where that means the same. */
export function shortest(catalog: Catalog, selection: Selection, part: JsonObject): Json {
  const level = levelOf(catalog, selection);
  const isWhole = level.fields.every((name) => own(part, name) === 1) && Object.keys(part).length === level.fields.length;
  return isWhole ? whole(catalog, selection) : part;
}

export function all(catalog: Catalog, level: Level): JsonObject {
  const fields = level.fields.filter((name) => name !== "_id");
  const links = Object.entries(level.links).map(([name, selection]) => [name, whole(catalog, selection)]);
  return { ...ones(fields), ...(Object.fromEntries(links) as JsonObject) };
}

/** How many names a `get` has that hold no others. */
export function leaves(part: JsonObject): number {
  return Object.values(part).reduce<number>((sum, value) => sum + (isObject(value) && Object.keys(value).length ? leaves(value) : 1), 0);
}

function ones(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, 1]));
}

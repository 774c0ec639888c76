/** What documents are called, by their ids: an id alone says nothing. In memory, as far as replies have shown it. */

import { signal } from "@preact/signals";
import { isObject, type Json, type JsonObject } from "../json";

const MOST = 5_000;
/** Names of fields that say most, the best first. */
const NAMES = ["name", "title", "label", "email"];

const titles = signal<ReadonlyMap<string, string>>(new Map());

/** What a document was called where it was seen; undefined for an id that no reply had. */
export function titleOfId(id: unknown): string | undefined {
  return typeof id === "string" ? titles.value.get(id) : undefined;
}

/** Remember what the documents in a body are called. */
export function learnTitles(body: Json): void {
  const next = new Map(titles.value);
  let left = MOST;
  const visit = (value: Json): void => {
    if (left <= 0) return;
    if (Array.isArray(value)) return value.forEach(visit);
    if (!isObject(value)) return;
    left--;
    const title = titleOf(value);
    if (typeof value._id === "string" && title) {
      next.delete(value._id);
      next.set(value._id, title);
    }
    Object.values(value).forEach(visit);
  };
  visit(body);
  if (left < MOST) titles.value = new Map([...next].slice(-MOST));
}

/** The texts that say most of a document: its name, else up to three that are no ids; empty where it has none. */
export function titleOf(document: JsonObject): string {
  return givenName(document) || textsOf(document).slice(0, 3).join(" · ");
}

/** The name of a document; empty where it has none. */
export function givenName(document: JsonObject): string {
  const named = NAMES.map((name) => document[name]).find((value) => typeof value === "string" && value);
  return typeof named === "string" ? named : "";
}

/** The texts of a document but its id. */
export function textsOf(document: JsonObject): string[] {
  const found = Object.entries(document).filter(([name, value]) => name !== "_id" && typeof value === "string" && value);
  return found.map(([, value]) => String(value));
}

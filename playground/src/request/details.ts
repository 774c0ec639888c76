/** The details of a request as JSON text, and back. */

import type { Act, JsonObject, ObjectKind } from "../catalog";
import { isObject, parse, problemIn, stringify } from "../json";

export interface Details {
  set: JsonObject;
  get: JsonObject;
}

export function textOf({ set, get }: Details): string {
  return stringify({ set, get }, 2);
}

/** Return what a text says, or why it is not to be sent. What is not in it is empty. */
export function readDetails(text: string): Details | string {
  const problem = problemIn(text);
  if (problem) return problem;
  const value = parse(text);
  if (!isObject(value)) return "Expected an object with set and get.";
  const more = Object.keys(value).find((name) => name !== "set" && name !== "get");
  if (more !== undefined) return `Expected only set and get; “${more}” would not be sent.`;
  const { set = {}, get = {} } = value;
  return isObject(set) && isObject(get) ? { set, get } : "Expected set and get to be objects.";
}


/** The kind of the details of an act. */
export function kindOfDetails(spec: Act): ObjectKind {
  return { kind: "object", presence: "required", fields: { set: spec.set, get: spec.get } };
}

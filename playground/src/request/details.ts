/** The details of a request as JSON text, and back. */

import type { Act, JsonObject, ObjectKind } from "../catalog";
import { isObject, parse, stringify } from "../json";
import type { ActRequest } from "../state";

export function textOf({ set, get }: ActRequest): string {
  return stringify({ set, get }, 2);
}

/** The details that a text says; undefined where it says none. */
export function detailsOf(text: string): { set: JsonObject; get: JsonObject } | undefined {
  try {
    const value = parse(text) as { set?: unknown; get?: unknown } | null;
    const set = value?.set ?? {};
    const get = value?.get ?? {};
    return isObject(set) && isObject(get) ? { set, get } : undefined;
  } catch {
    return undefined;
  }
}

/** The kind of the details of an act. */
export function kindOfDetails(spec: Act): ObjectKind {
  return { kind: "object", presence: "required", fields: { set: spec.set, get: spec.get } };
}

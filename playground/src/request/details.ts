/** The details of a request as JSON text, and back. */

import type { Act, JsonObject, ObjectKind } from "../catalog";
import type { ActRequest } from "../state";

export function textOf({ set, get }: ActRequest): string {
  return JSON.stringify({ set, get }, null, 2);
}

/** The details that a text says; undefined where it says none. */
export function detailsOf(text: string): { set: JsonObject; get: JsonObject } | undefined {
  try {
    const value = JSON.parse(text) as { set?: unknown; get?: unknown } | null;
    const set = value?.set ?? {};
    const get = value?.get ?? {};
    return isObject(set) && isObject(get) ? { set, get } : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The kind of the details of an act. */
export function kindOfDetails(spec: Act): ObjectKind {
  return { kind: "object", presence: "required", fields: { set: spec.set, get: spec.get } };
}

/** What a request of an act begins with. */

import type { Act, Json, JsonObject, Kind, Place } from "../catalog";
import { withoutFiles } from "./files";
import type { ActRequest } from "./request";

/** The value a field begins with: its default, else an empty one of its kind. */
export function emptyValue(kind: Kind): Json {
  if (kind.default !== undefined) return kind.default;
  if (kind.nullable) return null;
  switch (kind.kind) {
    case "object":
      return emptyObject(kind.fields ?? {});
    case "array":
      return Array.from({ length: kind.minItems ?? 0 }, () => emptyValue(kind.items));
    case "boolean":
      return false;
    case "number":
    case "integer":
      return kind.minimum ?? 0;
    case "count":
      return 0;
    case "enums":
      return kind.choices[0] ?? "";
    case "any":
    case "documents":
      return null;
    case "selection":
    case "mapping":
    case "filter":
      return {};
    default:
      return "";
  }
}

/** An object with its required fields only. */
export function emptyObject(fields: Record<string, Kind>): JsonObject {
  const required = Object.entries(withoutFiles(fields)).filter(([, kind]) => kind.presence === "required");
  return Object.fromEntries(required.map(([name, kind]) => [name, emptyValue(kind)]));
}

export function emptyRequest({ service, model, act }: Place, spec: Act | undefined): ActRequest {
  const part = (kind: Kind | undefined): JsonObject =>
    kind?.kind === "object" ? emptyObject(kind.fields ?? {}) : {};
  return { service, model, act, set: part(spec?.set), get: part(spec?.get) };
}

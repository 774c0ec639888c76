/** A request that shows what an act takes: every field filled in with a value of its kind. Pure. */

import { GATEWAY_URL, type Json, type JsonObject, type Kind, type TextKind } from "../catalog";
import { withoutFiles } from "../state/files";

/** Return an example of an act's `set`. */
export function exampleSet(kind: Kind): JsonObject {
  return kind.kind === "object" ? ofFields(kind.fields ?? {}) : {};
}

function ofFields(fields: Readonly<Record<string, Kind>>): JsonObject {
  const shown = Object.entries(withoutFiles(fields)).filter(([name]) => name !== "after");
  return Object.fromEntries(shown.map(([name, kind]) => [name, exampleOf(kind)]));
}

const FORMATS = {
  uri: GATEWAY_URL,
  uuid: "00000000-0000-4000-8000-000000000000",
  date: "2026-01-31",
  time: "12:30:00",
};

function exampleOf(kind: Kind): Json {
  if (kind.default !== undefined && kind.default !== null) return kind.default;
  switch (kind.kind) {
    case "string":
      return textOf(kind);
    case "email":
      return "ada@example.com";
    case "object_id":
      return "0123456789abcdef01234567";
    case "date":
      return "2026-01-31T12:30:00Z";
    case "boolean":
      return true;
    case "number":
    case "integer":
      return kind.minimum ?? (typeof kind.maximum === "number" && kind.maximum < 1 ? kind.maximum : 1);
    case "count":
      return 1;
    case "decimal":
      return kind.minimum ?? (1).toFixed(kind.places);
    case "binary":
      return "AA==";
    case "enums":
      return kind.choices[0] ?? null;
    case "array":
      return Array.from({ length: Math.max(1, kind.minItems ?? 0) }, () => exampleOf(kind.items));
    case "mapping":
      return { key: exampleOf(kind.values) };
    case "object":
      return ofFields(kind.fields ?? {});
    case "filter": {
      const [name, field] = Object.entries(kind.fields).find(([one]) => one !== "_id") ?? [];
      return name !== undefined && field ? { [name]: exampleOf(field.value) } : {};
    }
    default:
      return {};
  }
}

/** A text of the right length; where there is a pattern, it may not match it. */
function textOf({ format, minLength = 0, maxLength = Infinity }: TextKind): string {
  if (format) return FORMATS[format];
  const text = "text".padEnd(minLength, " text");
  return text.slice(0, maxLength);
}

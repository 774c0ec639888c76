/** What the fields of a form are given, and what a kind is called. */

import type { ComponentType } from "preact";
import type { Json, JsonObject, Kind } from "../catalog";
import type { Numeral } from "../json";

export interface ValueProps<K extends Kind = Kind> {
  kind: K;
  name: string;
  /** Within the request: `set.name`. */
  path: string;
  /** Undefined where nothing is sent. */
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
}

export interface FieldsProps {
  kind: Extract<Kind, { kind: "object" }>;
  path: string;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}

/** What shows values of any kind, handed down to the fields that hold others: they cannot import what imports them. */
export interface Parts {
  Value: ComponentType<ValueProps>;
  Fields: ComponentType<FieldsProps>;
}

/** A kind in a few words: `text, 2–80`, `id of user`, `list of number, at most 20`. */
export function nameOfKind(kind: Kind): string {
  return [wordOfKind(kind), ...limitsOf(kind)].filter(Boolean).join(", ");
}

/** A kind without its limits, but with null. */
export function kindName(kind: Kind): string {
  return kind.nullable ? `${wordOfKind(kind)} or null` : wordOfKind(kind);
}

/** A kind without its limits. */
export function wordOfKind(kind: Kind): string {
  switch (kind.kind) {
    case "string":
      return "text";
    case "object_id":
      return kind.of ? `id of ${kind.of}` : "id";
    case "enums":
      return "choice";
    case "array":
      return `list of ${wordOfKind(kind.items)}`;
    case "mapping":
      return `any keys of ${wordOfKind(kind.values)}`;
    case "count":
      return "number";
    case "object":
      return kind.fields === null ? "object of any keys" : "object";
    case "any":
      return "any value";
    default:
      return kind.kind;
  }
}

/** Without a maximum that the author did not choose. */
function limitsOf(kind: Kind): (string | undefined)[] {
  switch (kind.kind) {
    case "string":
      return [kind.format, range(kind.minLength, kind.sized === false ? undefined : kind.maxLength)];
    case "number":
    case "integer":
      return [range(kind.minimum, kind.maximum)];
    case "array":
      return [range(kind.minItems, kind.maxItems)];
    case "count":
      return [`counted up to ${kind.most}`];
    case "file":
      return [`at most ${sizeOf(kind.maxBytes)}`, kind.types.join(" or ")];
    default:
      return [];
  }
}

/** Bytes as an author writes them: `5 MB`, `500 kB`. */
export function sizeOf(bytes: number): string {
  const [unit, size] = ([["GB", 1e9], ["MB", 1e6], ["kB", 1e3]] as const).find(([, size]) => bytes % size === 0) ?? ["bytes", 1];
  return `${bytes / size} ${unit}`;
}

function range(low: number | Numeral | undefined, high: number | Numeral | undefined): string {
  if (low === undefined && high === undefined) return "";
  if (low === undefined) return `at most ${high}`;
  if (String(low) === String(high)) return String(low);
  return high === undefined ? `at least ${low}` : `${low}–${high}`;
}

/** Choices that are searched rather than looked through. */
export const MANY = 20;

/** Kinds in plain words. */

import type { Kind } from "../catalog";
import { sizeOf } from "../form/value";
import type { Numeral } from "../json";

/** A field, or a field within one: `features[].feature`. */
export interface Row {
  path: string;
  depth: number;
  kind: Kind;
  /** What policies say of it. */
  mark?: string;
}

/** Whether a name takes more than its column of a table. */
export function isLong(name: string): boolean {
  return name.length > 28;
}

/** Return fields and the fields within them, one a row. */
export function rowsOf(fields: Readonly<Record<string, Kind>>, within = "", depth = 0): Row[] {
  return Object.entries(fields).flatMap(([name, kind]) => {
    const path = within + name;
    const [inner, brackets] = innermost(kind);
    const inside = inner.kind === "object" ? rowsOf(inner.fields ?? {}, `${path}${brackets}.`, depth + 1) : [];
    return [{ path, depth, kind }, ...inside];
  });
}

function innermost(kind: Kind): [Kind, string] {
  let [inner, brackets] = [kind, ""];
  while (inner.kind === "array") [inner, brackets] = [inner.items, `${brackets}[]`];
  return [inner, brackets];
}

/** Return what a value must be besides its kind: "at least 1", "2 to 40 characters". */
export function limitsOf(kind: Kind): string[] {
  switch (kind.kind) {
    case "string":
      return [
        ...(kind.format ? [kind.format] : []),
        ...range(kind.minLength, kind.maxLength, " characters"),
        ...(kind.pattern ? [`matches ${kind.pattern}`] : []),
      ];
    case "number":
    case "integer":
      return range(kind.minimum, kind.maximum, "");
    case "array":
      return [...range(kind.minItems, kind.maxItems, " items"), ...limitsOf(kind.items)];
    case "file":
      return [`at most ${sizeOf(kind.maxBytes)}`, ...(kind.types.length ? [kind.types.join(" or ")] : [])];
    case "enums":
      return [kind.choices.map(String).join(" · ")];
    default:
      return [];
  }
}

function range(least: number | Numeral | undefined, most: number | Numeral | undefined, unit: string): string[] {
  if (least !== undefined && most !== undefined) {
    return [least === most ? `exactly ${least}${unit}` : `${least} to ${most}${unit}`];
  }
  if (least !== undefined) return [`at least ${least}${unit}`];
  return most === undefined ? [] : [`at most ${most}${unit}`];
}

/** What may stand where in a JSON text: walks the kinds, checks a value against them. */

import { levelOf, type Catalog, type FilterKind, type Json, type JsonObject, type Kind, type ObjectKind } from "../catalog";
import { fieldsOf } from "../filter";
import { isObject, isSame, Numeral, own, stringify } from "../json";
import { withoutFiles } from "../state/files";

export interface Problem {
  path: string;
  text: string;
}

const FLAG: Kind = { kind: "enums", choices: [1, 0], presence: "optional" };

/** The kinds of an object's keys; undefined where any key goes, or none is known. */
export function keysOf(catalog: Catalog, kind: Kind | undefined): Record<string, Kind> | undefined {
  if (kind?.kind === "object") return kind.fields ? withoutFiles(kind.fields) : undefined;
  if (kind?.kind === "filter") return fieldsOf(kind);
  if (kind?.kind !== "selection") return undefined;
  const level = levelOf(catalog, kind);
  const links = Object.entries(level.links).map(([name, selection]): [string, Kind] => [
    name,
    { kind: "selection", ...selection, presence: "optional" },
  ]);
  return { ...Object.fromEntries(level.fields.map((name) => [name, FLAG])), ...Object.fromEntries(links) };
}

/** The kind at a path below another. */
export function kindAt(catalog: Catalog, kind: Kind | undefined, path: readonly string[]): Kind | undefined {
  return path.reduce<Kind | undefined>((at, name) => {
    if (at?.kind === "array") return at.items;
    if (at?.kind === "mapping") return at.values;
    const keys = keysOf(catalog, at);
    return keys && own(keys, name);
  }, kind);
}

/** What a value may be, for completion. */
export function choicesOf(kind: Kind | undefined): Json[] {
  if (!kind) return [];
  const none = kind.nullable ? [null] : [];
  if (kind.kind === "enums") return [...kind.choices, ...none];
  if (kind.kind === "boolean") return [true, false, ...none];
  return kind.kind === "selection" ? [1, 0, ...none] : none;
}

/** What is wrong with a value, as far as its kind tells; the server has the last word. */
export function check(catalog: Catalog, kind: Kind, value: Json, path: string): Problem[] {
  if (value === null) return (kind.nullable ?? kind.kind === "any") ? [] : [{ path, text: "May not be null." }];
  const wrong = (text: string): Problem[] => [{ path, text }];
  switch (kind.kind) {
    case "object":
      return isObject(value) ? checkKeys(catalog, kind, value, path) : wrong("Must be an object.");
    case "selection":
      if (value === 1 || value === 0) return path.split(".").length > 1 ? [] : wrong("Must be an object.");
      return isObject(value) ? checkKeys(catalog, kind, value, path) : wrong("Must be 1, 0 or an object.");
    case "filter":
      return isObject(value) ? checkKeys(catalog, kindOfFilter(kind, value), value, path) : wrong("Must be an object.");
    case "array":
      return Array.isArray(value)
        ? value.flatMap((item, index) => check(catalog, kind.items, item, `${path}.${index}`))
        : wrong("Must be a list.");
    case "mapping":
      return isObject(value)
        ? Object.entries(value).flatMap(([name, inner]) => check(catalog, kind.values, inner, path ? `${path}.${name}` : name))
        : wrong("Must be an object.");
    case "boolean":
      return typeof value === "boolean" ? [] : wrong("Must be true or false.");
    case "number":
    case "integer":
      return typeof value === "number" || value instanceof Numeral ? [] : wrong("Must be a number.");
    case "enums":
      return kind.choices.some((choice) => isSame(choice, value))
        ? []
        : wrong(`Must be one of ${kind.choices.map((choice) => stringify(choice)).join(", ")}.`);
    case "any":
    case "documents":
      return [];
    case "object_id":
      return typeof value === "string" && (value === "" || /^[0-9a-f]{24}$/i.test(value))
        ? []
        : wrong("Must be an id: 24 hex digits.");
    default:
      return typeof value === "string" ? [] : wrong("Must be a text.");
  }
}

/** What a filter may have, given what it has: a value alone is that of `eq`. */
function kindOfFilter(filter: FilterKind, given: JsonObject): ObjectKind {
  const fields = Object.entries(fieldsOf(filter)).map(([name, kind]): [string, Kind] => [
    name,
    (!isObject(own(given, name)) && kind.fields?.eq) || kind,
  ]);
  return { kind: "object", presence: "required", fields: Object.fromEntries(fields) };
}

function checkKeys(catalog: Catalog, kind: Kind, value: Record<string, Json>, path: string): Problem[] {
  const keys = keysOf(catalog, kind);
  if (!keys) return [];
  const isOpen = kind.kind === "object" && kind.open === true;
  const given = Object.entries(value).flatMap(([name, inner]): Problem[] => {
    const at = path ? `${path}.${name}` : name;
    if (Object.hasOwn(keys, name)) return check(catalog, keys[name] as Kind, inner, at);
    return isOpen ? [] : [{ path: at, text: "Unknown name." }];
  });
  const missing = Object.entries(keys).filter(([name, inner]) => inner.presence === "required" && !Object.hasOwn(value, name));
  return [...given, ...missing.map(([name]) => ({ path, text: `“${name}” is missing.` }))];
}

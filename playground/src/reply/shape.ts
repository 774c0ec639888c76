/** What a reply will look like, before there is one. */

import { linksOf, modelOf, type Catalog, type Json, type JsonObject, type Kind } from "../catalog";
import { kindName, wordOfKind } from "../form/value";
import { isObject, own } from "../json";

const DEEPEST = 6;

/** Return the shape of a body as lines: names with their kinds; empty where the act does not say. */
export function shapeOf(catalog: Catalog, kind: Kind, get: JsonObject): string {
  return kind.kind === "any" ? "" : written(catalog, kind, get, "", 0);
}

function written(catalog: Catalog, kind: Kind, get: JsonObject, indent: string, depth: number): string {
  if (depth > DEEPEST) return "…";
  const inner = `${indent}  `;
  if (kind.kind === "documents") {
    const one = document(catalog, kind.model, named(kind.get, get), kind.type === "many" ? inner : indent, true);
    if (kind.type === "many") return `[\n${inner}${one}, …\n${indent}]`;
    return kind.type === "optional" ? `${one} or null` : one;
  }
  if (kind.kind === "array") return `[\n${inner}${written(catalog, kind.items, get, inner, depth + 1)}, …\n${indent}]`;
  if (kind.kind !== "object" || !kind.fields) return kindName(kind);
  const shown = Object.entries(kind.fields).filter(([name, part]) => !("picked" in part && part.picked) || Object.hasOwn(get, name));
  return braces(
    shown.map(([name, part]) => `${name}: ${written(catalog, part, get, inner, depth + 1)}`),
    indent,
  );
}

/** The names of what is in each item of the list at a path of a body; empty where the act does not say. */
export function namesAt(catalog: Catalog, kind: Kind, [step, ...rest]: readonly (string | number)[], get: JsonObject): string[] {
  if (kind.kind === "object" && typeof step === "string") {
    const part = kind.fields && own(kind.fields, step);
    return part ? namesAt(catalog, part, rest, get) : [];
  }
  if (step !== undefined) return [];
  if (kind.kind === "documents") return namesIn(catalog, kind.model, named(kind.get, get), true);
  return kind.kind === "array" && kind.items.kind === "object" ? Object.keys(kind.items.fields ?? {}) : [];
}

/** What stands at a path of `get`. */
function named(path: readonly string[], get: JsonObject): Json {
  return path.reduce<Json | undefined>((value, name) => (isObject(value) ? own(value, name) : undefined), get) ?? {};
}

/** The names that a document has by `get`. */
function namesIn(catalog: Catalog, model: string, get: Json, isTop: boolean): string[] {
  const names = get === 1 ? Object.keys(modelOf(catalog, model)?.fields ?? {}) : Object.keys(isObject(get) ? get : {});
  const shown = new Set([...(isTop && isObject(get) && get._id !== 0 ? ["_id"] : []), ...names]);
  return [...shown].filter((name) => !isObject(get) || own(get, name) !== 0);
}

/** The fields of a document that `get` names. */
function document(catalog: Catalog, model: string, get: Json, indent: string, isTop = false): string {
  const { fields = {} } = modelOf(catalog, model) ?? {};
  const links = linksOf(catalog, model);
  const lines = namesIn(catalog, model, get, isTop).map((name) => {
    const asked = get === 1 ? 1 : own(get as JsonObject, name);
    const link = own(links, name);
    const field = own(fields, name);
    if (!link) return `${name}: ${field ? wordOfKind(field) : "id"}`;
    const one = document(catalog, link.model, asked ?? {}, `${indent}  `);
    return `${name}: ${link.type === "multiple" ? `[${one}, …]` : one}`;
  });
  return braces(lines.length ? lines : ["_id: id"], indent);
}

function braces(lines: string[], indent: string): string {
  return lines.length ? `{\n${lines.map((line) => `${indent}  ${line}`).join("\n")}\n${indent}}` : "{}";
}

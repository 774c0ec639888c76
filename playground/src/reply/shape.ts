/** What a reply will look like, before there is one. */

import { linksOf, modelOf, type Catalog, type Json, type JsonObject, type Kind } from "../catalog";
import { wordOfKind } from "../form/value";
import { isObject } from "../json";

const DEEPEST = 6;

/** Return the shape of a body as lines: names with their kinds; empty where the act does not say. */
export function shapeOf(catalog: Catalog, kind: Kind, get: JsonObject): string {
  return kind.kind === "any" ? "" : written(catalog, kind, get, "", 0);
}

function written(catalog: Catalog, kind: Kind, get: JsonObject, indent: string, depth: number): string {
  if (depth > DEEPEST) return "…";
  const inner = `${indent}  `;
  if (kind.kind === "documents") {
    const named = kind.get.reduce<Json | undefined>((value, name) => (isObject(value) ? value[name] : undefined), get);
    const one = document(catalog, kind.model, named ?? {}, kind.type === "many" ? inner : indent, true);
    if (kind.type === "many") return `[\n${inner}${one}, …\n${indent}]`;
    return kind.type === "optional" ? `${one} or null` : one;
  }
  if (kind.kind === "array") return `[\n${inner}${written(catalog, kind.items, get, inner, depth + 1)}, …\n${indent}]`;
  if (kind.kind !== "object" || !kind.fields) return `${wordOfKind(kind)}${kind.nullable ? " or null" : ""}`;
  const shown = Object.entries(kind.fields).filter(([name, part]) => !("picked" in part && part.picked) || name in get);
  return braces(
    shown.map(([name, part]) => `${name}: ${written(catalog, part, get, inner, depth + 1)}`),
    indent,
  );
}

/** The fields of a document that `get` names. */
function document(catalog: Catalog, model: string, get: Json, indent: string, isTop = false): string {
  const { fields = {} } = modelOf(catalog, model) ?? {};
  const links = linksOf(catalog, model);
  const names = get === 1 ? Object.keys(fields) : Object.keys(isObject(get) ? get : {});
  const shown = new Set([...(isTop && isObject(get) && get._id !== 0 ? ["_id"] : []), ...names]);
  const lines = [...shown].flatMap((name) => {
    const asked = get === 1 ? 1 : (get as JsonObject)[name];
    const link = Object.hasOwn(links, name) ? links[name] : undefined;
    if (asked === 0) return [];
    if (!link) return [`${name}: ${Object.hasOwn(fields, name) ? wordOfKind(fields[name] as Kind) : "id"}`];
    const one = document(catalog, link.model, asked ?? {}, `${indent}  `);
    return [`${name}: ${link.type === "multiple" ? `[${one}, …]` : one}`];
  });
  return braces(lines.length ? lines : ["_id: id"], indent);
}

function braces(lines: string[], indent: string): string {
  return lines.length ? `{\n${lines.map((line) => `${indent}  ${line}`).join("\n")}\n${indent}}` : "{}";
}

/** What a request of an act begins with. */

import { actOf, levelOf, type Act, type ArrayKind, type Catalog, type Json, type JsonObject, type Kind, type Place } from "../catalog";
import { isObject, own } from "../json";
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

/** What a request of an act begins with: `get` names what is most often asked for, so that no first reply is empty. */
export function emptyRequest(catalog: Catalog | null, { service, model, act }: Place): ActRequest {
  const spec = catalog ? actOf(catalog, { service, model, act }) : undefined;
  if (!catalog || !spec) return { service, model, act, set: {}, get: {} };
  const set = spec.set.kind === "object" ? emptyObject(spec.set.fields ?? {}) : {};
  return { service, model, act, set, get: firstGet(catalog, spec) };
}

/** The pure fields of a model, or all flags; of a log-in, the token and the roles. */
function firstGet(catalog: Catalog, { get, returns, maxGetLeaves }: Act): JsonObject {
  if (get.kind === "selection") {
    const names = levelOf(catalog, get).fields.filter((name) => name !== "_id");
    return Object.fromEntries(names.slice(0, maxGetLeaves).map((name) => [name, 1]));
  }
  if (get.kind !== "object") return {};
  const isLogin = givesToken(returns);
  const flags = Object.entries(get.fields ?? {}).filter(([name, kind]) => isFlag(kind) && (!isLogin || FIRST.includes(name)));
  return { ...emptyObject(get.fields ?? {}), ...Object.fromEntries(flags.map(([name]) => [name, 1])) };
}

/** What one logs in for. */
const FIRST = ["token", "roles"];

/** Whether a result has a token. */
export function givesToken(returns: Kind): boolean {
  return returns.kind === "object" && returns.fields?.token?.kind === "string";
}

/** Whether it takes 1 and 0 only: a box says that better than a choice. */
export function isFlag(kind: Kind): boolean {
  return kind.kind === "enums" && kind.choices.every((choice) => choice === 0 || choice === 1);
}

const TEXTS: readonly Kind["kind"][] = ["string", "email", "object_id", "date", "decimal", "binary"];

/** The paths of required texts that are empty: most often they were forgotten. */
export function emptyTexts(kind: Kind | undefined, value: Json | undefined, path: string): string[] {
  if (!kind || (value === undefined && kind.presence !== "required")) return [];
  if (kind.kind === "object" && isObject(value))
    return Object.entries(kind.fields ?? {}).flatMap(([name, inner]) => emptyTexts(inner, own(value, name), `${path}.${name}`));
  if (kind.kind === "array" && Array.isArray(value))
    return value.flatMap((inner, at) => emptyTexts(itemKind(kind), inner, `${path}.${at}`));
  const isText = TEXTS.includes(kind.kind) && kind.presence === "required" && !("minLength" in kind && kind.minLength === 0);
  return isText && (value === "" || value === undefined) ? [path] : [];
}

/** The kind of what a list has: an item that is there is not left out. */
function itemKind({ items }: ArrayKind): Kind {
  return { ...items, presence: "required" };
}

/** A value without what may be left out and holds required texts that are empty; undefined where nothing may be. */
export function withoutEmpty(kind: Kind, value: Json): Json | undefined {
  if (emptyTexts(kind, value, "").length === 0) return value;
  if (kind.kind === "array" && Array.isArray(value)) {
    const left = value.map((one) => withoutEmpty(itemKind(kind), one)).filter((one) => one !== undefined);
    return left.length < (kind.minItems ?? 0) ? undefined : left;
  }
  if (kind.kind !== "object" || !isObject(value)) return undefined;
  const fields = kind.fields ?? {};
  const inner = Object.entries(value).map(([name, one]): [string, Json | undefined] => {
    const known = own(fields, name);
    return [name, known ? withoutEmpty(known, one) : one];
  });
  const left = Object.fromEntries(inner.filter((one): one is [string, Json] => one[1] !== undefined));
  const isWhole = Object.entries(withoutFiles(fields)).every(([name, one]) => one.presence !== "required" || Object.hasOwn(left, name));
  return isWhole ? left : undefined;
}

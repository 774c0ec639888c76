/** The catalog of the gateway, as `gatewayfw.catalog` describes it, and look-ups in it. */

import { learnTime } from "./clock";
import { own, parse, type Json, type Numeral } from "./json";

export type { Json, JsonObject } from "./json";

export type Presence = "required" | "optional" | "defaulted";

interface Common {
  presence: Presence;
  nullable?: boolean;
  default?: Json;
  description?: string;
}

export type TextKind = Common & {
  kind: "string";
  minLength?: number;
  maxLength?: number;
  /** False where the definition states no maximum, and the maximum is a setting's. */
  sized?: false;
  pattern?: string;
  format?: "uri" | "uuid" | "date" | "time";
};
export type IdKind = Common & { kind: "object_id"; of?: string };
export type PlainKind = Common & { kind: "email" | "date" | "boolean" | "any" };
export type NumberKind = Common & { kind: "number" | "integer"; minimum?: number | Numeral; maximum?: number | Numeral };
/** Text such as "12.50". */
export type DecimalKind = Common & { kind: "decimal"; places: number; minimum?: string; maximum?: string; whole?: true };
/** Base64. */
export type BinaryKind = Common & { kind: "binary"; minBytes?: number; maxBytes?: number; sized?: false };
/** A part of multipart/form-data beside the JSON; of any type where none is named. */
export type FileKind = Common & { kind: "file"; maxBytes: number; types: string[] };
export type EnumKind = Common & { kind: "enums"; choices: (string | number | boolean | Numeral)[] };
export type ArrayKind = Common & { kind: "array"; items: Kind; minItems?: number; maxItems?: number };
/** Any keys, values of one kind. */
export type MappingKind = Common & { kind: "mapping"; values: Kind };
export type ObjectKind = Common & { kind: "object"; fields: Record<string, Kind> | null; open?: boolean };

/** What a listing is filtered by: names with a value, or with an object of operators. */
export type FilterKind = Common & { kind: "filter"; fields: Record<string, FilterField> };
export interface FilterField {
  /** Of a list, the kind of an element. */
  value: Kind;
  operators: string[];
  /** Where a document may have several values: one that fits is enough. */
  list?: true;
}
/** How many rows match: a number, beyond `most` an object with `atLeast`. */
export type CountKind = Common & { kind: "count"; most: number };

/** What a `get` may name: by depth, or exactly what the act's author named. */
export type Selection =
  | { model: string; depth: number }
  | { model: string; fields: string[]; links: Record<string, Selection> };
export type SelectionKind = Common & { kind: "selection" } & Selection;
export type DocumentsKind = Common & {
  kind: "documents";
  model: string;
  type: "one" | "optional" | "many";
  /** Where in `get` the selection is: empty for all of it. */
  get: string[];
  picked?: boolean;
};

export type Kind =
  | TextKind
  | IdKind
  | PlainKind
  | NumberKind
  | DecimalKind
  | BinaryKind
  | FileKind
  | EnumKind
  | ArrayKind
  | MappingKind
  | ObjectKind
  | FilterKind
  | CountKind
  | SelectionKind
  | DocumentsKind;

export interface Link {
  model: string;
  type: "single" | "multiple";
  optional: boolean;
  /** What the copies show, `_id` first. */
  fields: string[];
  limit: number | null;
  sort: { field: string; order: "asc" | "desc" } | null;
  /** On a relation: the reverse relations that it causes on `model`. */
  reverses?: string[];
  /** On a relation: its copies stay what they were when they were related. */
  frozen?: true;
  /** On a reverse relation: the relation of `model` that causes it. */
  of?: string;
  /** On a reverse relation: new members are listed unless the flag says false. */
  default?: true;
}

export interface Rights {
  role: string | null;
  sees: boolean;
  /** Whether some documents are not there for the role. */
  rows: boolean;
  writes: boolean;
  hidden: string[];
  /** Of the hidden ones, those that the role sees in its own documents. */
  own: string[];
  fixed: string[];
}

export interface Model {
  fields: Record<string, Kind>;
  links: Record<string, Link>;
  /** What policies say of it, by role: null is nobody signed in. */
  rights?: Rights[];
  /** Of the model of files: whoever may read one opens it at `files/` and its id, below the gateway. */
  files?: true;
}

/** Where a token stands in a request, or the id of a role. */
export interface Carrier {
  in: "header" | "bearer" | "cookie" | "set";
  name: string;
}

export interface Act {
  description: string | null;
  mode: "assert" | "create";
  access: "public" | "rule" | "open";
  roles: string[] | null;
  /** Where the id of the role stands in which the caller calls it; null for an act that wants none. */
  role: Carrier | null;
  limit: string[];
  /** Seconds that a reply is kept for a repeated `Idempotency-Key`; null where the act refuses one. */
  idempotent: number | null;
  /** Those that its author named. */
  errors: { status: number; code: string | null; message: string }[];
  hooks: { preValidation: string[]; preAct: string[] };
  maxGetDepth: number;
  maxGetLeaves: number;
  set: Kind;
  get: Kind;
  returns: Kind;
}

export type Service = { remote: true } | { remote: false; acts: Record<string, Record<string, Act>> };

export interface Catalog {
  format: number;
  /** Where clients put a token. */
  tokens: Carrier[];
  /** Most items of a batch; 0 for no batches. */
  maxBatch: number;
  models: Record<string, Model>;
  services: Record<string, Service>;
}

/** An act with its place. */
export interface Place {
  service: string;
  model: string;
  act: string;
}
export interface PlacedAct extends Place {
  spec: Act;
}

/** Where the playground is: absolute, with a slash at its end. The scripts are in `assets/` below it. */
export const ROOT: URL = new URL(import.meta.env.DEV ? "./" : "../", import.meta.url);
/** Where acts are called. */
export const GATEWAY_URL: string = new URL("../gateway", ROOT).href;

/** Fetch a file beside the page, such as `catalog.json` or `gateway.ts`. */
export async function fetchBeside(name: string, signal?: AbortSignal): Promise<string> {
  const reply = await fetch(new URL(name, ROOT), { signal: signal ?? null, cache: "no-store" });
  learnTime(reply.headers.get("Date"));
  const text = await reply.text();
  if (!reply.ok) throw new Error(text.slice(0, 400) || `${name}: status ${reply.status}`);
  return text;
}

export function fetchCatalogText(): Promise<string> {
  return fetchBeside("catalog.json");
}

export function readCatalog(text: string): Catalog {
  return parse(text) as unknown as Catalog;
}

export function modelOf(catalog: Catalog, name: string): Model | undefined {
  return own(catalog.models, name);
}

export function linksOf(catalog: Catalog, name: string): Record<string, Link> {
  return modelOf(catalog, name)?.links ?? {};
}

export function actOf(catalog: Catalog, { service, model, act }: Place): Act | undefined {
  const found = own(catalog.services, service);
  return !found || found.remote ? undefined : own(own(found.acts, model) ?? {}, act);
}

/** All acts in the order of the catalog. */
export function allActs(catalog: Catalog): PlacedAct[] {
  return Object.entries(catalog.services).flatMap(([service, found]) =>
    found.remote
      ? []
      : Object.entries(found.acts).flatMap(([model, acts]) =>
          Object.entries(acts).map(([act, spec]) => ({ service, model, act, spec })),
        ),
  );
}

/** Acts that return a list of documents of a model: what an id can be picked from. */
export function actsReturningMany(catalog: Catalog, model: string): PlacedAct[] {
  return allActs(catalog).filter(({ spec }) => manyOf(spec.returns)?.model === model);
}

/** The documents within a result that are a list; its path in the body is `listPath`. */
export function manyOf(returns: Kind): DocumentsKind | undefined {
  if (returns.kind === "documents") return returns.type === "many" ? returns : undefined;
  if (returns.kind !== "object") return undefined;
  return Object.values(returns.fields ?? {}).find(
    (part): part is DocumentsKind => part.kind === "documents" && part.type === "many",
  );
}

/** What may be named one level below a selection: pure fields and links. */
export interface Level {
  model: string;
  fields: string[];
  links: Record<string, Selection>;
}

/** The names of one level of a selection; with depth 0 there are no links. */
export function levelOf(catalog: Catalog, selection: Selection): Level {
  if (!("depth" in selection)) return selection;
  const model = modelOf(catalog, selection.model);
  const fields = Object.keys(model?.fields ?? {});
  if (selection.depth <= 0) return { model: selection.model, fields, links: {} };
  const links = Object.entries(model?.links ?? {}).map(([name, link]) => [
    name,
    { model: link.model, depth: selection.depth - 1 },
  ]);
  return { model: selection.model, fields, links: Object.fromEntries(links) as Record<string, Selection> };
}

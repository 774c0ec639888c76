/** The stored files that a reply names: by their documents, or by links. */

import { GATEWAY_URL, modelOf, type Json, type Kind } from "../catalog";
import { isObject, own } from "../json";
import { modelAt, type Path } from "../reply/documents";
import { catalog } from "../state";

export interface LinkedFile {
  url: string;
  /** Whether the link itself opens it; else a token does. */
  isSigned: boolean;
  /** What the reply says of it; empty where it does not. */
  name: string;
  type: string;
}

const ID = /^[0-9a-f]{24}$/;
const FILES = `${GATEWAY_URL}/files/`;

/** The file that a value in a reply is of; undefined for none. */
export function fileAt(returns: Kind | undefined, value: Json, path: Path): LinkedFile | undefined {
  if (typeof value === "string") return linkedBy(value);
  if (!isObject(value) || path[0] !== "body" || !catalog.value) return undefined;
  const id = own(value, "_id");
  const model = modelAt(catalog.value, returns, [...path.slice(1), "_id"]);
  return typeof id === "string" && model !== undefined ? fileOf(model, id, value) : undefined;
}

/** The file of an id of a model; `said` is its document. */
export function fileOf(model: string | undefined, id: string, said: Record<string, Json> = {}): LinkedFile | undefined {
  if (!catalog.value || model === undefined || !modelOf(catalog.value, model)?.files || !ID.test(id)) return undefined;
  const textOf = (name: string) => (typeof said[name] === "string" ? said[name] : "");
  return { url: FILES + id, isSigned: false, name: textOf("name"), type: textOf("type") };
}

/** What a link leads to, where that is a file of this gateway. */
function linkedBy(text: string): LinkedFile | undefined {
  if (text.length > 500 || !text.includes("/files/") || !URL.canParse(text, GATEWAY_URL)) return undefined;
  const { href, origin, pathname, search } = new URL(text, GATEWAY_URL);
  const isFile = `${origin}${pathname}`.startsWith(FILES) && ID.test(pathname.slice(-24)) && href.length - search.length === FILES.length + 24;
  return isFile ? { url: href, isSigned: search !== "", name: "", type: "" } : undefined;
}

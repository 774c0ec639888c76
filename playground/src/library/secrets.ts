/** Values that are not for keeping: passwords and tokens, known by the names of their fields. */

import { isObject, type Json } from "../json";

const SECRET = /pass(word|wd|phrase)?$|password|secret|token|api_?key|credential|private_?key/i;

export function isSecretName(name: string): boolean {
  return SECRET.test(name);
}

/** Return a copy in which every text below a secret name is empty: for what is stored or shared. */
export function withoutSecrets<T extends Json>(value: T): T {
  return mapSecrets(value, () => "") as T;
}

/** Return a copy in which every text below a secret name is what `replace` gives for that name. */
export function mapSecrets(value: Json, replace: (name: string, text: string) => string, within = ""): Json {
  if (typeof value === "string") return within && value ? replace(within, value) : value;
  if (Array.isArray(value)) return value.map((inner) => mapSecrets(inner, replace, within));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    name,
    mapSecrets(inner, replace, isSecretName(name) ? name : within),
  ]);
  return Object.fromEntries(entries) as Json; // not by assignment: a name may be "__proto__"
}

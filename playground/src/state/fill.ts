/** `{{variables}}` and generated values within the values of a request. The exported file has the same rules. */

import { isObject, own, stringify, type Json } from "../json";
import { Unreadable } from "../library/reading";

export type Values = ReadonlyMap<string, Json>;

/** What may stand between the braces; anything else is text. Python's `re` reads it alike. */
export const PLACEHOLDER = "\\{\\{ *(\\$?[A-Za-z_][A-Za-z0-9_]*(?: +-?[0-9]{1,15})*) *\\}\\}";
/** First names for `{{$name}}`. */
export const NAMES = ["Ada", "Alan", "Barbara", "Edsger", "Frances", "Grace", "Joan", "Ken", "Margaret", "Niklaus"];
/** Generated values, with what each is. */
export const GENERATED: readonly (readonly [string, string])[] = [
  ["{{$uuid}}", "a UUID"],
  ["{{$int 1 9}}", "a whole number, both ends included"],
  ["{{$name}}", "a first name"],
  ["{{$email}}", "an e-mail address, another one each time"],
  ["{{$now}}", "the time, ISO 8601 in UTC"],
  ["{{$objectId}}", "an id that no document has"],
  ["{{$index}}", "which repetition this is, from 0"],
];

/**
 * Return a value with its placeholders filled in: a text that is one placeholder becomes the value, with its
 * type; within a longer text, texts stand as they are and other values as JSON.
 *
 * Throws `Unreadable` for a variable without a value and an unknown generated value.
 */
export function fill(value: Json, values: Values): Json {
  if (typeof value === "string") return fillText(value, values);
  if (Array.isArray(value)) return value.map((inner) => fill(inner, values));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner, values)])) as Json;
}

function fillText(text: string, values: Values): Json {
  const alone = new RegExp(`^${PLACEHOLDER}$`).exec(text);
  if (alone) return valueOf(alone[1] as string, values);
  return text.replace(new RegExp(PLACEHOLDER, "g"), (_, name: string) => {
    const value = valueOf(name, values);
    return typeof value === "string" ? value : stringify(value);
  });
}

function valueOf(name: string, values: Values): Json {
  if (name.startsWith("$") && name !== "$index") return generated(name);
  const value = values.get(name);
  if (value === undefined) throw new Unreadable(`{{${name}}} has no value`);
  return value;
}

function generated(text: string): Json {
  const [name, ...bounds] = text.split(/ +/);
  const make = name === undefined ? undefined : own(MAKERS, name);
  if (!make || bounds.length !== (name === "$int" ? 2 : 0)) throw new Unreadable(`{{${text}}} is not known`);
  return make(...bounds.map(Number));
}

const MAKERS: Record<string, (...bounds: number[]) => Json> = {
  $uuid: uuid,
  $int: (least = 0, most = 0) => {
    if (least > most) throw new Unreadable(`{{$int ${least} ${most}}}: the first number must be the smaller one`);
    return least + Math.floor(Math.random() * (most - least + 1));
  },
  $name: () => NAMES[Math.floor(Math.random() * NAMES.length)] as string,
  $email: () => `user-${hex(6)}@example.com`,
  $now: () => new Date().toISOString(),
  $objectId: () => hex(12),
};

/** Random bytes as hex digits. */
export function hex(bytes: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(bytes)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
}

/** `crypto.randomUUID` is not there on plain http. */
function uuid(): string {
  const digits = hex(16);
  const variant = "89ab"[Number.parseInt(digits[16] as string, 16) % 4];
  return digits.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, `$1-$2-4$3-${variant}$4-$5`);
}

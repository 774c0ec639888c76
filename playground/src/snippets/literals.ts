/** JSON values as source text of other languages. */

import { Numeral } from "../json";

/** Return a text as a literal of Python or TypeScript: the escapes are those of JSON. */
export function literal(text: string): string {
  return escaped(text);
}

/** Return a value as a Python literal, broken into lines where it is long. */
export function python(value: unknown, indent = ""): string {
  return written(value, indent, PYTHON);
}

/** Return a value as a TypeScript literal, broken into lines where it is long. */
export function typescript(value: unknown, indent = ""): string {
  return written(value, indent, TYPESCRIPT);
}

/** Return one word of a POSIX shell, taken as it is. */
export function shellWord(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

interface Language {
  /** Of one level, in spaces. */
  indent: string;
  /** Between braces and what is in them. */
  padding: string;
  null: string;
  true: string;
  false: string;
  key: (name: string) => string;
}

const PYTHON: Language = { indent: "    ", padding: "", null: "None", true: "True", false: "False", key: escaped };
const TYPESCRIPT: Language = {
  indent: "  ",
  padding: " ",
  null: "null",
  true: "true",
  false: "false",
  key: typescriptKey,
};
const WIDEST = 100;

function written(value: unknown, indent: string, language: Language): string {
  const short = flat(value, language);
  if (typeof value !== "object" || value === null || value instanceof Numeral || indent.length + short.length <= WIDEST) return short;
  const deeper = indent + language.indent;
  const parts = Array.isArray(value)
    ? value.map((inner) => written(inner, deeper, language))
    : Object.entries(value).map(([name, inner]) => `${language.key(name)}: ${written(inner, deeper, language)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return parts.length === 0
    ? short
    : `${open}\n${parts.map((part) => `${deeper}${part},\n`).join("")}${indent}${close}`;
}

function flat(value: unknown, language: Language): string {
  if (value === null || value === undefined) return language.null;
  if (typeof value === "boolean") return value ? language.true : language.false;
  if (typeof value === "string") return escaped(value);
  if (value instanceof Numeral) return `Number(${escaped(value.text)})`; // of the exported test
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map((inner) => flat(inner, language)).join(", ")}]`;
  const parts = Object.entries(value).map(([name, inner]) => `${language.key(name)}: ${flat(inner, language)}`);
  return parts.length === 0 ? "{}" : `{${language.padding}${parts.join(", ")}${language.padding}}`;
}

/** JSON's escapes mean the same in Python and TypeScript; the rest would be invisible, or read as the end of a line. */
function escaped(text: string): string {
  return JSON.stringify(text).replace(
    /[\u007f-\u00a0\u00ad\u2000-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function typescriptKey(name: string): string {
  if (name === "__proto__") return '["__proto__"]'; // otherwise it would set the prototype
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : escaped(name);
}

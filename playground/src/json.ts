/**
 * JSON that keeps the digits of its numbers. A number that JavaScript would write otherwise than it was written
 * (9007199254740993, 1.10, 1e5, -0) is a `Numeral`; every other one is a plain number.
 *
 * Browsers can do this by themselves (`JSON.rawJSON`) only since 2025; older ones must not lose digits in silence.
 */

export class Numeral {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  valueOf(): number {
    return Number(this.text);
  }
}

export type Json = null | boolean | number | string | Numeral | Json[] | { [name: string]: Json };
export type JsonObject = { [name: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Numeral);
}

/** What an object itself has under a name, which may be `constructor` or `__proto__`. */
export function own<T>(all: Readonly<Record<string, T>>, name: string | number): T | undefined {
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** An object with one key set, or without it; its keys in an order, then all others. */
export function withKey(value: JsonObject, name: string, inner: Json | undefined, order: readonly string[]): JsonObject {
  const { [name]: _before, ...rest } = value;
  const next = inner === undefined ? rest : { ...value, [name]: inner };
  const first = order.filter((key) => Object.hasOwn(next, key));
  const names = new Set([...first, ...Object.keys(next)]);
  return Object.fromEntries([...names].map((key) => [key, next[key] as Json]));
}

/** Whether two values mean the same JSON, keys in the same order. */
export function isSame(one: Json | undefined, other: Json | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && stringify(one) === stringify(other));
}

export function hasNumerals(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return value instanceof Numeral || Object.values(value).some(hasNumerals);
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

/** The number that a text writes in JSON; undefined where it writes none. */
export function numberIn(text: string): number | Numeral | undefined {
  return NUMBER.test(text) ? numberOf(text) : undefined;
}

function numberOf(text: string): number | Numeral {
  const number = Number(text);
  return String(number) === text ? number : new Numeral(text);
}

/** Return what a JSON text says. Throws `SyntaxError`, with the browser's message. */
export function parse(text: string): Json {
  const plain = JSON.parse(text) as Json;
  return MAY_CHANGE.test(text) ? new Reader(text).value() : plain;
}

/** A key that an object has twice: only its last value would be sent. */
export interface Twice {
  name: string;
  /** Where it stands again. */
  from: number;
  to: number;
}

/** Return the first key that an object of a text has twice; the text must be JSON. */
export function twiceIn(text: string): Twice | undefined {
  const reader = new Reader(text);
  reader.value();
  return reader.twice;
}

/** Return why a text is not to be read as JSON, and where if the browser says so; empty when it may be. */
export function problemIn(text: string): string {
  try {
    JSON.parse(text);
    const twice = twiceIn(text);
    return twice ? `${placeIn(text, `position ${twice.from}`)}${twiceText(twice)}` : "";
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return `${placeIn(text, said)}${said.replace(/ in JSON at position.*| at line \d+.*|, (\.\.\.)?"[^]*" is not valid JSON$/, "")}.`;
  }
}

export function twiceText({ name }: Twice): string {
  return `“${name}” is there twice in one object.`;
}

/** `Line 2: ` or, of a single line, `Column 5: `, as a browser's message says it; empty where it does not. */
function placeIn(text: string, said: string): string {
  const at = /position (\d+)/.exec(said)?.[1] ?? (/end of/i.test(said) ? text.length : /is not valid JSON$/.test(said) ? mostRead(text) : undefined);
  const before = at === undefined ? [] : text.slice(0, Number(at)).split("\n");
  const [, line = before.length, column = (before.at(-1) ?? "").length + 1] = /line (\d+) column (\d+)/.exec(said) ?? [];
  if (!line) return "";
  return text.trim().includes("\n") ? `Line ${line}: ` : `Column ${column}: `;
}

/** How many characters begin a JSON text: Chromium does not always say where that ends. */
function mostRead(text: string): number {
  let [least, most] = [0, text.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (isBegun(text.slice(0, middle))) least = middle;
    else most = middle - 1;
  }
  return least;
}

function isBegun(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const said = String(error);
    return /end of|Unterminated/.test(said) || /position (\d+)/.exec(said)?.[1] === String(text.length);
  }
}

/** Finds every number that could be a `Numeral`, and a few texts besides: those cost time only. */
const MAY_CHANGE = /(?:^|[:,[\s])-?(?:\d{16}|\d+[.eE]|0(?<=-0))/;

/** Return a value as JSON text; `indent` as of `JSON.stringify`. What is undefined is left out. */
export function stringify(value: unknown, indent = 0): string {
  return written(value, "", " ".repeat(indent));
}

function written(value: unknown, margin: string, step: string): string {
  if (value instanceof Numeral) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const deeper = margin + step;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((inner) => written(inner, deeper, step))
    : Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .map(([name, inner]) => `${JSON.stringify(name)}:${step && " "}${written(inner, deeper, step)}`);
  const [open, close] = isList ? "[]" : "{}";
  if (parts.length === 0 || !step) return `${open}${parts.join(",")}${close}`;
  return `${open}\n${deeper}${parts.join(`,\n${deeper}`)}\n${margin}${close}`;
}

const WORD = /[\w.+-]+/y;

/** Reads a text that is known to be JSON. */
class Reader {
  twice: Twice | undefined;
  private at = 0;

  constructor(private readonly text: string) {}

  value(): Json {
    const next = this.next();
    if (next === "{") return this.object();
    if (next === "[") return this.list();
    if (next === '"') return this.string();
    const word = this.word();
    if (word === "null") return null;
    return word === "true" || (word !== "false" && numberOf(word));
  }

  private object(): JsonObject {
    const found: [string, Json][] = [];
    const names = new Set<string>();
    this.at++;
    while (this.next() !== "}") {
      if (this.text[this.at] === ",") this.at++;
      this.next();
      const from = this.at;
      const name = this.string();
      if (names.has(name)) this.twice ??= { name, from, to: this.at };
      names.add(name);
      this.next();
      this.at++; // the colon
      found.push([name, this.value()]);
    }
    this.at++;
    return Object.fromEntries(found); // not by assignment: a name may be "__proto__"
  }

  private list(): Json[] {
    const found: Json[] = [];
    this.at++;
    while (this.next() !== "]") {
      if (this.text[this.at] === ",") this.at++;
      found.push(this.value());
    }
    this.at++;
    return found;
  }

  private string(): string {
    const start = this.at;
    let end = start;
    do end = this.text.indexOf('"', end + 1);
    while (this.isEscaped(end));
    this.at = end + 1;
    const written = this.text.slice(start, this.at);
    return written.includes("\\") ? (JSON.parse(written) as string) : written.slice(1, -1);
  }

  private isEscaped(at: number): boolean {
    let slashes = 0;
    while (this.text[at - 1 - slashes] === "\\") slashes++;
    return slashes % 2 === 1;
  }

  private word(): string {
    WORD.lastIndex = this.at;
    const word = WORD.exec(this.text)?.[0] ?? "";
    this.at += word.length;
    return word;
  }

  /** Go to the next character that is no space, and return it. */
  private next(): string | undefined {
    while (this.text.charCodeAt(this.at) <= 32) this.at++; // NaN at the end
    return this.text[this.at];
  }
}

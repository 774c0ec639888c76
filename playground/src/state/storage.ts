/** What the browser keeps, apart for each place where a playground is. */

import { effect, signal, type Signal } from "@preact/signals";
import { ROOT } from "../catalog";
import { parse, stringify } from "../json";
import { notify } from "../ui/notice";

/** Of this browser tab until it closes, or of all tabs. */
export type Where = "session" | "local";
/** Why the browser does not keep something; empty when it does. */
export type Refusal = "" | "its storage is full" | "its storage is blocked";

const PREFIX = `gatewayfw:${ROOT.pathname}:`;

function store(where: Where): Storage {
  return where === "local" ? window.localStorage : window.sessionStorage; // either may throw
}

/** Return what is kept as text; null for nothing. */
export function kept(name: string, where: Where = "local"): string | null {
  try {
    return store(where).getItem(PREFIX + name);
  } catch {
    return null; // The user forbids it.
  }
}

/** Return the names that begin so, of what is kept for all tabs. */
export function keptNames(start: string): string[] {
  try {
    const names = Object.keys(store("local")).filter((name) => name.startsWith(PREFIX + start));
    return names.map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}

/**
 * Return what `read` makes of what is kept; undefined for nothing. What `read` throws at is put aside and told: the
 * next change would overwrite it.
 */
export function load<T>(name: string, read: (value: unknown) => T, where: Where = "local"): T | undefined {
  const text = kept(name, where);
  if (text === null) return undefined;
  try {
    return read(parse(text));
  } catch {
    putAside(name, where);
    return undefined;
  }
}

/** Copy what cannot be read to a place where nothing overwrites it but the next such copy. */
export function putAside(name: string, where: Where = "local"): void {
  const text = kept(name, where);
  if (text === null) return;
  const isCopied = write(`${name}:damaged`, text, where) === "";
  notify(`The browser's stored data “${name}” cannot be read${isCopied ? `; a copy is at ${PREFIX}${name}:damaged` : ""}.`, {
    bad: true,
  });
}

/** Keep a value; undefined removes it. */
export function keep(name: string, value: unknown, where: Where = "local"): Refusal {
  return write(name, value === undefined ? null : stringify(value), where);
}

function write(name: string, text: string | null, where: Where): Refusal {
  try {
    if (text === null) store(where).removeItem(PREFIX + name);
    else store(where).setItem(PREFIX + name, text);
    return "";
  } catch (error) {
    const isFull = error instanceof DOMException && error.name.includes("Quota");
    return isFull ? "its storage is full" : "its storage is blocked";
  }
}

/** Listen to what other tabs change in what all keep: by name, or undefined when it may be anything. */
export function onOthers(listener: (name: string | undefined) => void): void {
  addEventListener("storage", ({ key, storageArea }) => {
    if (storageArea === window.sessionStorage) return;
    if (key === null) listener(undefined);
    else if (key.startsWith(PREFIX)) listener(key.slice(PREFIX.length));
  });
  // A page that comes back from the browser's cache has missed what happened meanwhile.
  addEventListener("pageshow", ({ persisted }) => persisted && listener(undefined));
}

/** A signal that the browser keeps, the same in all its tabs. `read` throws at what is no value. */
export function stored<T>(name: string, fallback: T, read: (value: unknown) => T): Signal<T> {
  const value = signal(load(name, read) ?? fallback);
  let first = true;
  effect(() => {
    const now = value.value;
    if (!first) keep(name, now);
    first = false;
  });
  onOthers((changed) => {
    if (changed === undefined || changed === name) value.value = load(name, read) ?? fallback;
  });
  return value;
}

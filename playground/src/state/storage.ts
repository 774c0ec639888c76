/** What the browser keeps, apart for each place where a playground is. */

import { effect, signal, type Signal } from "@preact/signals";
import { ROOT } from "../catalog";
import { parse, stringify } from "../json";

export type Where = "session" | "local";

const PREFIX = `gatewayfw:${ROOT.pathname}:`;

function store(where: Where): Storage | undefined {
  try {
    return where === "local" ? window.localStorage : window.sessionStorage;
  } catch {
    return undefined; // The user forbids it.
  }
}

export function load<T>(name: string, fallback: T, where: Where = "local"): T {
  try {
    const text = store(where)?.getItem(PREFIX + name);
    return text == null ? fallback : (parse(text) as T);
  } catch {
    return fallback;
  }
}

/** Keep a value; undefined removes it. What does not fit is not kept: returns whether it is. */
export function keep(name: string, value: unknown, where: Where = "local"): boolean {
  try {
    if (value === undefined) store(where)?.removeItem(PREFIX + name);
    else store(where)?.setItem(PREFIX + name, stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** A signal whose value the browser keeps. */
export function stored<T>(name: string, fallback: T, where: Where = "local"): Signal<T> {
  const value = signal(load(name, fallback, where));
  let first = true;
  effect(() => {
    const now = value.value;
    if (!first) keep(name, now, where);
    first = false;
  });
  return value;
}

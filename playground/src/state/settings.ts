/** Headers, token and theme. */

import { effect, signal } from "@preact/signals";
import { Unreadable, readList, readPlain } from "../library/reading";
import { tokenHeaders } from "./carriers";
import { keep, load, stored, type Refusal } from "./storage";

export const MOST_HEADERS = 100;

export type Theme = "system" | "light" | "dark";
export interface HeaderRow {
  name: string;
  value: string;
  on: boolean;
}

/**
 * Whether the token and the headers outlive a reload, in the session storage of this browser tab. They are nowhere
 * else: not in what all tabs share, in links, files or the history.
 */
export const keepToken = stored("keepToken", true, readFlag);
/** The token sent with every call. */
export const token = signal<string>(load("token", readToken, "session") ?? "");
/** More headers of every call. */
export const headers = signal<HeaderRow[]>(load("headers", readHeaders, "session") ?? []);
/** Why the browser does not keep them, though it should. */
export const tokenRefusal = signal<Refusal>("");
export const theme = stored<Theme>("theme", "system", readTheme);

function readTheme(value: unknown): Theme {
  if (value === "system" || value === "light" || value === "dark") return value;
  throw new Unreadable("no theme");
}

function readFlag(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new Unreadable("expected true or false");
}

function readToken(value: unknown): string {
  if (typeof value === "string") return value;
  throw new Unreadable("expected a text");
}

function readHeaders(value: unknown): HeaderRow[] {
  return readList(value, "headers", MOST_HEADERS).map((row) => {
    const { name, value, on } = readPlain(row, "headers");
    return { name: readToken(name), value: readToken(value), on: readFlag(on) };
  });
}

effect(() => {
  const ofToken = keep("token", keepToken.value && token.value ? token.value : undefined, "session");
  const ofHeaders = keep("headers", keepToken.value && headers.value.length ? headers.value : undefined, "session");
  tokenRefusal.value = keepToken.value ? ofToken || ofHeaders : "";
});

effect(() => {
  const chosen = theme.value;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
});

/** The headers of a call, the token among them; empty for none. */
export function callHeaders(sent: string = token.value): Record<string, string> {
  const own = headers.value.filter(({ name, on }) => on && name.trim());
  return {
    ...(sent ? Object.fromEntries(tokenHeaders().map(({ name, before }) => [name, before + sent])) : {}),
    ...Object.fromEntries(own.map(({ name, value }) => [name.trim(), value])),
  };
}

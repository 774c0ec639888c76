/** Headers, token and theme. */

import { effect, signal } from "@preact/signals";
import { Unreadable } from "../library/reading";
import { keep, load, stored } from "./storage";

export type Theme = "system" | "light" | "dark";
export interface HeaderRow {
  name: string;
  value: string;
  on: boolean;
}

/** The token sent with every call; in memory, unless `keepToken`. */
export const token = signal<string>(load("token", String, "session") ?? "");
/** Whether the token is kept in this tab's session storage. */
export const keepToken = signal<boolean>(load("token", String, "session") !== undefined);
/** More headers; never stored: they may hold secrets. */
export const headers = signal<HeaderRow[]>([]);
export const theme = stored<Theme>("theme", "system", readTheme);

function readTheme(value: unknown): Theme {
  if (value === "system" || value === "light" || value === "dark") return value;
  throw new Unreadable("no theme");
}

effect(() => {
  keep("token", keepToken.value ? token.value : undefined, "session");
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
    ...(sent ? { token: sent } : {}),
    ...Object.fromEntries(own.map(({ name, value }) => [name.trim(), value])),
  };
}

/** Texts that are no JSON yet. While a request has one, it is not sent: something else would be, not what is shown. */

import type { Signal } from "@preact/signals";

/** By the path of their field: `set.extra`. The whole request, as its JSON is edited, is "". */
export type Drafts = ReadonlyMap<string, string>;

/** Keep a text that is no JSON; undefined when it is mended or given up. */
export function putDraft(drafts: Signal<Drafts>, path: string, text: string | undefined): void {
  if (drafts.value.get(path) === text) return;
  const next = new Map(drafts.value);
  if (text === undefined) next.delete(path);
  else next.set(path, text);
  drafts.value = next;
}

/** Where a field keeps what is written and not sent: that is no reason to send nothing. */
export function asideOf(path: string): string {
  return `${path}${ASIDE}`;
}
const ASIDE = ".?";

/** The path of the first text that keeps a request from being sent; undefined for none. */
export function firstDraft(drafts: Drafts): string | undefined {
  return [...drafts.keys()].find((path) => !path.endsWith(ASIDE));
}

/** Give up the texts of a field and of those within it. */
export function dropDrafts(drafts: Signal<Drafts>, path: string): void {
  const rest = [...drafts.value].filter(([at]) => at !== path && !at.startsWith(`${path}.`));
  if (rest.length < drafts.value.size) drafts.value = new Map(rest);
}

/** Let the texts of a list's items go with them: `order` has, for each item now, where it was. */
export function moveDrafts(drafts: Signal<Drafts>, path: string, order: readonly number[]): void {
  const moved = [...drafts.value].flatMap(([at, text]): [string, string][] => {
    if (!at.startsWith(`${path}.`)) return [[at, text]];
    const [index, ...rest] = at.slice(path.length + 1).split(".");
    const now = order.indexOf(Number(index));
    return now < 0 ? [] : [[[path, now, ...rest].join("."), text]];
  });
  if (drafts.value.size > 0) drafts.value = new Map(moved);
}

/** Why a request is not sent; empty when it may be. */
export function reasonNot(drafts: Drafts): string {
  const path = firstDraft(drafts);
  if (path === undefined) return "";
  return `Not sent: ${path === "" ? "the JSON of the request" : `what is written at ${path}`} is not valid.`;
}

/** Saved requests, by name; the browser keeps them, without tokens, headers and passwords. */

import { batch, computed } from "@preact/signals";
import { isSame } from "../json";
import { collection } from "../state/collection";
import { printOf, type ActRequest } from "../state/request";
import type { Refusal } from "../state/storage";
import { tabs, type Tab } from "../state/tabs";
import { notify } from "../ui/notice";
import { Unreadable, readRequest, readList, readPlain, readText } from "./reading";
import { withoutSecrets } from "./secrets";

export interface Saved {
  name: string;
  /** Where it stands in the lists; empty for none. */
  folder: string;
  request: ActRequest;
}

const MOST = 500;

const kept = collection<Saved>("saved", {
  read: (value) => readOne(value, "saved"),
  write: (one) => written([one])[0],
  list: { name: "saved", idOf: ({ name }) => name },
});

/** In the order of their names. */
export const saved = computed(() =>
  [...kept.entries.value.values()].sort((one, other) => (one.name < other.name ? -1 : 1)),
);
/** Why the browser does not keep all of them. */
export const refusal = kept.refusal;

/** Save a request under a name; one that was saved under it before is replaced. */
export function saveRequest(request: ActRequest, name: string, folder = ""): Refusal {
  return saveAll([{ name, folder, request }]);
}

/** Put some in the place of others; what was there can be had back for some seconds. */
export function replaceSaved(gone: readonly Saved[], added: readonly Saved[], what: string): void {
  const swap = (from: readonly Saved[], to: readonly Saved[]) =>
    batch(() => {
      const names = to.map(({ name }) => name);
      for (const { name } of from) if (!names.includes(name)) kept.remove(name);
      for (const one of to) kept.put(one.name, withoutSecretsOf(one));
      if (from.length === to.length) from.forEach(({ name }, at) => rename(name, to[at]?.name ?? name));
    });
  swap(gone, added);
  notify(what, { undo: () => swap(added, gone) });
}

/** Let the tabs of a saved request follow its name. */
function rename(name: string, next: string): void {
  for (const tab of tabs.value) if (name !== next && tab.saved.value === name) tab.saved.value = next;
}

/** Whether a request is what was saved, but for what is never saved. */
export function isAsSaved(request: ActRequest, one: Saved): boolean {
  return isSame(withoutSecretsOf({ ...one, request }).request as never, withoutSecretsOf(one).request as never);
}

/** Whether another browser tab has changed a saved request since a tab of this page knew it. */
export function isChangedElsewhere({ seen, request }: Tab, one: Saved): boolean {
  return seen.value !== "" && seen.value !== printOf(one.request) && !isAsSaved(request.value, one);
}

/** Let a tab know what it is saved as. */
export function noteSaved({ saved: name, seen }: Tab, one: Pick<Saved, "name" | "request">): void {
  name.value = one.name;
  seen.value = printOf(withoutSecretsOf({ ...one, folder: "" }).request);
}

export function removeSaved(one: Saved): void {
  replaceSaved([one], [], `“${one.name}” removed.`);
}

export interface Folder {
  name: string;
  requests: Saved[];
}

/** By folder, in the order of their names; first what is in none. */
export function foldersOf(all: readonly Saved[]): Folder[] {
  const names = [...new Set(all.map(({ folder }) => folder))].sort();
  return names.map((name) => ({ name, requests: all.filter(({ folder }) => folder === name) }));
}

/** Save several. Throws `Unreadable` when they would be too many. */
export function saveAll(added: readonly Saved[]): Refusal {
  const names = new Set([...kept.entries.value.keys(), ...added.map(({ name }) => name)]);
  if (names.size > MOST) throw new Unreadable(`More than ${MOST} saved requests: remove some first`);
  return batch(() => added.map((one) => kept.put(one.name, withoutSecretsOf(one))).find(Boolean) ?? "");
}

/** Return saved requests that were read from outside. Throws `Unreadable`. */
export function readSaved(value: unknown, where: string): Saved[] {
  return readList(value, where, MOST).map((one, at) => readOne(one, `${where}.${at}`));
}

function readOne(value: unknown, where: string): Saved {
  const given = readPlain(value, where);
  const folder = given.folder ? readText(given.folder, `${where}.folder`) : "";
  return { name: readText(given.name, `${where}.name`), folder, request: readRequest(given, where) };
}

/** Return saved requests as they are written, with the name and the request's keys side by side. */
export function written(all: readonly Saved[]): object[] {
  return all.map(withoutSecretsOf).map(({ name, folder, request }) => ({ name, ...(folder && { folder }), ...request }));
}

function withoutSecretsOf({ name, folder, request: { service, model, act, set, get } }: Saved): Saved {
  return { name, folder, request: { service, model, act, set: withoutSecrets(set), get } };
}

/** Saved requests, by name; the browser keeps them, without tokens, headers and passwords. */

import { signal } from "@preact/signals";
import type { ActRequest } from "../state/send";
import { keep, load } from "../state/storage";
import { Unreadable, readRequest, readList, readPlain, readText } from "./reading";
import { withoutSecrets } from "./secrets";

export interface Saved {
  name: string;
  request: ActRequest;
}

const MOST = 500;

/** In the order of their names. */
export const saved = signal<Saved[]>(readKept());

/** Save a request under a name; one that was saved under it before is replaced. Returns whether the browser keeps it. */
export function saveRequest(request: ActRequest, name: string): boolean {
  return saveAll([{ name, request }]);
}

export function removeSaved(name: string): void {
  store(saved.value.filter((one) => one.name !== name));
}

/** Save several. Throws `Unreadable` when they would be too many. */
export function saveAll(added: readonly Saved[]): boolean {
  const names = new Set(added.map(({ name }) => name));
  const all = [...saved.value.filter(({ name }) => !names.has(name)), ...added.map(withoutSecretsOf)];
  if (all.length > MOST) throw new Unreadable(`More than ${MOST} saved requests: remove some first`);
  return store(all.sort((one, other) => (one.name < other.name ? -1 : 1)));
}

/** Return saved requests that were read from outside. Throws `Unreadable`. */
export function readSaved(value: unknown, where: string): Saved[] {
  return readList(value, where, MOST).map((one, at) => {
    const given = readPlain(one, `${where}.${at}`);
    return { name: readText(given.name, `${where}.${at}.name`), request: readRequest(given, `${where}.${at}`) };
  });
}

/** Return saved requests as they are written, with the name and the request's keys side by side. */
export function written(all: readonly Saved[]): object[] {
  return all.map(withoutSecretsOf).map(({ name, request }) => ({ name, ...request }));
}

function withoutSecretsOf({ name, request: { service, model, act, set, get } }: Saved): Saved {
  return { name, request: { service, model, act, set: withoutSecrets(set), get } };
}

function store(all: Saved[]): boolean {
  saved.value = all;
  return keep("saved", written(all));
}

function readKept(): Saved[] {
  try {
    return readSaved(load<unknown>("saved", []), "saved");
  } catch {
    return []; // written by another version, or by hand
  }
}

/**
 * Entries that the browser keeps for all its tabs, each under a key of its own: a tab writes and removes only what it
 * changes, so tabs never overwrite each other's entries, and what one removes does not come back. Of two changes of
 * one entry the later one stays.
 */

import { signal, type ReadonlySignal } from "@preact/signals";
import { parse } from "../json";
import { notify } from "../ui/notice";
import { keep, kept, keptNames, load, onOthers, putAside, type Refusal } from "./storage";

export interface Collection<T> {
  /** By id. */
  entries: ReadonlySignal<ReadonlyMap<string, T>>;
  /** Why the browser does not keep all of them; those are lost with the page. */
  refusal: ReadonlySignal<Refusal>;
  put: (id: string, entry: T) => Refusal;
  remove: (id: string) => Refusal;
}

export interface Format<T> {
  /** Throws at what is no entry. */
  read: (value: unknown, id: string) => T;
  /** What is kept of an entry. */
  write: (entry: T) => unknown;
  /** What becomes of ours when another tab has changed it: it may have parts that are not kept. */
  merge?: (ours: T, theirs: T) => T;
  /** The name under which an earlier version kept a list of all, and the id of one of them. */
  list: { name: string; idOf: (entry: T) => string };
}

export function collection<T>(name: string, format: Format<T>): Collection<T> {
  const { read, write, merge = (_ours: T, theirs: T) => theirs, list } = format;
  const entries = signal<ReadonlyMap<string, T>>(new Map());
  const refusal = signal<Refusal>("");
  const unkept = new Set<string>();
  const unreadable = new Set<string>();

  const set = (id: string, entry: T | undefined): void => {
    const next = new Map(entries.value);
    if (entry === undefined) next.delete(id);
    else next.set(id, entry);
    entries.value = next;
  };
  const readOne = (id: string): T | undefined => {
    const text = kept(`${name}/${id}`);
    unreadable.delete(id);
    if (text === null) return undefined;
    try {
      return read(parse(text), id);
    } catch {
      unreadable.add(id); // It stays as it is: another version may be able to read it.
      return undefined;
    }
  };
  const refresh = (id: string): void => {
    if (unkept.has(id)) return;
    const [ours, theirs] = [entries.value.get(id), readOne(id)];
    set(id, ours !== undefined && theirs !== undefined ? merge(ours, theirs) : theirs);
  };
  const refreshAll = (): void => {
    const ids = keptNames(`${name}/`).map((one) => one.slice(name.length + 1));
    for (const id of new Set([...ids, ...entries.value.keys()])) refresh(id);
  };
  const store = (id: string): Refusal => {
    const entry = entries.value.get(id);
    const refused = keep(`${name}/${id}`, entry === undefined ? undefined : write(entry));
    if (refused) unkept.add(id);
    else unkept.delete(id);
    return refused;
  };
  /** Keep an entry's state, and what did not fit before. */
  const storeAll = (id: string): Refusal => {
    const refused = store(id);
    const others = [...unkept].filter((other) => other !== id).map(store);
    refusal.value = refused || others.find(Boolean) || "";
    return refused;
  };
  const put = (id: string, entry: T): Refusal => {
    set(id, entry);
    return storeAll(id);
  };
  const remove = (id: string): Refusal => {
    set(id, undefined);
    return storeAll(id);
  };
  /** Give entries of the list that an earlier version kept keys of their own. */
  const takeOver = (): void => {
    const before = load(list.name, readArray);
    const found = (before ?? []).map((value, at) => attempt(() => read(value, `before-${at}`)));
    for (const entry of found) {
      if (entry !== undefined && !entries.value.has(list.idOf(entry))) put(list.idOf(entry), entry);
    }
    if (before === undefined || refusal.value) return;
    if (found.includes(undefined)) putAside(list.name);
    keep(list.name, undefined);
  };

  refreshAll();
  if (unreadable.size > 0) notify(`${unreadable.size} entries of “${name}” cannot be read and stay as they are.`, { bad: true });
  takeOver();
  onOthers((changed) => {
    if (changed === undefined) refreshAll();
    else if (changed.startsWith(`${name}/`)) refresh(changed.slice(name.length + 1));
  });
  return { entries, refusal, put, remove };
}

function readArray(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new TypeError("no list");
  return value;
}

function attempt<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}

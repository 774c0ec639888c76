/** The files of a request, which its JSON cannot hold. */

import type { Signal } from "@preact/signals";
import type { Kind } from "../catalog";

/** By the path of their field: `set.avatar`. */
export type Files = ReadonlyMap<string, File>;

/** Keep a file; undefined to give it up. */
export function putFile(files: Signal<Files>, path: string, file: File | undefined): void {
  const next = new Map(files.value);
  if (file) next.set(path, file);
  else next.delete(path);
  files.value = next;
}

/** The fields of an object that stand in its JSON. */
export function withoutFiles(fields: Record<string, Kind>): Record<string, Kind> {
  return Object.fromEntries(Object.entries(fields).filter(([, kind]) => kind.kind !== "file"));
}

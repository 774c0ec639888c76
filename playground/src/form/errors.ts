/** What the server said of the values of a form, by path. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Json } from "../catalog";
import type { ActRequest, Reply } from "../state";

export type Errors = Readonly<Record<string, readonly string[]>>;

export const ErrorsContext = createContext<Errors>({});

/** The texts for a path itself. */
export function useErrors(path: string): readonly string[] | undefined {
  const errors = useContext(ErrorsContext);
  return Object.hasOwn(errors, path) ? errors[path] : undefined;
}

/** The errors of a reply whose values have not been changed since it was sent. */
export function errorsOf(reply: Reply | null, sent: ActRequest | null, now: ActRequest): Errors {
  if (!reply?.envelope || reply.envelope.success || !sent) return {};
  const all = Object.entries(reply.envelope.body.errors ?? {});
  return Object.fromEntries(all.filter(([path]) => same(at(sent, path), at(now, path))));
}

function same(one: Json | undefined, other: Json | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The value at a path such as `set.features.0.feature`. */
export function at(request: Pick<ActRequest, "set" | "get">, path: string): Json | undefined {
  let value: Json | undefined = { set: request.set, get: request.get };
  for (const name of path.split(".")) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Record<string, Json>)[name];
  }
  return value;
}

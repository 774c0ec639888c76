/** What the server said of the values of a form, by path. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { isObject, isSame, own, type Json } from "../json";
import type { ActRequest, Reply } from "../state";

export type Errors = Readonly<Record<string, readonly string[]>>;

export const ErrorsContext = createContext<Errors>({});

/** The texts for a path itself. */
export function useErrors(path: string): readonly string[] | undefined {
  const errors = useContext(ErrorsContext);
  return own(errors, path);
}

/** The errors of a reply whose values have not been changed since it was sent. */
export function errorsOf(reply: Reply | null, sent: ActRequest | null, now: ActRequest): Errors {
  if (!reply?.envelope || reply.envelope.success || !sent) return {};
  const named = Object.entries(reply.envelope.body.errors ?? {});
  const all = named.map(([path, texts]): [string, string[]] => [placed(path, sent), texts]);
  return Object.fromEntries(all.filter(([path]) => isSame(at(sent, path), at(now, path))));
}

/** Where in a request the field is that a stored document calls so, as an error of a unique index does. */
function placed(path: string, sent: ActRequest): string {
  if (/^(set|get)\./.test(path)) return path;
  const within = Object.keys(sent.set).map((name) => `set.${name}.${path}`);
  return [`set.${path}`, ...within].find((one) => at(sent, one) !== undefined) ?? path;
}

/** The value at a path such as `set.features.0.feature`. */
export function at(request: Pick<ActRequest, "set" | "get">, path: string): Json | undefined {
  return below({ set: request.set, get: request.get }, path);
}

/** Names may have dots in them, as those of a filter do. */
function below(value: Json | undefined, path: string): Json | undefined {
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    if (name === path) return inner;
    const found = path.startsWith(`${name}.`) ? below(inner, path.slice(name.length + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

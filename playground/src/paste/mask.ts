/** Passwords and tokens in a text that was pasted: nobody has to read them over a shoulder. */

import { mapSecrets } from "../library/secrets";
import type { Pasted } from "./read";

const DOTS = "••••••";

/** Return a text with what is secret in it as dots; undefined where nothing is, or it stands there in another way. */
export function maskSecrets(text: string, { requests, token }: Pasted): string | undefined {
  const found = token ? [token] : [];
  for (const { set } of requests) mapSecrets(set, (_, value) => (found.push(value), value));
  let masked = text;
  for (const value of found) {
    const written = JSON.stringify(value).slice(1, -1);
    // As a text of JSON, for bash and for cmd; a token stands by itself.
    for (const quote of ['"', '\\"', '^\\^"']) masked = masked.replaceAll(quote + written + quote, quote + DOTS + quote);
    if (value === token) masked = masked.replaceAll(token, DOTS);
  }
  return masked === text ? undefined : masked;
}

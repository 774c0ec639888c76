/** Links that hold a request, and saving one. The fragment of a link is never sent to a server. */

import { ROOT } from "../catalog";
import { stringify } from "../json";
import { type ActRequest } from "../state/request";
import { copyText, notify } from "../ui/notice";
import { Unreadable, readRequest, readJson, readPlain } from "./reading";
import { withoutSecrets } from "./secrets";

export { saveRequest } from "./saved";

/** Longest fragment that is made or read, in characters. */
const LONGEST = 32_000;
const START = "#share=";
const COPIED = "Link copied. It does not contain the token.";

/**
 * Return the link to a request: base64url JSON in the fragment, without token, headers and passwords.
 *
 * Throws `Unreadable` when it would be too long for a link.
 */
export function shareLink(request: ActRequest): string {
  const { service, model, act, set, get } = request;
  const shared = { v: 1, service, model, act, set: withoutSecrets(set), get };
  const fragment = START + toBase64(new TextEncoder().encode(stringify(shared)));
  if (fragment.length > LONGEST) throw new Unreadable("The request is too long for a link. Save it and export a file instead.");
  return new URL(fragment, ROOT).href;
}

/** Put the link to a request on the clipboard, and tell how that went. */
export async function copyLink(request: ActRequest): Promise<void> {
  try {
    const isCopied = await copyText(shareLink(request));
    notify(isCopied ? COPIED : "The browser blocked copying.", { bad: !isCopied });
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    notify(error.message, { bad: true });
  }
}

/** Return the request of a link's fragment; undefined when it is no such link, or a hostile one, which is told. */
export function readShare(hash: string): ActRequest | undefined {
  if (!hash.startsWith(START)) return undefined;
  try {
    return readFragment(hash);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    notify(`This link cannot be opened: ${error.message}.`, { bad: true });
    return undefined;
  }
}

function readFragment(hash: string): ActRequest {
  if (hash.length > LONGEST) throw new Unreadable(`it is longer than ${LONGEST} characters`);
  const shared = readPlain(readJson(textOf(hash.slice(START.length)), "its content"), "its content");
  if (shared.v !== 1) throw new Unreadable("it comes from another version");
  return readRequest(shared, "request");
}

function toBase64(bytes: Uint8Array): string {
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(binary).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function textOf(base64: string): string {
  try {
    const binary = atob(base64.replace(/-/g, "+").replace(/_/g, "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
  } catch {
    throw new Unreadable("it is cut off or damaged");
  }
}

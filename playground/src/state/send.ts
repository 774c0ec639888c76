/** Calls acts. */

import { GATEWAY_URL } from "../catalog";
import { learnTime } from "../clock";
import { stringify, type Json } from "../json";
import { fillIn } from "./environments";
import { Unreadable } from "../library/reading";
import type { Files } from "./files";
import { batchOf, bodyOf, envelopeOf, type ActRequest, type Reply } from "./request";
import { callHeaders } from "./settings";

/** Call an act; never rejects. A `token` replaces the one that is set; empty sends none; `key` lets the server know a repetition. */
export async function send(request: ActRequest, signal?: AbortSignal, token?: string, files: Files = new Map(), key = ""): Promise<Reply> {
  const more = { ...(files.size ? FORM : JSON_TYPE), ...(key && { "Idempotency-Key": key }) };
  const body = () => (files.size ? formOf(request, files) : stringify(bodyOf(request)));
  return { ...(await post(body, more, signal, token)), request };
}

/** Call several acts in one request; with `atomic` all are done or none. Never rejects. */
export function sendBatch(requests: readonly ActRequest[], atomic: boolean, signal?: AbortSignal): Promise<Reply> {
  return post(() => stringify(batchOf(requests, atomic)), JSON_TYPE, signal);
}

async function post(body: () => string | FormData, more: Record<string, string>, signal?: AbortSignal, token?: string): Promise<Reply> {
  const at = Date.now();
  const start = performance.now();
  let sent: Record<string, string>;
  try {
    sent = { ...more, "X-Gateway-Detail": "1", ...filledHeaders(token) };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return { status: 0, ms: 0, bytes: 0, text: "", error: `Not sent: ${error.message}.`, at };
  }
  const sentHeaders = Object.entries(sent);
  try {
    const reply = await fetch(GATEWAY_URL, {
      method: "POST",
      headers: sent,
      body: body(),
      signal: signal ?? null,
      cache: "no-store",
      credentials: "same-origin",
    });
    learnTime(reply.headers.get("Date"));
    const buffer = await reply.arrayBuffer();
    const { text, isBroken } = decoded(buffer);
    const ms = performance.now() - start;
    const envelope = envelopeOf(text);
    const found = { sentHeaders, headers: [...reply.headers], status: reply.status, ms, bytes: buffer.byteLength, text, at, ...(isBroken && { isBroken }) };
    return envelope ? { ...found, envelope } : { ...found, error: "The reply is not an envelope." };
  } catch (error) {
    const cancelled = signal?.aborted === true;
    const why = cancelled ? "Cancelled." : `No reply, so it is not known whether it was done: ${error instanceof Error ? error.message : String(error)}`;
    return { sentHeaders, status: 0, ms: performance.now() - start, bytes: 0, text: "", error: why, at };
  }
}

/** The text that bytes are in UTF-8, and whether some of them are none: in their place are replacement characters. */
function decoded(bytes: ArrayBuffer): { text: string; isBroken: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), isBroken: false };
  } catch {
    return { text: new TextDecoder().decode(bytes), isBroken: true };
  }
}

/** The headers of a call. Throws `Unreadable` for a variable that the environment does not have. */
export function filledHeaders(token?: string): Record<string, string> {
  const given = callHeaders(token);
  const filled = Object.entries(given).map(([name, value]): [string, string] => [name, value.includes("{{") ? textOf(fillIn(value)) : value]);
  return Object.fromEntries(filled);
}

function textOf(value: Json): string {
  return typeof value === "string" ? value : stringify(value);
}

const JSON_TYPE = { "Content-Type": "application/json" };
/** The browser itself says the type of a form. */
const FORM = { "X-Gateway": "1" };

function formOf(request: ActRequest, files: Files): FormData {
  const form = new FormData();
  form.append("gateway-body", stringify(bodyOf(request)));
  for (const [path, file] of files) form.append(path, file);
  return form;
}

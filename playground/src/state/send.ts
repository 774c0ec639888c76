/** Calls of acts. */

import { GATEWAY_URL } from "../catalog";
import { isObject, parse, stringify, type Json, type JsonObject } from "../json";
import { callHeaders } from "./settings";

export interface ActRequest {
  service: string;
  model: string;
  act: string;
  set: JsonObject;
  get: JsonObject;
}

export interface Failure {
  message: string;
  code?: string;
  /** Texts by path within the request: `set.name`, `get.country.name`. */
  errors?: Record<string, string[]>;
  requestId?: string;
}
export type Envelope = { success: true; body: Json } | { success: false; body: Failure };

export interface Reply {
  /** HTTP status; 0 when there was no reply. */
  status: number;
  /** Milliseconds from sending to the last byte. */
  ms: number;
  /** Of the body, as text in UTF-8. */
  bytes: number;
  text: string;
  /** When the text is one. */
  envelope?: Envelope;
  /** Why there is no reply or no envelope: "Cancelled.", "No connection: ...". */
  error?: string;
  /** Milliseconds since 1970 when it was sent. */
  at: number;
}

/** The body of a call, as it is sent. */
export function bodyOf({ service, model, act, set, get }: ActRequest): JsonObject {
  return { ...(service === "main" ? {} : { service }), model, act, details: { set, get } };
}

/** Call an act; never rejects. A `token` replaces the one that is set; empty sends none. */
export async function send(request: ActRequest, signal?: AbortSignal, token?: string): Promise<Reply> {
  const at = Date.now();
  const start = performance.now();
  try {
    const reply = await fetch(GATEWAY_URL, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Gateway-Detail": "1", ...callHeaders(token) },
      body: stringify(bodyOf(request)),
      signal: signal ?? null,
      cache: "no-store",
      credentials: "same-origin",
    });
    const text = await reply.text();
    const ms = performance.now() - start;
    const envelope = envelopeOf(text);
    const found = { status: reply.status, ms, bytes: new Blob([text]).size, text, at };
    return envelope ? { ...found, envelope } : { ...found, error: "The reply is no envelope." };
  } catch (error) {
    const cancelled = signal?.aborted === true;
    const why = cancelled ? "Cancelled." : `No reply: ${error instanceof Error ? error.message : String(error)}`;
    return { status: 0, ms: performance.now() - start, bytes: 0, text: "", error: why, at };
  }
}

export function envelopeOf(text: string): Envelope | undefined {
  try {
    const value = parse(text);
    const isOne = isObject(value) && typeof value.success === "boolean" && "body" in value;
    return isOne ? (value as Envelope) : undefined;
  } catch {
    return undefined;
  }
}

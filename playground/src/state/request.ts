/** A call of an act, and its reply. */

import { isObject, parse, stringify, type Json, type JsonObject } from "../json";

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
  /** Whether bytes of it are no UTF-8: replacement characters stand for them. */
  isBroken?: true | undefined;
  /** When the text is one. */
  envelope?: Envelope;
  /** Why there is no reply or no envelope: "Cancelled.", "No reply, ...". */
  error?: string;
  headers?: [name: string, value: string][];
  /** What it answers, variables filled in. */
  request?: ActRequest;
  /** Those of the request that this page set. */
  sentHeaders?: [name: string, value: string][];
  /** Milliseconds since 1970 when it was sent. */
  at: number;
}

/** The body of a call, as it is sent. */
export function bodyOf({ service, model, act, set, get }: ActRequest): JsonObject {
  return { ...(service === "main" ? {} : { service }), model, act, details: { set, get } };
}

/** A few characters that differ where requests do. */
export function printOf(request: ActRequest): string {
  const text = stringify(bodyOf(request));
  let print = text.length;
  for (let at = 0; at < text.length; at++) print = Math.imul(print ^ text.charCodeAt(at), 16_777_619);
  return (print >>> 0).toString(36);
}

/** The body of several calls in one request. */
export function batchOf(requests: readonly ActRequest[], atomic: boolean): JsonObject {
  return { batch: requests.map(bodyOf), ...(atomic && { atomic }) };
}

/** Return the envelope that a text is; undefined when it is none. */
export function envelopeOf(text: string): Envelope | undefined {
  try {
    const value = parse(text);
    const isOne = isObject(value) && typeof value.success === "boolean" && Object.hasOwn(value, "body");
    return isOne ? (value as Envelope) : undefined;
  } catch {
    return undefined;
  }
}

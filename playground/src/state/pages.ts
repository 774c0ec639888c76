/** The pages of a listing: which one a reply is, and how the next is asked for. Pure. */

import type { Act } from "../catalog";
import { isObject, isSame, type Json, type JsonObject } from "../json";
import type { ActRequest, Reply } from "./request";

export interface Page {
  /** From 1; undefined where the pages before it were not read here. */
  number: number | undefined;
  /** As the first page said, where it did. */
  total: Json | undefined;
  /** What it was asked with, and what the page after it is asked with; null where it is the last. */
  after: Json | undefined;
  next: string | null;
  /** What the pages before it that were read here were asked with, the earliest first. */
  trail: (Json | undefined)[];
}

/** Whether an act answers with pages. */
export function isListing({ set, returns }: Act): boolean {
  if (set.kind !== "object" || returns.kind !== "object") return false;
  const { rows, next } = returns.fields ?? {};
  return rows !== undefined && next?.kind === "string" && next.nullable === true && set.fields?.after !== undefined;
}

/** The page that a reply is; what was `before` where it is none. */
export function pageOf(request: ActRequest, reply: Reply, before: Page | null): Page | null {
  const body = reply.envelope?.success ? reply.envelope.body : undefined;
  if (!isObject(body) || !Array.isArray(body.rows)) return before;
  const next = typeof body.next === "string" ? body.next : null;
  const { after } = request.set;
  if (after === undefined) return { number: 1, total: body.total, after, next, trail: [] };
  if (!before) return { number: undefined, total: undefined, after, next, trail: [] };
  const { number, trail } = before;
  if (after === before.next) return { ...before, number: number && number + 1, after, next, trail: [...trail, before.after] };
  if (after === before.after) return { ...before, next };
  const place = trail.indexOf(after);
  if (place < 0) return { number: undefined, total: undefined, after, next, trail: [] };
  return { ...before, number: number && number - (trail.length - place), after, next, trail: trail.slice(0, place) };
}

/** Whether a listing has no other page than this one. */
export function isOnlyPage({ after, next }: Page): boolean {
  return after === undefined && next === null;
}

/** The request of another page of what a request lists; `after` is undefined for the first. */
export function pageRequest(request: ActRequest, after: Json | undefined): ActRequest {
  const { after: _before, ...set } = request.set;
  return { ...request, set: after === undefined ? set : { ...set, after } };
}

/** Leave `after` out of a changed `set` that filters or sorts in another way: it would be refused. */
export function withoutStale(before: JsonObject, now: JsonObject): JsonObject {
  const isAlike = (name: string) => isSame(before[name], now[name]);
  if (!isAlike("after") || (isAlike("filter") && isAlike("sort"))) return now;
  const { after: _stale, ...rest } = now;
  return rest;
}

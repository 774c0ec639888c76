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
  if (after === undefined) return { number: 1, total: body.total, after, next };
  if (after === before?.next) return { ...before, number: before.number && before.number + 1, after, next };
  if (after === before?.after) return { ...before, next };
  return { number: undefined, total: undefined, after, next };
}

/** Leave `after` out of a changed `set` that filters or sorts in another way: it would be refused. */
export function withoutStale(before: JsonObject, now: JsonObject): JsonObject {
  const isAlike = (name: string) => isSame(before[name], now[name]);
  if (!isAlike("after") || (isAlike("filter") && isAlike("sort"))) return now;
  const { after: _stale, ...rest } = now;
  return rest;
}

/** Whether two requests list the same, though maybe by other pages. */
export function listsTheSame(one: ActRequest, other: ActRequest): boolean {
  const rest = ({ set: { after: _after, limit: _limit, ...rest } }: ActRequest) => rest;
  return isSame(rest(one), rest(other));
}

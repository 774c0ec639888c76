/** Which page of a listing a reply is, in words. */

import { isObject, type Json } from "../json";
import type { Page } from "../state";

/** `Page 2 · 45 in total`. */
export function pageText({ number, total }: Page): string {
  const known = total === undefined ? "" : ` · ${totalText(total)} in total`;
  return `${number === undefined ? "A later page" : `Page ${number}`}${known}`;
}

function totalText(total: Json): string {
  return isObject(total) ? `more than ${String(total.atLeast)}` : String(total);
}

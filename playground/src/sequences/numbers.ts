/** Numbers as they are written in the fields of a step. Pure. */

import { MOST_REPEATS } from "./types";

export function problemOfRepeat(text: string): string {
  return isWhole(text, 1, MOST_REPEATS) ? "" : `From 1 to ${MOST_REPEATS}.`;
}

/** Nothing is any status. */
export function problemOfStatus(text: string): string {
  return text.trim() === "" || isWhole(text, 100, 599) ? "" : "From 100 to 599.";
}

function isWhole(text: string, least: number, most: number): boolean {
  return /^\s*\d{1,9}\s*$/.test(text) && Number(text) >= least && Number(text) <= most;
}

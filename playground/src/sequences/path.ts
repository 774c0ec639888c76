/** Paths into a reply: `body.user._id`, `body[0]._id`, `body["odd name"]`. */

import { isObject, type Json } from "../json";
import { Unreadable } from "../library/reading";

export type Step = string | number;

const PART = /(?:^|\.)([A-Za-z_$][\w$-]*)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** Return the steps of a path. Throws `Unreadable`. */
export function parsePath(path: string): Step[] {
  const steps: Step[] = [];
  PART.lastIndex = 0;
  for (let at = 0; at < path.length; at = PART.lastIndex) {
    const found = PART.exec(path);
    const last = found && stepOf(found);
    if (last === null) throw new Unreadable(`${JSON.stringify(path)} is not a path such as body.user._id or body[0]._id`);
    steps.push(last);
  }
  if (steps[0] !== "body") throw new Unreadable(`a path must begin with body: ${JSON.stringify(path)}`);
  return steps;
}

/** Return why a text is no path; empty where it is one. */
export function problemOfPath(path: string): string {
  try {
    parsePath(path);
    return "";
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`;
  }
}

function stepOf([, name, index, quoted]: RegExpExecArray): Step | null {
  if (name !== undefined) return name;
  if (index !== undefined) return Number(index);
  try {
    return JSON.parse(quoted ?? "") as string;
  } catch {
    return null;
  }
}

/** Return how steps are written as a path. */
export function pathText(steps: readonly Step[]): string {
  const parts = steps.map((step, at) => {
    if (typeof step === "number") return `[${step}]`;
    return /^[A-Za-z_$][\w$-]*$/.test(step) ? `${at ? "." : ""}${step}` : `[${JSON.stringify(step)}]`;
  });
  return parts.join("");
}

/** Return what is at a path; undefined where there is nothing. */
export function valueAt(value: Json | undefined, steps: readonly Step[]): Json | undefined {
  let found = value;
  for (const step of steps) {
    if (!isObject(found) && !Array.isArray(found)) return undefined;
    if (Array.isArray(found) !== (typeof step === "number") || !Object.hasOwn(found, step)) return undefined;
    found = (found as Record<Step, Json>)[step];
  }
  return found;
}

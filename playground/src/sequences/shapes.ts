/** What the reply of an act has: where the first id in it is, and of which model. */

import type { Kind } from "../catalog";
import { modelAt } from "../reply/documents";
import { catalog, specOf, type ActRequest } from "../state";
import { parsePath, pathText, type Step } from "./path";
import { VARIABLE_NAME } from "./types";

/** Return the path of what is most often taken out of a reply: the id of its first document, or a token. */
export function likelyPath(request: ActRequest): string {
  const returns = specOf(request)?.returns;
  return pathText(["body", ...((returns && idIn(returns)) ?? ["_id"])]);
}

function idIn(kind: Kind): Step[] | undefined {
  if (kind.kind === "documents") return kind.type === "many" ? [0, "_id"] : ["_id"];
  if (kind.kind === "array") return within(0, idIn(kind.items));
  if (kind.kind !== "object") return undefined;
  const fields = Object.entries(kind.fields ?? {});
  if (fields.some(([name, one]) => name === "token" && one.kind === "string")) return ["token"];
  for (const [name, one] of fields) {
    const found = within(name, one.kind === "object_id" ? [] : idIn(one));
    if (found) return found;
  }
  return fields[0] && [fields[0][0]];
}

function within(step: Step, rest: Step[] | undefined): Step[] | undefined {
  return rest && [step, ...rest];
}

/** Return the model that a value at a path of a reply is the id of; undefined where that is not known, or it is no id. */
export function modelOfPath(request: ActRequest, path: string): string | undefined {
  const returns = specOf(request)?.returns;
  return catalog.value && returns ? modelAt(catalog.value, returns, parsePath(path).slice(1)) : undefined;
}

/** Return the name for a value at a path: `organizationId` for an id, else the last name of the path. */
export function nameFrom(request: ActRequest, path: string): string {
  const last = String(parsePath(path).findLast((one) => typeof one === "string" && one !== "body") ?? "value");
  const model = last === "_id" ? modelOfPath(request, path) : undefined;
  const whole = model === undefined ? last : model.includes("_") ? `${model}_id` : `${model}Id`;
  const name = whole.replace(/\W/g, "_").replace(/^_+|^(?=\d)/, "").slice(0, 30);
  return VARIABLE_NAME.test(name) ? name : "value";
}

/** Whether an act makes documents: the same texts twice may be refused. */
export function isAdding({ act }: ActRequest): boolean {
  return /^(add|create|register|sign_?up|insert|new)/i.test(act);
}

/** Whether whoever has no token may call an act. */
export function isPublic(request: ActRequest): boolean {
  const spec = specOf(request);
  return spec !== undefined && spec.access !== "rule";
}

/** The paths that a step can expect or capture a value at: of its last reply, and of what its act promises. */

import { isObject, own, type Json, type JsonObject } from "../json";
import type { Kind } from "../catalog";
import { specOf, type ActRequest } from "../state";
import { envelopeOf } from "../state/request";
import { pathText, type Step } from "./path";
import type { StepReport } from "./run";

const MOST_PATHS = 150;
const DEEPEST = 6;

export function pathsOf(request: ActRequest, report: StepReport | undefined): string[] {
  const text = report?.attempts.findLast((one) => one.text)?.text;
  const envelope = text ? envelopeOf(text) : undefined;
  const returns = specOf(request)?.returns;
  const found = [...(envelope ? inReply(envelope.body as Json, ["body"]) : []), ...(returns ? inKind(returns, request.get, ["body"]) : [])];
  return [...new Set(found.map(pathText))].slice(0, MOST_PATHS);
}

/** Of lists, those of the first item. */
function inReply(value: Json, at: Step[]): Step[][] {
  if (at.length > DEEPEST) return [at];
  if (Array.isArray(value)) return [at, ...(value.length > 0 ? inReply(value[0] as Json, [...at, 0]) : [])];
  if (!isObject(value)) return [at];
  return [at, ...Object.entries(value).flatMap(([name, inner]) => inReply(inner, [...at, name]))];
}

function inKind(kind: Kind, get: JsonObject, at: Step[]): Step[][] {
  if (kind.kind === "documents") {
    const document = kind.type === "many" ? [...at, 0] : at;
    const names = ["_id", ...Object.keys(get).filter((name) => name !== "_id")];
    return [at, ...names.map((name) => [...document, name])];
  }
  if (kind.kind === "array") return [at, ...inKind(kind.items, get, [...at, 0])];
  if (kind.kind !== "object") return [at];
  const inner = (name: string) => {
    const part = own(get, name);
    return isObject(part) ? part : {};
  };
  return [at, ...Object.entries(kind.fields ?? {}).flatMap(([name, one]) => inKind(one, inner(name), [...at, name]))];
}

/** Passwords and tokens that are written out in a sequence become secret variables of it. Pure. */

import { isSame, type Json } from "../json";
import { freeName } from "../library/names";
import { mapSecrets } from "../library/secrets";
import { PLACEHOLDER } from "../state/fill";
import type { ActRequest } from "../state/request";
import { parsePath } from "./path";
import { newId, type Check, type Sequence, type Variable } from "./types";

/** Return a value with its secrets empty; placeholders stay. */
export function emptied(value: Json): Json {
  return mapSecrets(value, (_, text) => (hasPlaceholder(text) ? text : ""));
}

/** Whether what is expected has no password or token; with a placeholder in its place it has none. */
export function isKeepable({ path, value }: Pick<Check, "path" | "value">): boolean {
  return isOpen(lastName(path), value);
}

/** Whether a value under a name has no password or token. */
export function isOpen(name: string, value: Json): boolean {
  const given: Json = { [name]: value };
  return isSame(emptied(given), given);
}

/** Return a request with secret variables in place of its secrets, and the variables with those. */
export function asVariables(request: ActRequest, before: readonly Variable[]): [ActRequest, Variable[]] {
  const variables = [...before];
  const set = replaced(request.set, variables) as ActRequest["set"];
  return [{ ...request, set }, variables];
}

/** Return a sequence whose secrets are all in secret variables. */
export function withSecretsApart(sequence: Sequence): Sequence {
  const variables = sequence.variables.map((one) => ({ ...one, secret: one.secret || !isOpen(one.name, one.value) }));
  const steps = sequence.steps.map((step) => {
    const set = replaced(step.request.set, variables) as ActRequest["set"];
    const checks = step.checks.map((check) => checkApart(check, variables));
    return { ...step, request: { ...step.request, set }, checks };
  });
  return { ...sequence, variables, steps };
}

function checkApart(check: Check, variables: Variable[]): Check {
  const name = lastName(check.path);
  const { [name]: value = null } = replaced({ [name]: check.value }, variables) as Record<string, Json>;
  return { ...check, value };
}

/** Return a value with placeholders for its secrets; variables for them are added. */
function replaced(value: Json, variables: Variable[]): Json {
  return mapSecrets(value, (field, text) => {
    if (hasPlaceholder(text)) return text;
    const known = variables.find((one) => one.secret && one.value === text);
    if (known) return `{{${known.name}}}`;
    const taken = variables.map((one) => one.name);
    const name = freeName(field.replace(/\W/g, "_"), taken, "_");
    variables.push({ id: newId(), name, value: text, secret: true });
    return `{{${name}}}`;
  });
}

function hasPlaceholder(text: string): boolean {
  return new RegExp(PLACEHOLDER).test(text);
}

function lastName(path: string): string {
  return String(parsePath(path).findLast((step) => typeof step === "string") ?? "");
}

/** Passwords and tokens that are written out in a sequence become secret variables of it. Pure. */

import { isObject, isSame, type Json } from "../json";
import { freeName } from "../library/names";
import { isSecretName, mapSecrets } from "../library/secrets";
import { PLACEHOLDER } from "../state/fill";
import type { ActRequest } from "../state/request";
import { emptySecrets } from "./blanks";
import { parsePath } from "./path";
import { newId, type Check, type Sequence, type Variable } from "./types";
import { namesOf } from "./variable-names";

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

/** Return a request with secret variables of a sequence in place of its secrets, and the variables with those. */
export function asVariables(request: ActRequest, sequence: Sequence): [ActRequest, Variable[]] {
  const names = new Names(sequence);
  const set = replaced(request.set, names) as ActRequest["set"];
  return [{ ...request, set }, names.variables];
}

/** Return a sequence whose secrets are all in secret variables; those too that are empty, unless that is meant. */
export function withSecretsApart(sequence: Sequence): Sequence {
  const named = sequence.variables.map((one) => ({ ...one, secret: one.secret || !isOpen(one.name, one.value) }));
  const names = new Names({ ...sequence, variables: named });
  const steps = sequence.steps.map((step) => {
    const blank = emptySecrets(step.request.set, "set").filter((path) => !step.empty.includes(path));
    const set = replaced(filled(step.request.set, "set", blank, names), names) as ActRequest["set"];
    const checks = step.checks.map((check) => checkApart(check, names));
    return { ...step, request: { ...step.request, set }, checks };
  });
  return { ...sequence, variables: names.variables, steps };
}

/** The variables of a sequence, which become more. */
class Names {
  readonly variables: Variable[];
  readonly #taken: string[];

  constructor(sequence: Sequence) {
    this.variables = [...sequence.variables];
    this.#taken = namesOf(sequence);
  }

  /** Return the placeholder of a new secret variable. */
  add(field: string, value: string): string {
    const name = freeName(field.replace(/\W/g, "_").replace(/^(?=\d)/, "_"), this.#taken, "_");
    this.#taken.push(name);
    this.variables.push({ id: newId(), name, value, secret: true });
    return `{{${name}}}`;
  }
}

function checkApart(check: Check, names: Names): Check {
  const name = lastName(check.path);
  const { [name]: value = null } = replaced({ [name]: check.value }, names) as Record<string, Json>;
  return { ...check, value };
}

/** Return a value with placeholders for its secrets; variables for them are added. */
function replaced(value: Json, names: Names): Json {
  return mapSecrets(value, (field, text) => {
    if (hasPlaceholder(text)) return text;
    const known = names.variables.find((one) => one.secret && one.value === text);
    return known ? `{{${known.name}}}` : names.add(field, text);
  });
}

/** Return a value with placeholders of new variables at paths where nothing is. */
function filled(value: Json, path: string, blank: readonly string[], names: Names): Json {
  if (blank.includes(path)) return names.add(path.split(".").findLast(isSecretName) ?? "secret", "");
  if (Array.isArray(value)) return value.map((inner, at) => filled(inner, `${path}.${at}`, blank, names));
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([name, inner]) => [name, filled(inner, `${path}.${name}`, blank, names)]);
  return Object.fromEntries(entries) as Json;
}

function hasPlaceholder(text: string): boolean {
  return new RegExp(PLACEHOLDER).test(text);
}

function lastName(path: string): string {
  return String(parsePath(path).findLast((step) => typeof step === "string") ?? "");
}

/** Empty texts that most often were forgotten: passwords are not kept over a reload. Pure. */

import type { Act, Json, JsonObject } from "../catalog";
import { isObject, own } from "../json";
import { isSecretName } from "../library/secrets";
import { emptyTexts } from "../state/empty";
import type { Values } from "../state/fill";
import type { ActRequest } from "../state/request";
import type { Sequence, SequenceStep } from "./types";
import { aloneIn, mapTexts, usedIn } from "./variable-names";

export interface Blank {
  /** The id of the step that would send it, its number and name. */
  step: string;
  number: number;
  title: string;
  /** Where in its request: `set.password`; empty for a variable that has no value. */
  path: string;
  /** The variable that has no value; empty for a field. */
  variable: string;
  /** Whether the variable is one of the environment. */
  isGiven: boolean;
  /** Whether it is a password or token: the exported test asks for it. */
  isSecret: boolean;
}

type SpecOf = (request: ActRequest) => Act | undefined;

/** Return what would be sent empty though nobody said so. `given` are values that stand in where the sequence has none. */
export function blanksOf({ variables, steps }: Sequence, specOf: SpecOf, given: Values): Blank[] {
  const known = new Map([...given, ...variables.map(({ name, value }): [string, Json] => [name, value])]);
  const isSecret = (name: string) => variables.find((one) => one.name === name)?.secret ?? isSecretName(name);
  const told = new Set<string>();
  return steps.flatMap((step, at) => {
    for (const { name } of steps[at - 1]?.captures ?? []) known.delete(name); // It has the captured value from here on.
    const one = { step: step.id, number: at + 1, title: step.name, path: "", variable: "", isGiven: false };
    const unset = textsOf(step).filter((name) => known.get(name) === "" && isSecret(name) && !told.has(name));
    unset.forEach((name) => told.add(name));
    const ofVariables = [...new Set(unset)].map((variable) => {
      return { ...one, variable, isSecret: true, isGiven: !variables.some(({ name }) => name === variable) };
    });
    const sent = mapTexts(step.request.set, (text) => emptyOr(text, known, isSecret)) as JsonObject;
    const secrets = emptySecrets(sent, "set");
    const required = emptyTexts(specOf(step.request)?.set, sent, "set").filter((path) => fieldAt(sent, path) !== undefined);
    const paths = [...new Set([...required, ...secrets])].filter((path) => !step.empty.includes(path));
    return [...ofVariables, ...paths.map((path) => ({ ...one, path, isSecret: secrets.includes(path) }))];
  });
}

function textsOf({ request, token, checks }: SequenceStep): string[] {
  return usedIn([request.set, request.get, token, ...checks.map(({ value }) => value)]);
}

/** A text, or an empty one where it stands for a variable that is empty; a secret variable is told of by its name. */
function emptyOr(text: string, known: Values, isSecret: (name: string) => boolean): string {
  const name = aloneIn(text);
  return name !== undefined && known.get(name) === "" && !isSecret(name) ? "" : text;
}

/** The paths of empty texts below names of passwords and tokens, whether they must be there or not. */
export function emptySecrets(value: Json, path: string, isWithin = false): string[] {
  if (value === "") return isWithin ? [path] : [];
  if (!isObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => emptySecrets(inner, `${path}.${name}`, isWithin || isSecretName(name)));
}

/** What is at a path such as `set.users.0.name`; undefined where there is nothing. */
export function fieldAt(set: Json, path: string): Json | undefined {
  let found: Json | undefined = set;
  for (const name of path.split(".").slice(1)) found = isObject(found) || Array.isArray(found) ? own(found as JsonObject, name) : undefined;
  return found;
}

/** Texts of a sequence that can be used once only, such as the e-mail address of a new user. Pure. */

import type { Json } from "../catalog";
import { isObject } from "../json";
import { freeName } from "../library/names";
import { isAdding } from "./shapes";
import { newId, type Sequence } from "./types";
import { mapTexts, namesOf, usedIn } from "./variable-names";

export interface Fixed {
  number: number;
  title: string;
  /** The name of the field. */
  field: string;
  text: string;
  /** What may stand in its place. */
  generated: string;
}

/** What must be unique by its name, and what makes another one each time. */
const UNIQUE: readonly (readonly [RegExp, string])[] = [
  [/^e_?mail|_e?mail$|[a-z]Email$/i, "{{$email}}"],
  [/^(user_?name|login|nick_?name|slug|code|sku|uuid)$/i, "{{$uuid}}"],
];

/** Return the texts written out in steps that add something: run twice, they may be refused. */
export function fixedTexts({ steps }: Sequence): Fixed[] {
  return steps.flatMap(({ name, request, expect }, at) => {
    if (!isAdding(request) || !expect.success) return [];
    return textsIn(request.set).flatMap(([field, text]) => {
      const generated = UNIQUE.find(([pattern]) => pattern.test(field))?.[1];
      return generated && text && usedIn(text).length === 0 ? [{ number: at + 1, title: name, field, text, generated }] : [];
    });
  });
}

function textsIn(value: Json): [field: string, text: string][] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => (typeof inner === "string" ? [[name, inner] as [string, string]] : textsIn(inner)));
}

/** Return a sequence that makes a text anew in each run, in that step and all others; a repeated step makes it each time. */
export function withGenerated(sequence: Sequence, { number, field, text, generated }: Fixed): Sequence {
  const step = sequence.steps[number - 1];
  const isRepeated = step !== undefined && step.repeat > 1;
  const name = freeName(field.replace(/\W/g, "_"), namesOf(sequence), "_");
  const written = isRepeated ? generated : `{{${name}}}`;
  const put = (value: Json) => mapTexts(value, (one) => (one === text ? written : one));
  const steps = sequence.steps.map((one, at) => {
    if (isRepeated && at !== number - 1) return one;
    const set = put(one.request.set) as typeof one.request.set;
    return { ...one, request: { ...one.request, set }, checks: one.checks.map((check) => ({ ...check, value: put(check.value) })) };
  });
  const added = isRepeated ? [] : [{ id: newId(), name, value: generated, secret: false }];
  return { ...sequence, steps, variables: [...sequence.variables, ...added] };
}

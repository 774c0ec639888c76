/** The names of a sequence's variables and captures, and their uses. Pure. */

import { isObject, type Json } from "../json";
import { PLACEHOLDER } from "../state/fill";
import { VARIABLE_NAME, type Sequence, type StepToken } from "./types";

/** All names that a sequence gives, in order; one that is given twice stands twice. */
export function namesOf({ variables, steps }: Sequence): string[] {
  return [...variables, ...steps.flatMap(({ captures }) => captures)].map(({ name }) => name);
}

/** Return why a variable or capture that is called `now` cannot be called so; empty where it can. */
export function problemOfName(name: string, now: string, sequence: Sequence): string {
  if (!VARIABLE_NAME.test(name)) return "Letters, digits and _ only.";
  const others = namesOf(sequence);
  others.splice(others.indexOf(now), 1);
  return others.includes(name) ? "Another variable or capture is called so." : "";
}

/** Return the names that stand between braces in a value. */
export function usedIn(value: Json): string[] {
  if (typeof value === "string") return Array.from(value.matchAll(new RegExp(PLACEHOLDER, "g")), ([, name]) => name as string);
  if (Array.isArray(value)) return value.flatMap(usedIn);
  return isObject(value) ? Object.values(value).flatMap(usedIn) : [];
}

/** Return the name of the variable that a text is nothing but; undefined where it is something else. */
export function aloneIn(text: Json | undefined): string | undefined {
  return typeof text === "string" ? new RegExp(`^${PLACEHOLDER}$`).exec(text)?.[1] : undefined;
}

/** Return a value in which each text is what `edit` makes of it. */
export function mapTexts(value: Json, edit: (text: string) => string): Json {
  if (typeof value === "string") return edit(value);
  if (Array.isArray(value)) return value.map((inner) => mapTexts(inner, edit));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, edit)])) as Json;
}

/** Return a sequence that uses a name in place of another one; where that is given twice, it stays as it is. */
export function withUsesRenamed(sequence: Sequence, before: string, name: string): Sequence {
  if (namesOf(sequence).filter((one) => one === before).length > 1) return sequence;
  const rename = (text: string) =>
    text.replace(new RegExp(PLACEHOLDER, "g"), (whole, used: string) => (used === before ? whole.replace(before, name) : whole));
  const edited = <T extends Json>(value: T) => mapTexts(value, rename) as T;
  return {
    ...sequence,
    variables: sequence.variables.map((one) => ({ ...one, value: edited(one.value) })),
    steps: sequence.steps.map((step) => ({
      ...step,
      request: { ...step.request, set: edited(step.request.set), get: edited(step.request.get) },
      token: rename(step.token) as StepToken,
      checks: step.checks.map((one) => ({ ...one, value: edited(one.value) })),
    })),
  };
}

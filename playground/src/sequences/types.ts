/** Sequences: requests in an order, with values that go from one to the next. */

import type { Json } from "../catalog";
import type { ActRequest } from "../state/request";
import { hex } from "../state/fill";

export interface Variable {
  /** Unique, here and below; not in files. */
  id: string;
  name: string;
  /** May hold generated values; they are made once, when the sequence begins. */
  value: Json;
  /** Its value is in no file: it is typed in, and the exported test reads it from the environment. */
  secret: boolean;
}

export interface Capture {
  id: string;
  name: string;
  /** Where in the reply: `body.user._id`. */
  path: string;
}

/** A value that a reply must have. */
export interface Check {
  id: string;
  path: string;
  /** May have placeholders. */
  value: Json;
}

/** Whose token a step sends: the page's own, none, or `{{name}}`. A token itself is never written down. */
export type StepToken = "current" | "none" | `{{${string}}}`;

export interface SequenceStep {
  id: string;
  name: string;
  request: ActRequest;
  repeat: number;
  token: StepToken;
  captures: Capture[];
  checks: Check[];
  /** Where its request has an empty text on purpose: `set.password`. */
  empty: string[];
  /** What the reply must be; a status of null is any. */
  expect: { success: boolean; status: number | null };
}

export interface Sequence {
  /** Unique, in this browser. */
  id: string;
  /** When it was begun, in milliseconds since 1970: their order. */
  created: number;
  name: string;
  variables: Variable[];
  steps: SequenceStep[];
  /** Whether a step that fails ends the run. */
  stopOnFailure: boolean;
}

export const MOST_STEPS = 200;
export const MOST_REPEATS = 1000;
export const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,39}$/;

/** Return a step that sends a request once, as it is. */
export function stepOf(request: ActRequest, name: string): SequenceStep {
  return {
    id: newId(),
    name,
    request,
    repeat: 1,
    token: "current",
    captures: [],
    checks: [],
    empty: [],
    expect: { success: true, status: null },
  };
}

export function newId(): string {
  return hex(8);
}

export function emptySequence(): Sequence {
  return { id: newId(), created: Date.now(), name: "Sequence", variables: [], steps: [], stopOnFailure: true };
}

/** Return a sequence as another one: its own id, and those of all in it, are new. */
export function renewed(sequence: Sequence): Sequence {
  const { variables, steps } = sequence;
  return {
    ...sequence,
    id: newId(),
    created: Date.now(),
    variables: variables.map((one) => ({ ...one, id: newId() })),
    steps: steps.map(renewedStep),
  };
}

export function renewedStep(step: SequenceStep): SequenceStep {
  const fresh = <T extends { id: string }>(all: readonly T[]) => all.map((one) => ({ ...one, id: newId() }));
  return { ...step, id: newId(), captures: fresh(step.captures), checks: fresh(step.checks) };
}

/** The sequences of this browser, the one that is edited, and its run. */

import { computed, effect, signal } from "@preact/signals";
import { stringify, type Json } from "../json";
import { mapSecrets, withoutSecrets } from "../library/secrets";
import { Unreadable } from "../library/reading";
import { freeName } from "../library/names";
import { keep, load, putDraft, send, type ActRequest, type Drafts } from "../state";
import { portable, readSequence } from "./files";
import { PLACEHOLDER } from "./fill";
import { run, type Report } from "./run";
import { emptySequence, newId, stepOf, type Sequence, type SequenceStep, type Variable } from "./types";

export const sequences = signal<Sequence[]>(readKept());
const chosen = signal(0);
/** What is written in steps and is not valid, by their ids: the sequence does not run then. */
export const drafts = signal<Drafts>(new Map());
export const report = signal<Report | null>(null);
export const problem = signal("");
const running = signal<AbortController | null>(null);

export const current = computed<Sequence>(() => sequences.value[chosen.value] ?? emptySequence());
export const isRunning = computed(() => running.value !== null);

effect(() => {
  keep("sequences", sequences.value.map(portable));
});

function readKept(): Sequence[] {
  const kept = load<unknown>("sequences", []);
  const read = Array.isArray(kept) ? kept.flatMap(readOne) : [];
  return read.length > 0 ? read : [emptySequence()];
}

function readOne(value: unknown): Sequence[] {
  try {
    return [readSequence(value)];
  } catch {
    return []; // written by another version, or by hand
  }
}

/** Edit another sequence; a run ends. */
export function choose(at: number): void {
  stop();
  chosen.value = at;
  report.value = null;
  problem.value = "";
}

/** Add a sequence and choose it, under a name of its own; empty ones go. */
export function addSequence(sequence: Sequence): void {
  // The one that the page began with gives way.
  const others = sequences.value.filter(({ steps, variables }) => steps.length + variables.length > 0);
  const name = freeName(
    sequence.name,
    others.map((one) => one.name),
  );
  sequences.value = [...others, { ...sequence, name }];
  choose(sequences.value.length - 1);
}

export function removeCurrent(): void {
  const rest = sequences.value.filter((_, at) => at !== chosen.value);
  sequences.value = rest.length > 0 ? rest : [emptySequence()];
  choose(Math.max(0, chosen.value - 1));
}

export function change(part: Partial<Sequence>): void {
  sequences.value = sequences.value.map((one, at) => (at === chosen.value ? { ...one, ...part } : one));
}

export function changeStep(id: string, part: Partial<SequenceStep>): void {
  change({ steps: current.value.steps.map((step) => (step.id === id ? { ...step, ...part } : step)) });
}

/** Add a step; what looks like a password or token in it becomes a secret variable. */
export function addStep(request: ActRequest, name: string): void {
  const [safe, variables] = asVariables(request, current.value.variables);
  change({ steps: [...current.value.steps, stepOf(safe, name)], variables });
}

/** Make secret variables of the passwords that a step has as plain text. */
export function hideSecrets(step: SequenceStep): void {
  const [request, variables] = asVariables(step.request, current.value.variables);
  changeStep(step.id, { request });
  change({ variables });
}

function asVariables(request: ActRequest, before: Variable[]): [ActRequest, Variable[]] {
  const variables = [...before];
  const set = mapSecrets(request.set, (field, text) => {
    if (new RegExp(PLACEHOLDER).test(text)) return text;
    const known = variables.find(({ value, secret }) => secret && value === text);
    const name =
      known?.name ??
      freeName(
        field.replace(/\W/g, "_"),
        variables.map((one) => one.name),
        "_",
      );
    if (!known) variables.push({ id: newId(), name, value: text, secret: true });
    return `{{${name}}}`;
  });
  return [{ ...request, set: set as ActRequest["set"] }, variables];
}

/** Whether a step has a password or token as plain text: that is not kept. */
export function hasPlainSecret({ request }: SequenceStep): boolean {
  let found = false;
  mapSecrets(request.set, (_, text) => {
    found ||= !new RegExp(PLACEHOLDER).test(text);
    return text;
  });
  return found;
}

export function removeStep(id: string): void {
  putDraft(drafts, id, undefined);
  change({ steps: current.value.steps.filter((step) => step.id !== id) });
}

export function copyStep(id: string): void {
  change({ steps: current.value.steps.flatMap((step) => (step.id === id ? [step, copyOf(step)] : [step])) });
}

/** Whether a step of the current sequence is not valid: it is neither run nor written to a file then. */
export const isBroken = computed(() => current.value.steps.some(({ id }) => drafts.value.has(id)));

function copyOf(step: SequenceStep): SequenceStep {
  const id = newId();
  putDraft(drafts, id, drafts.value.get(step.id));
  return { ...step, id, captures: step.captures.map((one) => ({ ...one, id: newId() })) };
}

/** Move a step up (-1) or down (1). */
export function moveStep(id: string, by: -1 | 1): void {
  const steps = [...current.value.steps];
  const at = steps.findIndex((step) => step.id === id);
  const other = steps[at + by];
  if (!other) return;
  steps[at + by] = steps[at] as SequenceStep;
  steps[at] = other;
  change({ steps });
}

/** Run the current sequence; the report is told as it grows. */
export async function start(): Promise<void> {
  if (running.value || isBroken.value) return;
  const controller = new AbortController();
  running.value = controller;
  problem.value = "";
  report.value = null;
  try {
    report.value = await run(current.value, send, controller.signal, (now) => (report.value = now));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    problem.value = `${error.message}.`;
  } finally {
    running.value = null;
  }
}

export function stop(): void {
  running.value?.abort();
}

/** Return a report as a file's text, without passwords and tokens. */
export function writeReport({ steps, ...whole }: Report): string {
  const shown = steps.map(({ attempts, ...step }) => ({
    ...step,
    attempts: attempts.map(({ request, text: _, captured, ...one }) => ({
      ...one,
      request: request && { ...request, set: withoutSecrets(request.set) },
      captured: withoutSecrets(captured as Json),
    })),
  }));
  return stringify({ format: "gatewayfw-report", version: 1, ...whole, steps: shown }, 2) + "\n";
}

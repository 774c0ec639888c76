/** The sequences of this browser, and the one that is edited. */

import { batch, computed, effect, signal } from "@preact/signals";
import { stringify, type Json } from "../json";
import { readText as readName } from "../library/reading";
import { freeName } from "../library/names";
import { collection, keep, load, putDraft, type ActRequest } from "../state";
import { notify } from "../ui";
import { fieldAt } from "./blanks";
import { keepable, keepableRequest, readSequence } from "./files";
import { inRoleOfPage } from "./roles";
import { asVariables, isOpen } from "./secrets";
import { nameFrom } from "./shapes";
import { emptySequence, MOST_STEPS, newId, renewedStep, stepOf, type Sequence, type SequenceStep } from "./types";
import { namesOf, withUsesRenamed } from "./variable-names";
import { brokenVariable, copyDrafts, drafts, isBrokenStep } from "./written";

const kept = collection<Sequence>("sequence", {
  read: (value, id) => ({ ...readSequence(value), id }),
  write: keepable,
  merge,
  list: { name: "sequences", idOf: ({ id }) => id },
});
/** Why the browser does not keep all of them. */
export const refusal = kept.refusal;
/** The one that is begun but has nothing in it; it is kept from its first change on. */
const blank = signal(emptySequence());
const chosen = signal(load("sequence", (value) => readName(value, "sequence"), "session") ?? "");
/** The ids of the steps that are shown unfolded. */
export const unfolded = signal<ReadonlySet<string>>(new Set());

/** Those that the browser keeps, in the order in which they were begun. */
export const existing = computed(() =>
  [...kept.entries.value.values()].sort((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1)),
);
export const current = computed<Sequence>(() => {
  if (chosen.value === blank.value.id) return blank.value;
  return inRoleOfPage(kept.entries.value.get(chosen.value) ?? existing.value[0] ?? blank.value);
});
/** All of this browser, and the current one. */
export const sequences = computed<Sequence[]>(() =>
  existing.value.some(({ id }) => id === current.value.id) ? existing.value : [...existing.value, current.value],
);

effect(() => {
  keep("sequence", chosen.value, "session");
});

let last = current.value;
effect(() => {
  const now = current.value;
  if (now.id !== last.id && last.id === chosen.peek()) notify(`“${last.name}” was removed in another tab.`, { bad: true });
  last = now;
});

/** What another tab has written, with our passwords: those are not kept, so it has none. */
function merge(ours: Sequence, theirs: Sequence): Sequence {
  const variables = theirs.variables.map((one) => {
    const before = ours.variables.find(({ id }) => id === one.id);
    const isKept = !one.secret && isOpen(one.name, before?.value ?? null);
    return before && before.secret === one.secret && !isKept ? { ...one, value: before.value } : one;
  });
  const steps = theirs.steps.map((step) => {
    const before = ours.steps.find(({ id }) => id === step.id)?.request;
    const isSame = before && stringify(keepableRequest(before)) === stringify(step.request);
    return isSame ? { ...step, request: before } : step;
  });
  return { ...theirs, variables, steps };
}

/** Edit another sequence; a run ends. */
export function choose(id: string): void {
  chosen.value = id;
}

/** Show a step unfolded, or folded. */
export function unfold(id: string, isOpen = true): void {
  const next = new Set(unfolded.value);
  if (isOpen) next.add(id);
  else next.delete(id);
  unfolded.value = next;
}

/** Begin a sequence. */
export function begin(): void {
  blank.value = { ...emptySequence(), name: nameFor("Sequence") };
  choose(blank.value.id);
}

/** Add a sequence and choose it, under a name of its own. */
export function addSequence(sequence: Sequence): void {
  put({ ...sequence, name: nameFor(sequence.name) });
  choose(sequence.id);
}

function nameFor(name: string): string {
  return freeName(
    name,
    existing.value.map((one) => one.name),
  );
}

/** Remove the current sequence; it can be had back for some seconds. */
export function removeCurrent(): void {
  const gone = current.value;
  const { id } = gone;
  const at = existing.value.findIndex((one) => one.id === id);
  const next = existing.value[at - 1] ?? existing.value[at + 1];
  blank.value = emptySequence();
  choose(next?.id ?? blank.value.id);
  if (at < 0) return;
  kept.remove(id);
  const undo = () => {
    put(gone);
    choose(id);
  };
  notify(`“${gone.name}” removed.`, { undo });
}

/** Keep a sequence; the blank one is another one then. */
function put(sequence: Sequence): void {
  batch(() => {
    kept.put(sequence.id, sequence);
    if (sequence.id === blank.value.id) blank.value = emptySequence();
    chosen.value = sequence.id;
  });
}

export function change(part: Partial<Sequence>): void {
  const name = current.value.id === blank.value.id ? nameFor(current.value.name) : current.value.name;
  put({ ...current.value, name, ...part });
}

export function changeStep(id: string, part: Partial<SequenceStep>): void {
  change({ steps: current.value.steps.map((step) => (step.id === id ? changed(step, part) : step)) });
}

/** A step whose texts are meant to be empty only as long as they are. */
function changed(step: SequenceStep, part: Partial<SequenceStep>): SequenceStep {
  const next = { ...step, ...part };
  return part.request ? { ...next, empty: next.empty.filter((path) => fieldAt(next.request.set, path) === "") } : next;
}

/** Let a step send an empty text where it has one. */
export function meanEmpty(id: string, path: string): void {
  const step = current.value.steps.find((one) => one.id === id);
  if (step && !step.empty.includes(path)) changeStep(id, { empty: [...step.empty, path] });
}

/** Give a variable or capture another name, in all its uses too. */
export function rename(id: string, name: string): void {
  const { variables, steps } = current.value;
  const before = [...variables, ...steps.flatMap(({ captures }) => captures)].find((one) => one.id === id);
  if (!before || before.name === name) return;
  const used = withUsesRenamed(current.value, before.name, name);
  const named = <T extends { id: string }>(all: readonly T[]) => all.map((one) => (one.id === id ? { ...one, name } : one));
  change({ variables: named(used.variables), steps: used.steps.map((step) => ({ ...step, captures: named(step.captures) })) });
}

/** Add a step; what looks like a password or token in it becomes a secret variable. Gives its number; 0 where there is no room. */
export function addStep(request: ActRequest, name: string): number {
  if (current.value.steps.length >= MOST_STEPS) {
    notify(`${MOST_STEPS} steps are the most: begin another sequence.`, { bad: true });
    return 0;
  }
  const [safe, variables] = asVariables(request, current.value);
  const step = stepOf(safe, name);
  unfold(step.id);
  change({ steps: [...current.value.steps, step], variables });
  return current.value.steps.length;
}

/** The last step that sends just this, else a new one. Without an id where there is no room. */
export function stepOfRequest(request: ActRequest, name: string): { id: string | undefined; number: number } {
  const [safe] = asVariables(request, current.value);
  const at = current.value.steps.findLastIndex((step) => stringify(step.request) === stringify(safe));
  const number = at < 0 ? addStep(request, name) : at + 1;
  return { id: current.value.steps[number - 1]?.id, number };
}

/** Make secret variables of the passwords that a step has as plain text. */
export function hideSecrets(step: SequenceStep): void {
  const [request, variables] = asVariables(step.request, current.value);
  changeStep(step.id, { request });
  change({ variables });
}

/** Whether a step has a password or token as plain text: that is not kept. */
export function hasPlainSecret({ request }: SequenceStep): boolean {
  return !isOpen("set", request.set);
}

/** Remove a step; it can be had back for some seconds. */
export function removeStep(id: string): void {
  const { id: sequence, steps } = current.value;
  const at = steps.findIndex((step) => step.id === id);
  const gone = steps[at];
  if (!gone) return;
  const draft = drafts.value.get(id);
  putDraft(drafts, id, undefined);
  change({ steps: steps.filter((step) => step.id !== id) });
  const undo = () => {
    choose(sequence);
    putDraft(drafts, id, draft);
    const now = current.value.steps;
    change({ steps: [...now.slice(0, at), gone, ...now.slice(at)] });
  };
  notify(`${gone.name} removed.`, { undo });
}

/** Tell what was removed from the current sequence; `back` puts it back into it, as it is then. */
export function undoable(what: string, back: () => void): void {
  const { id } = current.value;
  const undo = () => {
    if (current.value.id !== id) choose(id);
    back();
  };
  notify(what, { undo });
}

/** A list in which one that was at a place before is there again. */
export function putBack<T>(all: readonly T[], at: number, one: T): T[] {
  return [...all.slice(0, at), one, ...all.slice(at)];
}

/** Remove a variable; it can be had back for some seconds. */
export function removeVariable(id: string): void {
  const { variables } = current.value;
  const at = variables.findIndex((one) => one.id === id);
  const gone = variables[at];
  if (!gone) return;
  change({ variables: variables.filter((one) => one !== gone) });
  undoable(`Variable ${gone.name} removed.`, () => change({ variables: putBack(current.value.variables, at, gone) }));
}

/** Remove a capture or a check of a step; it can be had back for some seconds. */
export function removePart(step: string, part: "captures" | "checks", id: string, what: string): void {
  const of = () => current.value.steps.find((one) => one.id === step)?.[part] as { id: string }[] | undefined;
  const all = of() ?? [];
  const at = all.findIndex((one) => one.id === id);
  const gone = all[at];
  if (!gone) return;
  changeStep(step, { [part]: all.filter((one) => one !== gone) });
  undoable(`${what} removed.`, () => changeStep(step, { [part]: putBack(of() ?? [], at, gone) }));
}

/** Let later steps have a value of a step's reply, under a name of its own; gives the name. */
export function addCapture(id: string, path: string): string {
  const step = current.value.steps.find((one) => one.id === id);
  if (!step) return "";
  const name = freeName(nameFrom(step.request, path), namesOf(current.value), "_");
  changeStep(id, { captures: [...step.captures, { id: newId(), name, path }] });
  return name;
}

/** Expect a value of a step's reply. */
export function addCheck(id: string, path: string, value: Json): void {
  const step = current.value.steps.find((one) => one.id === id);
  if (!step) return;
  const others = step.checks.filter((one) => one.path !== path);
  changeStep(id, { checks: [...others, { id: newId(), path, value }] });
}

export function copyStep(id: string): void {
  change({ steps: current.value.steps.flatMap((step) => (step.id === id ? [step, copyOf(step)] : [step])) });
}

/** The number of the first step of the current sequence that is not valid; 0 for none. */
export const brokenStep = computed(() => current.value.steps.findIndex(isBrokenStep) + 1);
/** Whether something in the current sequence is not valid: it is neither run nor written to a file then. */
export const isBroken = computed(() => brokenStep.value > 0 || brokenVariable(current.value) !== undefined);

function copyOf(step: SequenceStep): SequenceStep {
  const copy = renewedStep(step);
  copyDrafts(step, copy);
  return copy;
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

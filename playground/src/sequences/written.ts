/** What is written in sequences and is not valid: nothing else is sent in its place. It outlives a reload of this tab. */

import { effect, signal, type Signal } from "@preact/signals";
import { readPlain } from "../library/reading";
import { isSecretName } from "../library/secrets";
import { firstDraft, keep, load, putDraft, type Drafts } from "../state";
import { notify } from "../ui";
import type { Sequence, SequenceStep } from "./types";

const NAME = "sequence-drafts";
/** From the last change to when it is kept, in milliseconds; leaving the page does not wait. */
const PAUSE = 300;

const before = load(NAME, read, "session");

/** The JSON of steps, by their ids. */
export const drafts = signal<Drafts>(before?.steps ?? new Map());
/** Fields beside the request, by `fieldKey`. */
export const fieldDrafts = signal<Drafts>(before?.fields ?? new Map());
const ofForms = signal<ReadonlyMap<string, Signal<Drafts>>>(new Map(before?.forms.map(([id, texts]) => [id, signal(texts)])));

if (before?.isLost) notify("Invalid JSON that names a password or token was not stored.", { bad: true });

/** What is written in the form of a step, by path. */
export function formDrafts(id: string): Signal<Drafts> {
  const known = ofForms.peek().get(id) ?? signal<Drafts>(new Map());
  if (!ofForms.peek().has(id)) ofForms.value = new Map(ofForms.peek()).set(id, known);
  return known;
}

/** The key of a field of a step, check, capture or variable. */
export function fieldKey(id: string, field: string): string {
  return `${id}.${field}`;
}

/** The id of a variable in which something is not valid; undefined for none. */
export function brokenVariable({ variables }: Sequence): string | undefined {
  return variables.find(({ id }) => hasField([id]))?.id;
}

/** Whether something in a step is not valid. */
export function isBrokenStep({ id, checks, captures }: SequenceStep): boolean {
  const inForm = firstDraft(ofForms.value.get(id)?.value ?? new Map()) !== undefined;
  return inForm || drafts.value.has(id) || hasField([id, ...[...checks, ...captures].map((one) => one.id)]);
}

function hasField(ids: readonly string[]): boolean {
  return [...fieldDrafts.value.keys()].some((key) => ids.includes(key.split(".")[0] as string));
}

/** Let the copy of a step have what is written in the step. */
export function copyDrafts(step: SequenceStep, copy: SequenceStep): void {
  putDraft(drafts, copy.id, drafts.value.get(step.id));
  formDrafts(copy.id).value = formDrafts(step.id).value;
  const parts = ({ id, checks, captures }: SequenceStep) => [id, ...[...checks, ...captures].map((one) => one.id)];
  const copies = parts(copy);
  for (const [at, id] of parts(step).entries())
    for (const [key, text] of fieldDrafts.value)
      if (key.startsWith(`${id}.`)) putDraft(fieldDrafts, `${copies[at]}${key.slice(id.length)}`, text);
}

/** Whether a text that cannot be read as JSON may have a password or token in it; variables and numbers are none. */
function namesSecret(text: string): boolean {
  const rest = text.replace(/"[^"\\]*"\s*:\s*("(\{\{[^{}"\\]*\}\})?"|-?\d+|true|false|null)(?=\s*[,}\]])/g, "");
  return rest.split(/\W+/).some(isSecretName);
}

function written(): object | undefined {
  const open = (all: Drafts) => [...all].filter(([path, text]) => !namesSecret(`${path} ${text}`));
  const all = [drafts.value, ...[...ofForms.value.values()].map((one) => one.value)];
  const isLost = all.some((one) => open(one).length < one.size);
  const forms = [...ofForms.value].map(([id, one]): [string, object] => [id, Object.fromEntries(open(one.value))]);
  const kept = forms.filter(([, texts]) => Object.keys(texts).length > 0);
  const isEmpty = fieldDrafts.value.size === 0 && all.every(({ size }) => size === 0);
  if (isEmpty) return undefined;
  return { steps: Object.fromEntries(open(drafts.value)), fields: Object.fromEntries(fieldDrafts.value), forms: Object.fromEntries(kept), isLost };
}

function read(value: unknown): { steps: Drafts; fields: Drafts; forms: [string, Drafts][]; isLost: boolean } {
  const { steps, fields, forms, isLost } = readPlain(value, NAME);
  const texts = (given: unknown): Drafts =>
    new Map(Object.entries(readPlain(given, NAME)).filter((one): one is [string, string] => typeof one[1] === "string"));
  const ofEach = Object.entries(readPlain(forms, NAME)).map(([id, one]): [string, Drafts] => [id, texts(one)]);
  return { steps: texts(steps), fields: texts(fields), forms: ofEach, isLost: isLost === true };
}

let timer = 0;
const write = () => {
  clearTimeout(timer);
  timer = 0;
  keep(NAME, written(), "session");
};
effect(() => {
  [drafts.value, fieldDrafts.value, ...[...ofForms.value.values()].map((one) => one.value)];
  timer ||= window.setTimeout(write, PAUSE);
});
addEventListener("pagehide", () => timer && write());

/** A sequence as a JSON file: `{"format": "gatewayfw-sequence", "version": 1, "name", "variables", "steps", ...}`. */

import { stringify, type Json } from "../json";
import type { ActRequest } from "../state/request";
import { readFormat } from "../library/files";
import { Unreadable, readList, readPlain, readRequest, readText } from "../library/reading";
import { parsePath } from "./path";
import { emptied, isKeepable, isOpen, withSecretsApart } from "./secrets";
import {
  MOST_REPEATS,
  MOST_STEPS,
  VARIABLE_NAME,
  newId,
  renewed,
  type Capture,
  type Check,
  type Sequence,
  type SequenceStep,
  type StepToken,
  type Variable,
} from "./types";

const FORMAT = "gatewayfw-sequence";
const MOST_NAMES = 100;

/** Return the text of a file; it holds no value of a secret variable, and variables in place of passwords and tokens. */
export function writeSequence(sequence: Sequence): string {
  return stringify({ format: FORMAT, version: 1, ...portable(withSecretsApart(sequence)) }, 2) + "\n";
}

/** Return a sequence without the values of secret variables, and without passwords and tokens: as it is kept. */
export function keepable(sequence: Sequence): Sequence {
  const { variables, steps } = sequence;
  return {
    ...sequence,
    variables: variables.map((one) => (one.secret || !isOpen(one.name, one.value) ? { ...one, value: "" } : one)),
    steps: steps.map((step) => ({ ...step, request: keepableRequest(step.request), checks: step.checks.filter(isKeepable) })),
  };
}

/** Return a request without the passwords and tokens that are written out in it; placeholders stay. */
export function keepableRequest(request: ActRequest): ActRequest {
  return { ...request, set: emptied(request.set) as ActRequest["set"] };
}

function portable(sequence: Sequence): object {
  const { name, stopOnFailure, variables, steps } = keepable(sequence);
  return {
    name,
    stopOnFailure,
    variables: variables.map(withoutId),
    steps: steps.map(withoutId).map(({ captures, checks, empty, ...step }) => ({
      ...step,
      captures: captures.map(withoutId),
      ...(empty.length > 0 && { empty }),
      ...(checks.length > 0 && { checks: checks.map(withoutId) }),
    })),
  };
}

function withoutId<T extends { id: string }>({ id: _, ...rest }: T): Omit<T, "id"> {
  return rest;
}

/** Return the sequence of a file's text. Throws `Unreadable`. */
export function parseSequence(text: string): Sequence {
  return renewed(readSequence(readFormat(text, FORMAT)));
}

/** Return a sequence that was read from outside, or kept: then it has ids. Throws `Unreadable`. */
export function readSequence(value: unknown): Sequence {
  const given = readPlain(value, "sequence");
  return {
    id: readId(given.id),
    created: typeof given.created === "number" ? given.created : 0,
    name: readText(given.name, "name"),
    stopOnFailure: given.stopOnFailure !== false,
    variables: readList(given.variables ?? [], "variables", MOST_NAMES).map(readVariable),
    steps: readList(given.steps, "steps", MOST_STEPS).map(readStep),
  };
}

function readVariable(value: unknown, at: number): Variable {
  const where = `variables.${at}`;
  const given = readPlain(value, where);
  return {
    id: readId(given.id),
    name: readName(given.name, `${where}.name`),
    value: (given.value ?? null) as Json,
    secret: given.secret === true,
  };
}

function readStep(value: unknown, at: number): SequenceStep {
  const where = `steps.${at}`;
  const given = readPlain(value, where);
  const expect = readPlain(given.expect ?? {}, `${where}.expect`);
  return {
    id: readId(given.id),
    name: readText(given.name, `${where}.name`),
    request: readRequest(given.request, `${where}.request`),
    repeat: readWhole(given.repeat ?? 1, `${where}.repeat`, 1, MOST_REPEATS),
    token: readToken(given.token ?? "current", `${where}.token`),
    captures: readList(given.captures ?? [], `${where}.captures`, MOST_NAMES).map((one, index) =>
      readCapture(one, `${where}.captures.${index}`),
    ),
    checks: readList(given.checks ?? [], `${where}.checks`, MOST_NAMES).map((one, index) =>
      readCheck(one, `${where}.checks.${index}`),
    ),
    empty: readList(given.empty ?? [], `${where}.empty`, MOST_NAMES).map((one, index) => readText(one, `${where}.empty.${index}`)),
    expect: {
      success: expect.success !== false,
      status: expect.status == null ? null : readWhole(expect.status, `${where}.expect.status`, 100, 599),
    },
  };
}

function readCapture(value: unknown, where: string): Capture {
  const given = readPlain(value, where);
  return { id: readId(given.id), name: readName(given.name, `${where}.name`), path: readPath(given.path, `${where}.path`) };
}

function readCheck(value: unknown, where: string): Check {
  const given = readPlain(value, where);
  return { id: readId(given.id), path: readPath(given.path, `${where}.path`), value: (given.value ?? null) as Json };
}

function readPath(value: unknown, where: string): string {
  const path = readText(value, where);
  parsePath(path);
  return path;
}

function readId(value: unknown): string {
  return value === undefined ? newId() : readText(value, "id");
}

function readName(value: unknown, where: string): string {
  const name = readText(value, where);
  if (!VARIABLE_NAME.test(name)) throw new Unreadable(`${where}: expected letters, digits and _`);
  return name;
}

function readToken(value: unknown, where: string): StepToken {
  const isName = typeof value === "string" && /^\{\{[A-Za-z_][A-Za-z0-9_]{0,39}\}\}$/.test(value);
  if (value !== "current" && value !== "none" && !isName) {
    throw new Unreadable(`${where}: expected current, none or a variable such as {{token}}`);
  }
  return value as StepToken;
}

function readWhole(value: unknown, where: string, least: number, most: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw new Unreadable(`${where}: expected a whole number from ${least} to ${most}`);
  }
  return value;
}

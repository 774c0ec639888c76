/** Runs a sequence and says how it went. */

import { isSame, stringify, type Json } from "../json";
import { Unreadable } from "../library/reading";
import type { ActRequest, Failure, Reply } from "../state/request";
import { fill, type Values } from "../state/fill";
import { parsePath, valueAt } from "./path";
import type { Sequence, SequenceStep } from "./types";

/** One request of a run. */
export interface Attempt {
  /** Which repetition, from 0. */
  index: number;
  /** Why it failed or was not sent; empty when it was as expected. */
  problem: string;
  isSent: boolean;
  status: number;
  ms: number;
  bytes: number;
  /** What was sent, filled in; null when it could not be. */
  request: ActRequest | null;
  /** The reply; of a long run, only of the first and the failed ones. */
  text: string;
  /** What was captured. */
  captured: Record<string, Json>;
  /** The check or capture that found something else. */
  missed?: Missed;
}

/** What a check or capture found in place of what it wanted. */
export interface Missed {
  id: string;
  /** As it was then. */
  path: string;
  value?: Json;
  /** Undefined for nothing. */
  found: Json | undefined;
}

/** A check or capture of a step that missed in its last run, unless it was changed since. */
export function missedBy({ id, path, value }: { id: string; path: string; value?: Json }, report: StepReport | undefined): Missed | undefined {
  const found = report?.attempts.find(({ missed }) => missed?.id === id)?.missed;
  return found && found.path === path && (value === undefined || isSame(found.value, value)) ? found : undefined;
}

export interface StepReport {
  /** Of the step that it tells of. */
  id: string;
  name: string;
  repeat: number;
  attempts: Attempt[];
}

export interface Report {
  name: string;
  state: "running" | "done" | "stopped";
  steps: StepReport[];
  total: number;
  sent: number;
  failed: number;
  /** Those that could not be sent: they neither failed nor passed. */
  unsent: number;
  ms: number;
}

export type Outcome = "running" | "stopped" | "failed" | "incomplete" | "passed";

export function outcomeOf({ state, failed, unsent }: Report): Outcome {
  if (state !== "done") return state;
  if (failed > 0) return "failed";
  return unsent > 0 ? "incomplete" : "passed";
}

/** The first attempt that was not as expected, with its step. */
export function firstProblem({ steps }: Report): { step: StepReport; number: number; problem: string } | undefined {
  for (const [at, step] of steps.entries()) {
    const found = step.attempts.find(({ problem }) => problem);
    if (found) return { step, number: at + 1, problem: found.problem };
  }
  return undefined;
}

/** Sends a request; `token` undefined is the page's own, empty is none. */
export type Send = (request: ActRequest, signal: AbortSignal, token: string | undefined) => Promise<Reply>;

/** All replies that are kept, in characters. */
const LONGEST_TEXTS = 5_000_000;
/** Least time between two tellings of progress, in milliseconds. */
const EVERY = 80;

/**
 * Run a sequence, telling of its progress; ends early when `signal` says so, or a step failed.
 *
 * `given` are values that its own variables and captures come before, such as those of an environment.
 *
 * Throws `Unreadable` when a variable of the sequence cannot be filled in.
 */
export async function run(
  sequence: Sequence,
  send: Send,
  signal: AbortSignal,
  onProgress: (report: Report) => void,
  given: Values = new Map(),
): Promise<Report> {
  const start = performance.now();
  let report = begun(sequence);
  let told = 0;
  const values = new Map<string, Json>(given);
  let room = LONGEST_TEXTS;
  for (const { name, value } of sequence.variables) values.set(name, fill(value, values));
  onProgress(report);
  for (const [at, step] of sequence.steps.entries()) {
    for (let index = 0; index < step.repeat && !signal.aborted; index++) {
      const attempt = await attemptOf(step, values.set("$index", index), index, send, signal);
      if (signal.aborted) break;
      room -= attempt.text.length;
      if (room < 0 && !attempt.problem) attempt.text = "";
      report = grown(report, at, attempt, performance.now() - start);
      if (report.ms > told + EVERY) onProgress(report);
      told = report.ms > told + EVERY ? report.ms : told;
      if (attempt.problem && sequence.stopOnFailure) return { ...report, state: "done" };
    }
  }
  return { ...report, ms: performance.now() - start, state: signal.aborted ? "stopped" : "done" };
}

function begun({ name, steps }: Sequence): Report {
  return {
    name,
    state: "running",
    steps: steps.map((step) => ({ id: step.id, name: step.name, repeat: step.repeat, attempts: [] })),
    total: steps.reduce((sum, { repeat }) => sum + repeat, 0),
    sent: 0,
    failed: 0,
    unsent: 0,
    ms: 0,
  };
}

/** A new report: what shows one compares objects, not what is in them. */
function grown(report: Report, at: number, attempt: Attempt, ms: number): Report {
  return {
    ...report,
    steps: report.steps.map((step, index) =>
      index === at ? { ...step, attempts: [...step.attempts, attempt] } : step,
    ),
    sent: report.sent + (attempt.isSent ? 1 : 0),
    failed: report.failed + (attempt.isSent && attempt.problem ? 1 : 0),
    unsent: report.unsent + (attempt.isSent ? 0 : 1),
    ms,
  };
}

async function attemptOf(
  step: SequenceStep,
  values: Map<string, Json>,
  index: number,
  send: Send,
  signal: AbortSignal,
): Promise<Attempt> {
  const attempt: Attempt = { index, problem: "", isSent: false, status: 0, ms: 0, bytes: 0, request: null, text: "", captured: {} };
  try {
    attempt.request = fill(step.request as unknown as Json, values) as unknown as ActRequest;
    const token = tokenOf(step, values);
    const reply = await send(attempt.request, signal, token);
    attempt.isSent = reply.sentHeaders !== undefined;
    attempt.status = reply.status;
    attempt.ms = reply.ms;
    attempt.bytes = reply.bytes;
    attempt.text = reply.text;
    attempt.problem = judge(step, reply) || check(step, reply, values, attempt);
    if (!attempt.problem) attempt.captured = capture(step, reply, values, attempt);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    attempt.problem = error.message;
  }
  return attempt;
}

function tokenOf({ token }: SequenceStep, values: Map<string, Json>): string | undefined {
  if (token === "current") return undefined;
  if (token === "none") return "";
  const value = fill(token, values);
  if (typeof value !== "string") throw new Unreadable(`${token} is not a text, so it cannot be the token`);
  return value;
}

function judge({ expect }: SequenceStep, { envelope, error, status }: Reply): string {
  if (!envelope) return error ?? "There is no reply.";
  const message = envelope.success ? "" : `: ${messageOf(envelope.body)}`;
  if (envelope.success !== expect.success) {
    return `Expected ${expect.success ? "success" : "a refusal"}, got status ${status}${message}`;
  }
  if (expect.status !== null && status !== expect.status) {
    return `Expected status ${expect.status}, got ${status}${message}`;
  }
  return "";
}

/** What a refusal says, and the errors by path that it does not say already. */
function messageOf({ message, errors = {} }: Failure): string {
  const more = Object.entries(errors).map(([path, texts]) => `${path}: ${texts.join(" ")}`);
  return [message, ...more.filter((one) => !message.includes(one))].join("; ");
}

/** Return what is otherwise than it must be; empty for nothing. */
function check({ checks }: SequenceStep, { envelope }: Reply, values: Map<string, Json>, attempt: Attempt): string {
  for (const { id, path, value } of checks) {
    const expected = fill(value, values);
    const found = valueAt(envelope as unknown as Json, parsePath(path));
    if (isSame(found, expected)) continue;
    attempt.missed = { id, path, value, found };
    return `Expected ${stringify(expected)} at ${path}, got ${found === undefined ? "nothing" : stringify(found)}${typeof found === "string" && typeof expected !== "string" ? " (a text)" : ""}`;
  }
  return "";
}

function capture({ captures }: SequenceStep, reply: Reply, values: Map<string, Json>, attempt: Attempt): Record<string, Json> {
  const found = captures.map(({ id, name, path }): [string, Json] => {
    const value = valueAt(reply.envelope as unknown as Json, parsePath(path));
    if (value === undefined) {
      attempt.missed = { id, path, found: value };
      throw new Unreadable(`Nothing to capture at ${path}`);
    }
    return [name, value];
  });
  for (const [name, value] of found) values.set(name, value);
  return Object.fromEntries(found);
}

/** Durations of a step's requests that were as expected, in milliseconds. */
export interface Durations {
  best: number;
  worst: number;
  mean: number;
}

export function durationsOf({ attempts }: StepReport): Durations | null {
  const all = attempts.filter(({ problem }) => !problem).map(({ ms }) => ms);
  if (all.length === 0) return null;
  return {
    best: Math.min(...all),
    worst: Math.max(...all),
    mean: all.reduce((sum, ms) => sum + ms, 0) / all.length,
  };
}

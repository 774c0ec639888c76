/** The runs of sequences, and what holds one back. */

import { computed, effect, signal } from "@preact/signals";
import { stringify, type Json } from "../json";
import { withoutSecrets } from "../library/secrets";
import { Unreadable } from "../library/reading";
import { environmentValues, send, specOf } from "../state";
import { blanksOf } from "./blanks";
import { run, type Report, type StepReport } from "./run";
import { current, isBroken } from "./store";

/** Of each sequence that ran in this page, the last one, by its id. */
export const reports = signal<ReadonlyMap<string, Report>>(new Map());
/** Of the current sequence. */
export const report = computed(() => reports.value.get(current.value.id));
/** Why the current sequence cannot begin. */
export const problem = signal("");
/** What was held back because texts are empty; it is told as long as they are. */
export const heldBack = signal<"" | "run" | "export">("");
const running = signal<AbortController | null>(null);
export const isRunning = computed(() => running.value !== null);

/** What the current sequence would send empty though nobody said so. */
export const blanks = computed(() => blanksOf(current.value, specOf, environmentValues()));

let shown = current.value.id;
effect(() => {
  if (current.value.id === shown) return;
  shown = current.value.id;
  running.peek()?.abort();
  problem.value = "";
  heldBack.value = "";
});

/** How the last run of a step went. */
export function reportOf(step: string): StepReport | undefined {
  return report.value?.steps.find(({ id }) => id === step);
}

/** Run the current sequence, unless something in it is empty; the report is told as it grows. */
export async function start(): Promise<void> {
  if (running.value || isBroken.value) return;
  problem.value = "";
  heldBack.value = blanks.value.length > 0 ? "run" : "";
  if (heldBack.value) return;
  const controller = new AbortController();
  const sequence = current.value;
  const tell = (now: Report) => void (reports.value = new Map(reports.value).set(sequence.id, now));
  running.value = controller;
  try {
    tell(await run(sequence, send, controller.signal, tell, environmentValues()));
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
  const shown = steps.map(({ attempts, id: _id, ...step }) => ({
    ...step,
    attempts: attempts.map(({ request, text: _, missed: _missed, captured, ...one }) => ({
      ...one,
      request: request && { ...request, set: withoutSecrets(request.set) },
      captured: withoutSecrets(captured as Json),
    })),
  }));
  return stringify({ format: "gatewayfw-report", version: 1, ...whole, steps: shown }, 2) + "\n";
}

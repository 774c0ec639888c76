/** Brings a part of a sequence into sight. */

import { brokenStep, current, unfold } from "./store";

export function elementOf(step: string): Element | null {
  return document.querySelector(`[data-step="${CSS.escape(step)}"]`);
}

/** Show a step below the head, at what was not as it must be. */
export function showStep(id: string): void {
  unfold(id);
  requestAnimationFrame(() => {
    const step = elementOf(id);
    const field = step?.querySelector<HTMLElement>("[role=group].sequences-row [aria-invalid=true]");
    if (field) field.scrollIntoView({ block: "center" });
    else step?.scrollIntoView({ block: "start" });
    field?.focus({ preventScroll: true });
  });
}

/** Let the user write what is not valid. */
export function showBroken(): void {
  const step = current.value.steps[brokenStep.value - 1];
  if (step) unfold(step.id);
  const variables = document.querySelector<HTMLDetailsElement>(".sequences-variables");
  if (!step && variables) variables.open = true;
  requestAnimationFrame(() => {
    const within = step ? elementOf(step.id) : variables;
    const field = within?.querySelector<HTMLElement>("[aria-invalid=true], .cm-content");
    (field ?? within)?.scrollIntoView({ block: "center" });
    field?.focus();
  });
}

/** Let the user write a new check or capture. */
export function focusPart(id: string): void {
  requestAnimationFrame(() => {
    const row = document.querySelector(`[data-part="${CSS.escape(id)}"]`);
    const field = row?.querySelector<HTMLInputElement>("input");
    row?.scrollIntoView({ block: "nearest" });
    field?.focus({ preventScroll: true });
    field?.select();
  });
}

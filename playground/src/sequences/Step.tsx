/** One step of a sequence. */

import { useState } from "preact/hooks";
import type { JsonObject } from "../catalog";
import { JsonEditor } from "../editor";
import { leaveRow } from "../library/focus";
import { isObject, parse, stringify } from "../json";
import { titleOf } from "../library/reading";
import { openRequest } from "../state";
import { Badge, Button, Field, Icon, IconButton } from "../ui";
import { Captures } from "./Captures";
import { changeStep, copyStep, current, hasPlainSecret, hideSecrets, moveStep, removeStep, setBroken } from "./store";
import { MOST_REPEATS, type SequenceStep, type StepToken } from "./types";

export interface StepProps {
  step: SequenceStep;
  at: number;
  count: number;
}

export function Step({ step, at, count }: StepProps) {
  const [open, setOpen] = useState(false);
  const number = at + 1;
  const remove = (event: Event) => {
    leaveRow(event);
    removeStep(step.id);
  };
  return (
    <li class="sequences-step">
      <div class="library-line">
        <button type="button" class="library-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          <span class="muted">{number}.</span>
          <span class="library-title">{step.name}</span>
          {step.repeat > 1 && <Badge>{step.repeat} times</Badge>}
        </button>
        <span class="library-facts mono">{titleOf(step.request)}</span>
        <span class="library-acts">
          <IconButton
            small
            icon="up"
            label={`Move step ${number} up`}
            disabled={at === 0}
            onClick={() => moveStep(step.id, -1)}
          />
          <IconButton
            small
            icon="down"
            label={`Move step ${number} down`}
            disabled={number === count}
            onClick={() => moveStep(step.id, 1)}
          />
          <IconButton small icon="copy" label={`Duplicate step ${number}`} onClick={() => copyStep(step.id)} />
          <IconButton small icon="remove" label={`Remove step ${number}`} onClick={remove} />
        </span>
      </div>
      {open && <Body step={step} number={number} />}
    </li>
  );
}

function Body({ step, number }: { step: SequenceStep; number: number }) {
  return (
    <div class="sequences-body">
      <div class="sequences-row">
        <Field label="Name" class="grow">
          {(ids) => (
            <input
              {...ids}
              value={step.name}
              maxLength={200}
              onInput={(event) => event.currentTarget.value && changeStep(step.id, { name: event.currentTarget.value })}
            />
          )}
        </Field>
        <Repeat step={step} />
        <Token step={step} />
        <Expect step={step} />
      </div>
      <Details step={step} number={number} />
      {hasPlainSecret(step) && (
        <p class="sequences-warning">
          A password or token stands here as plain text; it is not kept.{" "}
          <Button small onClick={() => hideSecrets(step)}>
            Make it a secret variable
          </Button>
        </p>
      )}
      <Captures step={step} />
      <div class="row">
        <Button small onClick={() => openRequest(step.request)}>
          Open in a tab
        </Button>
      </div>
    </div>
  );
}

function Repeat({ step }: { step: SequenceStep }) {
  return (
    <Field label="Repeat">
      {(ids) => (
        <input
          {...ids}
          class="sequences-number"
          type="number"
          min={1}
          max={MOST_REPEATS}
          value={step.repeat}
          onInput={(event) => {
            const repeat = Math.trunc(event.currentTarget.valueAsNumber);
            if (repeat >= 1 && repeat <= MOST_REPEATS) changeStep(step.id, { repeat });
          }}
        />
      )}
    </Field>
  );
}

function Token({ step }: { step: SequenceStep }) {
  const { variables, steps } = current.value;
  const names = [...variables, ...steps.flatMap(({ captures }) => captures)].map(({ name }) => `{{${name}}}`);
  const choices = [...new Set([...names, ...(step.token.startsWith("{{") ? [step.token] : [])])];
  return (
    <Field label="Token">
      {(ids) => (
        <select
          {...ids}
          value={step.token}
          onChange={(event) => changeStep(step.id, { token: event.currentTarget.value as StepToken })}
        >
          <option value="current">the page's</option>
          <option value="none">none</option>
          {choices.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

function Expect({ step: { id, expect } }: { step: SequenceStep }) {
  return (
    <>
      <Field label="Expect">
        {(ids) => (
          <select
            {...ids}
            value={expect.success ? "yes" : "no"}
            onChange={(event) =>
              changeStep(id, { expect: { ...expect, success: event.currentTarget.value === "yes" } })
            }
          >
            <option value="yes">success</option>
            <option value="no">a refusal</option>
          </select>
        )}
      </Field>
      <Field label="Status">
        {(ids) => (
          <input
            {...ids}
            class="sequences-number"
            type="number"
            min={100}
            max={599}
            placeholder="any"
            value={expect.status ?? ""}
            onInput={(event) => {
              const status = event.currentTarget.valueAsNumber;
              const isOne = Number.isInteger(status) && status >= 100 && status <= 599;
              if (isOne || event.currentTarget.value === "")
                changeStep(id, { expect: { ...expect, status: isOne ? status : null } });
            }}
          />
        )}
      </Field>
    </>
  );
}

/** `set` and `get` as JSON; the step takes them over while they are such. */
function Details({ step, number }: { step: SequenceStep; number: number }) {
  const given = stringify({ set: step.request.set, get: step.request.get }, 2);
  const [draft, setDraft] = useState<{ text: string; of: string } | null>(null);
  const problem = draft ? problemOf(draft.text) : "";
  // A draft that was taken over stays as it is written; another value, set from elsewhere, replaces it.
  const text = draft && (problem || draft.of === given) ? draft.text : given;
  const edit = (next: string) => {
    const wrong = problemOf(next);
    setBroken(step.id, wrong !== "");
    if (wrong) return setDraft({ text: next, of: given });
    const { set, get } = parse(next) as { set: JsonObject; get: JsonObject };
    setDraft({ text: next, of: stringify({ set, get }, 2) });
    changeStep(step.id, { request: { ...step.request, set, get } });
  };
  return (
    <div class="sequences-details">
      <p class="field-label">
        <b>set and get</b>
      </p>
      <JsonEditor label={`set and get of step ${number}`} value={text} onChange={edit} />
      <p class="sequences-problem" role="alert">
        {problem}
      </p>
    </div>
  );
}

function problemOf(text: string): string {
  try {
    const value = parse(text);
    const isRight = isObject(value) && isObject(value.set) && isObject(value.get) && Object.keys(value).length === 2;
    return isRight ? "" : "Expected an object with the objects set and get, and nothing else.";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

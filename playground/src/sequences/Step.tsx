/** One step of a sequence. */

import { useState } from "preact/hooks";
import { leaveRow } from "../library/focus";
import { titleOf } from "../library/reading";
import { CallName, GivenName } from "../request/mark";
import { firstDraft, openRequest } from "../state";
import { Badge, Button, Field, Icon, IconButton, once } from "../ui";
import { beginCapture, Captures } from "./Captures";
import { beginCheck, Checks } from "./Checks";
import { Replies, Result } from "./Replies";
import { reportOf } from "./runs";
import { StepForm } from "./StepForm";
import { problemOfRepeat, problemOfStatus } from "./numbers";
import { changeStep, copyStep, current, hasPlainSecret, hideSecrets, moveStep, removeStep, unfold, unfolded } from "./store";
import type { SequenceStep, StepToken } from "./types";
import { WrittenField } from "./WrittenField";
import { drafts, formDrafts, isBrokenStep } from "./written";
import "./step.css";

export interface StepProps {
  step: SequenceStep;
  at: number;
  count: number;
}

export function Step({ step, at, count }: StepProps) {
  const [isAnswered, setAnswered] = useState(false);
  const open = unfolded.value.has(step.id);
  const number = at + 1;
  const hasOwnName = step.name !== titleOf(step.request);
  const report = reportOf(step.id);
  const hasRun = report !== undefined && report.attempts.length > 0;
  const problem = report?.attempts.find((one) => one.problem)?.problem;
  const remove = (event: Event) => {
    leaveRow(event);
    removeStep(step.id);
  };
  return (
    <li class="sequences-step" data-step={step.id}>
      <div class="sequences-line">
        <button type="button" class="library-fold" aria-expanded={open} onClick={() => unfold(step.id, !open)}>
          <Icon name={open ? "down" : "right"} />
          <span class="sequences-at">{number}.</span>
          <span class="library-title"><GivenName name={step.name} request={step.request} /></span>
          {hasOwnName && (
            <span class="library-facts sequences-act">
              <CallName {...step.request} />
            </span>
          )}
          {isBrokenStep(step) && <Badge look="bad">not valid</Badge>}
          {step.repeat > 1 && <Badge>{step.repeat} times</Badge>}
        </button>
        {problem && <p class="sequences-problem">{problem}</p>}
        <span class="sequences-end">
          <span class="sequences-acts">
            <IconButton small icon="up" label={`Move step ${number} up`} disabled={at === 0} onClick={() => moveStep(step.id, -1)} />
            <IconButton
              small
              icon="down"
              label={`Move step ${number} down`}
              disabled={number === count}
              onClick={() => moveStep(step.id, 1)}
            />
            <IconButton small icon="copy" label={`Duplicate step ${number}`} onClick={() => copyStep(step.id)} />
            <IconButton small icon="remove" label={`Remove step ${number}`} onClick={once(remove)} />
          </span>
          {hasRun && <Result report={report} number={number} isOpen={isAnswered} onToggle={() => setAnswered(!isAnswered)} />}
        </span>
      </div>
      {hasRun && isAnswered && <Replies report={report} step={step} />}
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
              onBlur={(event) => void (event.currentTarget.value ||= step.name)}
            />
          )}
        </Field>
        <Repeat step={step} />
        <Token step={step} />
        <Expect step={step} />
      </div>
      <StepForm step={step} number={number} />
      {hasPlainSecret(step) && (
        <p class="sequences-warning">
          A password or token stands here as plain text; it is not kept.{" "}
          <Button small onClick={() => hideSecrets(step)}>
            Make it a secret variable
          </Button>
        </p>
      )}
      <Checks step={step} />
      <Captures step={step} />
      <div class="row">
        <Button small icon="add" onClick={() => beginCheck(step)}>
          Expect a value in the reply
        </Button>
        <Button small icon="add" onClick={() => beginCapture(step)}>
          Capture a value of the reply
        </Button>
        <Button small look="quiet" disabled={drafts.value.has(step.id) || firstDraft(formDrafts(step.id).value) !== undefined} onClick={() => openRequest(step.request)}>
          Open in a tab
        </Button>
      </div>
    </div>
  );
}

function Repeat({ step: { id, repeat } }: { step: SequenceStep }) {
  return (
    <WrittenField
      id={id}
      field="repeat"
      label="Repeat"
      class="sequences-number"
      input={{ inputMode: "numeric" }}
      now={String(repeat)}
      problemOf={problemOfRepeat}
      onChange={(text) => changeStep(id, { repeat: Number(text) })}
    />
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
      <WrittenField
        id={id}
        field="status"
        label="Status"
        class="sequences-number"
        input={{ inputMode: "numeric", placeholder: "any" }}
        now={expect.status === null ? "" : String(expect.status)}
        problemOf={problemOfStatus}
        onChange={(text) => changeStep(id, { expect: { ...expect, status: text.trim() ? Number(text) : null } })}
      />
    </>
  );
}

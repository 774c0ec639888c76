/** One step of a sequence. */

import { useState } from "preact/hooks";
import { JsonEditor } from "../editor";
import { DraftsContext, OfferContext, UndoContext, useTyped } from "../form";
import { leaveRow } from "../library/focus";
import { titleOf } from "../library/reading";
import { readDetails, textOf } from "../request/details";
import { GetPart, SetPart } from "../request/parts";
import { openRequest, putDraft, specOf, type ActRequest } from "../state";
import { Badge, Button, Field, Icon, IconButton, once, Tabs } from "../ui";
import { beginCapture, Captures } from "./Captures";
import { beginCheck, Checks } from "./Checks";
import { changeStep, copyStep, current, drafts, formDrafts, hasPlainSecret, hideSecrets, lastAdded, moveStep, removeStep, undoable } from "./store";
import { MOST_REPEATS, type SequenceStep, type StepToken } from "./types";
import "../form/form.css";

export interface StepProps {
  step: SequenceStep;
  at: number;
  count: number;
}

export function Step({ step, at, count }: StepProps) {
  const [open, setOpen] = useState(lastAdded.value === step.id);
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
        {step.name !== titleOf(step.request) && <span class="library-facts">{titleOf(step.request)}</span>}
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
          <IconButton small icon="remove" label={`Remove step ${number}`} onClick={once(remove)} />
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
      <Edited step={step} number={number} />
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
        <Button small look="quiet" disabled={drafts.value.has(step.id)} onClick={() => openRequest(step.request)}>
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

const SHOWN = [
  { key: "form", label: "Form" },
  { key: "json", label: "JSON" },
] as const;

/** The most captures that an id field offers. */
const MOST_OFFERS = 6;

/** `set` and `get` as a form, where the act is known, or as JSON; what is not valid in one of them locks the other. */
function Edited({ step, number }: { step: SequenceStep; number: number }) {
  const spec = specOf(step.request);
  const written = formDrafts(step.id);
  const [chosen, setShown] = useState<"form" | "json">(drafts.value.has(step.id) ? "json" : "form");
  const shown = drafts.value.has(step.id) ? "json" : written.value.size > 0 ? "form" : chosen;
  if (!spec) return <Details step={step} number={number} />;
  const change = (part: Partial<Pick<ActRequest, "set" | "get">>) => {
    const now = current.value.steps.find(({ id }) => id === step.id) ?? step;
    changeStep(step.id, { request: { ...now.request, ...part } });
  };
  const before = current.value.steps.slice(0, number - 1).flatMap(({ captures }) => captures);
  const offers = [...new Set(before.map(({ name }) => `{{${name}}}`))].slice(-MOST_OFFERS);
  return (
    <Tabs label={`How step ${number} is edited`} items={SHOWN} value={shown} onChange={setShown}>
      {shown === "json" ? (
        <Details step={step} number={number} />
      ) : (
        <DraftsContext.Provider value={written}>
          <UndoContext.Provider value={(what) => undoable(what, remembered(step))}>
            <OfferContext.Provider value={offers}>
            <div class="request-form" role="group" aria-label={`Form of step ${number}`}>
              <h3>Set</h3>
              <SetPart kind={spec.set} value={step.request.set} onChange={(set) => change({ set })} />
              <h3>Get</h3>
              <GetPart kind={spec.get} value={step.request.get} onChange={(get) => change({ get })} />
            </div>
            </OfferContext.Provider>
          </UndoContext.Provider>
        </DraftsContext.Provider>
      )}
    </Tabs>
  );
}

/** What puts back the request of a step as it is now. */
function remembered({ id, request }: SequenceStep): () => void {
  const written = formDrafts(id).value;
  return () => {
    changeStep(id, { request });
    formDrafts(id).value = written;
  };
}

/** `set` and `get` as JSON; the step takes them over while they are such. */
function Details({ step, number }: { step: SequenceStep; number: number }) {
  const [typed, setTyped] = useTyped(textOf(step.request));
  const draft = drafts.value.get(step.id);
  const said = draft === undefined ? "" : readDetails(draft);
  const edit = (next: string) => {
    const details = readDetails(next);
    putDraft(drafts, step.id, typeof details === "string" ? next : undefined);
    if (typeof details === "string") return;
    setTyped(next, textOf(details));
    changeStep(step.id, { request: { ...step.request, ...details } });
  };
  return (
    <div class="sequences-details">
      <p class="field-label">
        <b>set and get</b>
      </p>
      <JsonEditor label={`set and get of step ${number}`} value={draft ?? typed} onChange={edit} />
      <p class="sequences-problem" role="alert">
        {typeof said === "string" ? said : ""}
      </p>
    </div>
  );
}

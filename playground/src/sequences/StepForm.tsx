/** What a step sends, as a form or as JSON. */

import { useState } from "preact/hooks";
import type { Kind } from "../catalog";
import { JsonEditor } from "../editor";
import { DraftsContext, OfferContext, UndoContext, useTyped } from "../form";
import { readDetails, textOf } from "../request/details";
import { FIELDS_TO_RETURN, GetPart, SetHead, SetPart } from "../request/parts";
import { firstDraft, putDraft, specOf, type ActRequest } from "../state";
import { Tabs } from "../ui";
import { modelOfPath } from "./shapes";
import { changeStep, current, undoable } from "./store";
import type { SequenceStep } from "./types";
import { drafts, formDrafts } from "./written";
import "../form/form.css";

const SHOWN = [
  { key: "form", label: "Form" },
  { key: "json", label: "JSON" },
] as const;

/** The most captures that an id field offers. */
const MOST_OFFERS = 6;

const EMAIL = /^e_?mail$/i;

/** Return what offers, for a field, the captures of earlier steps that are ids of its model, or a generated value. */
function offersFor(before: readonly SequenceStep[]): (kind: Kind, name: string) => string[] {
  const captured = before.flatMap(({ request, captures }) =>
    captures.map(({ name, path }) => ({ text: `{{${name}}}`, model: modelOfPath(request, path) })),
  );
  return (kind, name) => {
    if (kind.kind === "email" || EMAIL.test(name)) return ["{{$email}}"];
    if (kind.kind !== "object_id" || !kind.of) return [];
    const fitting = captured.filter(({ model }) => model === kind.of);
    return [...new Set(fitting.map(({ text }) => text))].slice(-MOST_OFFERS);
  };
}

/** `set` and `get` as a form, where the act is known, or as JSON; what is not valid in one of them locks the other. */
export function StepForm({ step, number }: { step: SequenceStep; number: number }) {
  const spec = specOf(step.request);
  const written = formDrafts(step.id);
  const [chosen, setShown] = useState<"form" | "json">(drafts.value.has(step.id) ? "json" : "form");
  const shown = drafts.value.has(step.id) ? "json" : firstDraft(written.value) !== undefined ? "form" : chosen;
  if (!spec) return <Details step={step} number={number} />;
  const change = (part: Partial<Pick<ActRequest, "set" | "get">>) => {
    const now = current.value.steps.find(({ id }) => id === step.id) ?? step;
    changeStep(step.id, { request: { ...now.request, ...part } });
  };
  const offers = offersFor(current.value.steps.slice(0, number - 1));
  return (
    <Tabs label={`How step ${number} is edited`} items={SHOWN} value={shown} onChange={setShown}>
      {shown === "json" ? (
        <Details step={step} number={number} />
      ) : (
        <DraftsContext.Provider value={written}>
          <UndoContext.Provider value={(what) => undoable(what, remembered(step))}>
            <OfferContext.Provider value={offers}>
              <div class="request-form" role="group" aria-label={`Form of step ${number}`}>
                <SetHead kind={spec.set} />
                <SetPart kind={spec.set} value={step.request.set} onChange={(set) => change({ set })} />
                <GetPart heading={FIELDS_TO_RETURN} kind={spec.get} value={step.request.get} onChange={(get) => change({ get })} />
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

/** One request: its form, its JSON, what is known of the act, and the buttons. */

import { useMemo } from "preact/hooks";
import type { Act } from "../catalog";
import { JsonEditor } from "../editor";
import { DraftsContext, ErrorsContext, errorsOf, FilesContext, UndoContext, useTyped, WhoContext } from "../form";
import { showPaste } from "../account";
import { lazy } from "../lazy";
import { isRequestText } from "../paste/looks";
import { firstDraft, heldOf, isListing, putDraft, reasonNot, remember, sendTab, specOf, withoutStale, type ActRequest, type Tab } from "../state";
import { Button, Field, notify, Tabs } from "../ui";
import { kindOfDetails, readDetails, textOf } from "./details";
import { WithCode } from "../library/words";
import { ActFacts } from "./docs";
import { Held } from "./held";
import { ActName } from "./mark";
import { RequestMenu, SavedAs } from "./menu";
import { SendButton } from "./send";
import { FIELDS_TO_RETURN, GetPart, SetHead, SetPart } from "./parts";
import { Sender } from "./sender";

const About = lazy(() => import("./about").then((part) => part.About));
const Gone = lazy(() => import("./gone").then((part) => part.Gone));

const SHOWN = [
  { key: "form", label: "Form" },
  { key: "json", label: "JSON" },
  { key: "about", label: "About" },
] as const;

export function RequestPanel({ tab }: { tab: Tab }) {
  const part = tab.part.value;
  const request = tab.request.value;
  const spec = specOf(request);
  const held = heldOf(tab);
  const errors = useMemo(() => {
    const missing = Object.fromEntries((held?.empty ?? []).map((path) => [path, ["This is required."]]));
    return { ...missing, ...errorsOf(tab.reply.value, tab.sent.value, request) };
  }, [tab.reply.value, held, request]);
  const undoable = (what: string) => notify(what, { undo: remember(tab) });
  if (!spec)
    return (
      <section class="request" aria-label="Request">
        <Gone tab={tab} />
      </section>
    );
  const isLocked = Boolean(firstDraft(tab.drafts.value));
  const change = (next: Partial<ActRequest>) => void (tab.request.value = { ...tab.request.value, ...next });
  return (
    <section class="request" aria-label="Request">
      <div class="request-head">
        <div class="grow">
          <h2 class="act-name">
            <ActName {...request} />
          </h2>
          <SavedAs tab={tab} />
          <ActFacts spec={spec} tab={tab} />
          <Sender tab={tab} />
        </div>
        <div class="request-actions">
          <RequestMenu tab={tab} />
          <SendButton tab={tab} />
        </div>
      </div>
      <div class="request-said">
        {spec.description && <p class="request-description muted"><WithCode text={spec.description} /></p>}
      </div>
      <ErrorsContext.Provider value={errors}>
        <DraftsContext.Provider value={tab.drafts}>
        <FilesContext.Provider value={tab.files}>
        <UndoContext.Provider value={undoable}>
        <WhoContext.Provider value={tab.as.value}>
          <Tabs
            label="How the request is edited"
            class="request-tabs"
            items={SHOWN}
            value={part}
            onChange={(next) => void (tab.part.value = next)}
            lead={<Held tab={tab} />}
          >
            <Unfinished tab={tab} />
            {part === "form" && <Form spec={spec} tab={tab} onChange={change} />}
            {part === "json" && <JsonPart key={String(isLocked)} spec={spec} tab={tab} isLocked={isLocked} errors={errors} onChange={change} />}
            {part === "about" && <About spec={spec} tab={tab} />}
          </Tabs>
        </WhoContext.Provider>
        </UndoContext.Provider>
        </FilesContext.Provider>
        </DraftsContext.Provider>
      </ErrorsContext.Provider>
    </section>
  );
}

/** Where something not valid waits in another part than the one that is shown: leads there, or gives it up. */
function Unfinished({ tab }: { tab: Tab }) {
  const path = firstDraft(tab.drafts.value);
  const where = path === "" ? "json" : "form";
  if (path === undefined || tab.part.value === where) return null;
  return (
    <div class="request-unfinished row" role="alert">
      <span class="grow">{reasonNot(tab.drafts.value)}</span>
      <Button small onClick={() => void (tab.part.value = where)}>
        Go there
      </Button>
      <Button small onClick={() => discard(tab)}>
        Discard it
      </Button>
    </div>
  );
}

function discard(tab: Tab): void {
  const undo = remember(tab);
  tab.drafts.value = new Map();
  notify("Discarded.", { undo });
}

interface FormProps {
  spec: Act;
  tab: Tab;
  onChange: (next: Partial<ActRequest>) => void;
}

/** The form; it cannot show what is written as JSON and is not valid, and must not change what is below that. */
function Form({ spec, tab, onChange }: FormProps) {
  const request = tab.request.value;
  return (
    <fieldset class="request-form" disabled={tab.drafts.value.has("")} onKeyDown={(event) => sendFromPassword(event, tab)}>
      <legend class="sr-only">Form</legend>
      {spec.idempotent !== null && <Key tab={tab} />}
      <SetHead kind={spec.set} />
      <SetPart kind={spec.set} value={request.set} onChange={(set) => onChange({ set: isListing(spec) ? withoutStale(request.set, set) : set })} />
      <GetPart heading={FIELDS_TO_RETURN} kind={spec.get} value={request.get} onChange={(get) => onChange({ get })} />
    </fieldset>
  );
}

/** Of an act that answers a repeated key with its first reply. */
function Key({ tab }: { tab: Tab }) {
  return (
    <Field label="Idempotency-Key" aside="header" hint="Sent again with the same key, the act answers with its first reply.">
      {(ids) => (
        <div class="with-button">
          <input
            {...ids}
            class="mono"
            autocomplete="off"
            spellcheck={false}
            value={tab.key.value}
            onInput={(event) => void (tab.key.value = event.currentTarget.value)}
          />
          <Button small onClick={() => void (tab.key.value = newKey())}>
            New key
          </Button>
        </div>
      )}
    </Field>
  );
}

/** Random hex digits: `crypto.randomUUID` is not there on plain http. */
function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Send on Enter in a password, as log-in forms do. */
function sendFromPassword(event: KeyboardEvent, tab: Tab): void {
  const field = event.target;
  if (event.key !== "Enter" || event.repeat || event.ctrlKey || event.metaKey || event.isComposing) return;
  if (!(field instanceof HTMLInputElement) || field.dataset.password === undefined) return;
  event.preventDefault();
  void sendTab(tab);
}

interface JsonPartProps extends FormProps {
  /** Whether something in the form is not valid: it is not in this text, and would be lost. */
  isLocked: boolean;
  errors: Readonly<Record<string, readonly string[]>>;
}

const WITH_ID = ' Replies have _id unless get says "_id": 0.';

function JsonPart({ spec, tab, isLocked, errors, onChange }: JsonPartProps) {
  const request = tab.request.value;
  const draft = tab.drafts.value.get("");
  const [typed, setTyped] = useTyped(textOf(request));
  const text = draft ?? typed;
  const kind = useMemo(() => kindOfDetails(spec), [spec]);
  const marks = useMemo(() => Object.entries(errors).map(([path, texts]) => ({ path, texts })), [errors]);
  const type = (next: string) => {
    const said = readDetails(next);
    putDraft(tab.drafts, "", typeof said === "string" ? next : undefined);
    if (typeof said === "string") return;
    setTyped(next, textOf(said));
    onChange(said);
  };
  const problem = draft === undefined ? "" : readDetails(draft);
  return (
    <div class="request-json">
      <JsonEditor
        label="Details as JSON"
        value={text}
        kind={kind}
        errors={marks}
        readOnly={isLocked}
        onChange={type}
      />
      <div class="row small muted">
        <span class={problem ? "field-errors grow" : "grow"}>
          {problem ? `Not valid, so nothing is sent. ${problem}` : `Ctrl Space completes. The form shows the same.${spec.get.kind === "selection" ? WITH_ID : ""}`}
        </span>
        {draft !== undefined && isRequestText(draft) && (
          <Button
            small
            onClick={() => {
              discard(tab);
              showPaste(draft);
            }}
          >
            Open as a request
          </Button>
        )}
        <Button
          small
          look="quiet"
          disabled={problem !== "" || isLocked}
          onClick={() => setTyped(textOf(request), textOf(request))}
        >
          Format
        </Button>
      </div>
    </div>
  );
}

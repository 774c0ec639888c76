/** One request: its form, its JSON, what is known of the act, and the buttons. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Act, Json, JsonObject, Kind } from "../catalog";
import { JsonEditor } from "../editor";
import { ErrorsContext, errorsOf, Fields, ValueField } from "../form";
import { JsonField } from "../form/json";
import { isObject } from "../json";
import { lazy } from "../lazy";
import { ProjectionTree } from "../projection";
import { emptyRequest, sendTab, specOf, type ActRequest, type Tab } from "../state";
import { Button, Empty, IconButton, Menu, Tabs } from "../ui";
import { detailsOf, kindOfDetails, textOf } from "./details";
import { ActDocs, ActFacts, Prose } from "./docs";

const SaveDialog = lazy(() => import("../library/SaveDialog").then((part) => part.SaveDialog), "");
const SnippetsDialog = lazy(() => import("./snippets-dialog").then((part) => part.SnippetsDialog), "");

type Part = "form" | "json" | "about";
const PARTS = [
  { key: "form", label: "Form" },
  { key: "json", label: "JSON" },
  { key: "about", label: "About" },
] as const;

export function RequestPanel({ tab }: { tab: Tab }) {
  const [part, setPart] = useState<Part>("form");
  const request = tab.request.value;
  const spec = specOf(request);
  const errors = useMemo(() => errorsOf(tab.reply.value, tab.sent.value, request), [tab.reply.value, request]);
  if (!spec)
    return (
      <Empty icon="close" title="There is no such act">
        <code>
          {request.service} / {request.model} / {request.act}
        </code>
      </Empty>
    );
  const change = (next: Partial<ActRequest>) => void (tab.request.value = { ...tab.request.value, ...next });
  return (
    <section class="request" aria-label="Request">
      <div class="request-head">
        <div class="grow">
          <h2>
            <span class="muted">{request.model}</span> {request.act}
          </h2>
          <ActFacts spec={spec} />
        </div>
        <RequestMenu tab={tab} />
        <SendButton tab={tab} />
      </div>
      {spec.description && <p class="request-description muted"><Prose text={spec.description} /></p>}
      <ErrorsContext.Provider value={errors}>
        <Tabs label="How the request is edited" class="request-tabs" items={PARTS} value={part} onChange={setPart}>
          {part === "form" && <Form spec={spec} request={request} onChange={change} />}
          {part === "json" && <JsonPart spec={spec} request={request} errors={errors} onChange={change} />}
          {part === "about" && <ActDocs spec={spec} request={request} />}
        </Tabs>
      </ErrorsContext.Provider>
    </section>
  );
}

function SendButton({ tab }: { tab: Tab }) {
  const running = tab.running.value;
  if (running)
    return (
      <Button icon="stop" onClick={() => running.abort()}>
        Cancel
      </Button>
    );
  return (
    <Button look="primary" icon="play" title="Ctrl+Enter" onClick={() => void sendTab(tab)}>
      Send
    </Button>
  );
}

function RequestMenu({ tab }: { tab: Tab }) {
  const [dialog, setDialog] = useState<"" | "snippets" | "save">("");
  const request = tab.request.value;
  const share = async () => (await import("../library/share")).copyLink(request);
  return (
    <>
      <Menu
        label="More"
        icon="more"
        iconOnly
        items={[
          { label: "As code", icon: "code", onSelect: () => setDialog("snippets") },
          { label: "Save", icon: "save", onSelect: () => setDialog("save") },
          { label: "Copy a share link", icon: "share", onSelect: () => void share() },
          {
            label: "Begin anew",
            icon: "remove",
            onSelect: () => void (tab.request.value = emptyRequest(request, specOf(request))),
          },
        ]}
      />
      {dialog === "snippets" && <SnippetsDialog request={request} onClose={() => setDialog("")} />}
      {dialog === "save" && <SaveDialog request={request} onClose={() => setDialog("")} />}
    </>
  );
}

interface FormProps {
  spec: Act;
  request: ActRequest;
  onChange: (next: Partial<ActRequest>) => void;
}

function Form({ spec, request, onChange }: FormProps) {
  return (
    <div class="request-form">
      <h3>Set</h3>
      <SetPart kind={spec.set} value={request.set} onChange={(set) => onChange({ set })} />
      <h3>Get</h3>
      <GetPart kind={spec.get} value={request.get} onChange={(get) => onChange({ get })} />
    </div>
  );
}

interface PartProps {
  kind: Kind;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}

function SetPart({ kind, value, onChange }: PartProps) {
  if (kind.kind !== "object" || kind.fields === null)
    return (
      <JsonField
        kind={kind}
        name="set"
        path="set"
        value={value}
        onChange={(next: Json | undefined) => onChange(isObject(next) ? next : {})}
      />
    );
  const isEmpty = Object.keys(kind.fields).length === 0 && Object.keys(value).length === 0;
  if (isEmpty && !kind.open) return <p class="muted">Nothing to set.</p>;
  return <Fields kind={kind} path="set" value={value} onChange={onChange} />;
}

function GetPart({ kind, value, onChange }: PartProps) {
  if (kind.kind === "selection")
    return <ProjectionTree selection={kind} label="Fields" path="get" value={value} onChange={onChange} />;
  if (kind.kind === "object" && kind.fields && Object.keys(kind.fields).length === 0)
    return <p class="muted">Nothing to choose.</p>;
  if (kind.kind !== "object" || !kind.fields) return <SetPart kind={kind} value={value} onChange={onChange} />;
  const put = (name: string, inner: Json | undefined) => {
    const { [name]: _old, ...rest } = value;
    onChange(inner === undefined ? rest : { ...rest, [name]: inner });
  };
  return (
    <div class="fields">
      {Object.entries(kind.fields).map(([name, inner]) => {
        const path = `get.${name}`;
        const given = Object.hasOwn(value, name) ? value[name] : undefined;
        if (isFlag(inner))
          return (
            <label class="switch" key={name}>
              <input
                type="checkbox"
                data-path={path}
                checked={given === 1}
                onChange={(event) => put(name, event.currentTarget.checked ? 1 : undefined)}
              />
              <span class="value-name">{name}</span>
            </label>
          );
        return (
          <ValueField key={name} kind={inner} name={name} path={path} value={given} onChange={(next) => put(name, next)} />
        );
      })}
    </div>
  );
}

/** Whether it takes 1 and 0 only: a box says that better than a choice. */
function isFlag(kind: Kind): boolean {
  return kind.kind === "enums" && kind.choices.every((choice) => choice === 0 || choice === 1);
}

interface JsonPartProps extends FormProps {
  errors: Readonly<Record<string, readonly string[]>>;
}

function JsonPart({ spec, request, errors, onChange }: JsonPartProps) {
  const [text, setText] = useState(() => textOf(request));
  const kind = useMemo(() => kindOfDetails(spec), [spec]);
  const marks = useMemo(() => Object.entries(errors).map(([path, texts]) => ({ path, texts })), [errors]);
  useEffect(() => {
    const said = detailsOf(text);
    if (!said || textOf({ ...request, ...said }) !== textOf(request)) setText(textOf(request));
  }, [request]);
  const type = (next: string) => {
    setText(next);
    const said = detailsOf(next);
    if (said) onChange(said);
  };
  const isBroken = detailsOf(text) === undefined;
  return (
    <div class="request-json">
      <JsonEditor label="Details as JSON" value={text} kind={kind} errors={marks} onChange={type} />
      <div class="row small muted">
        <span role="status" class={isBroken ? "field-errors grow" : "grow"}>
          {isBroken
            ? "This is no JSON object with set and get (yet): what was there before is sent."
            : "Ctrl Space completes. The form shows the same."}
        </span>
        <IconButton
          small
          icon="list"
          label="Format"
          disabled={isBroken}
          onClick={() => setText(textOf({ ...request, ...detailsOf(text) }))}
        />
      </div>
    </div>
  );
}

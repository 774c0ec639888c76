/** All that is known of an act: who may call it, what it takes, an example, what comes back, and its errors. */

import type { ComponentChildren } from "preact";
import type { Act, Kind } from "../catalog";
import { Code } from "../code";
import { FieldTable } from "../explorer/fields";
import { nameOfKind } from "../form";
import { shapeOf } from "../reply/shape";
import { stringify } from "../json";
import { catalog, remember, type Tab } from "../state";
import { Button, CopyButton, notify, Table, type Column } from "../ui";
import { WithCode } from "../library/words";
import { exampleSet } from "./example";

/** A longer description may be cut off where the request is. */
const LONG = 140;

export function About({ spec, tab }: { spec: Act; tab: Tab }) {
  const request = tab.request.value;
  const description = spec.description ?? "";
  const fields = spec.set.kind === "object" ? (spec.set.fields ?? {}) : {};
  return (
    <div class="act-docs">
      {description.length > LONG && (
        <p class="act-description">
          <WithCode text={description} />
        </p>
      )}
      <dl>
        <Fact name="Path">
          <code>
            {request.service} / {request.model} / {request.act}
          </code>
        </Fact>
        <Fact name="Access">{accessText(spec)}</Fact>
        {spec.limit.length > 0 && <Fact name="Rate limit">{spec.limit.join(", ")}</Fact>}
        {spec.idempotent !== null && (
          <Fact name="Repeats">The same Idempotency-Key returns the first reply for {durationText(spec.idempotent)}</Fact>
        )}
        <Fact name="Mode">
          {spec.mode === "create" ? "Create: fills in defaults and converts text to values" : "Assert: takes values as they are sent"}
        </Fact>
        <Hooks name="Before validation" names={spec.hooks.preValidation} />
        <Hooks name="Before the act" names={spec.hooks.preAct} />
        <Fact name="Returns">{returned(spec.returns, true)}</Fact>
        <Fact name="Limit of get">
          {spec.maxGetDepth} levels, {spec.maxGetLeaves} fields
        </Fact>
      </dl>
      {Object.keys(fields).length > 0 && (
        <>
          <h3>Fields of set</h3>
          <FieldTable label="Fields of set" fields={fields} />
        </>
      )}
      <Example spec={spec} tab={tab} />
      <Shape spec={spec} tab={tab} />
      {spec.errors.length > 0 && (
        <>
          <h3>Errors</h3>
          <Table label="Errors" columns={ERRORS} rows={spec.errors} rowKey={({ code, message }) => `${code} ${message}`} />
        </>
      )}
    </div>
  );
}

const ERRORS: readonly Column<Act["errors"][number]>[] = [
  { key: "status", title: "Status", numeric: true, cell: ({ status }) => status },
  { key: "code", title: "Code", cell: ({ code }) => code && <code>{code}</code> },
  { key: "message", title: "Message", cell: ({ message }) => message },
];

function Example({ spec, tab }: { spec: Act; tab: Tab }) {
  const set = exampleSet(spec.set);
  if (Object.keys(set).length === 0) return null;
  const use = () => {
    const undo = remember(tab);
    tab.drafts.value = new Map();
    tab.request.value = { ...tab.request.value, set };
    tab.part.value = "form";
    notify("Example copied to the form.", { undo });
  };
  return (
    <>
      <h3>Example</h3>
      <pre class="act-example" tabIndex={0} role="region" aria-label="Example of set">
        <Code text={stringify(set, 2)} language="json" />
      </pre>
      <div class="row">
        <Button small icon="edit" onClick={use}>
          Use in form
        </Button>
        <CopyButton text={() => stringify(set, 2)} />
      </div>
    </>
  );
}

function Shape({ spec, tab }: { spec: Act; tab: Tab }) {
  const shape = catalog.value ? shapeOf(catalog.value, spec.returns, tab.request.value.get) : "";
  if (!shape) return null;
  return (
    <>
      <h3>Shape of the reply</h3>
      <pre class="act-example" tabIndex={0} role="region" aria-label="Shape of the reply for this get">
        {shape}
      </pre>
    </>
  );
}

function accessText({ access, roles }: Act): string {
  if (access === "rule") return roles ? roles.join(", ") : "Decided by an access rule";
  return access === "public" ? "Public" : "Anyone: no access rule is set";
}

const UNITS = [["day", 86_400], ["hour", 3600], ["minute", 60], ["second", 1]] as const;

function durationText(seconds: number): string {
  const [unit, length] = UNITS.find(([, one]) => seconds % one === 0) ?? UNITS[3];
  const count = seconds / length;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function Hooks({ name, names }: { name: string; names: string[] }) {
  if (!names.length) return null;
  return (
    <Fact name={name}>
      <code>{names.join(", ")}</code>
    </Fact>
  );
}

/** `isFirst`: whether a sentence begins with it. */
function returned(kind: Kind, isFirst = false): ComponentChildren {
  if (kind.kind === "documents") {
    const words = { one: `one ${kind.model}`, optional: `one ${kind.model} or null`, many: `a list of ${kind.model}` };
    const text = words[kind.type];
    return isFirst ? `${text.slice(0, 1).toUpperCase()}${text.slice(1)}` : text;
  }
  if (kind.kind !== "object" || !kind.fields) return kind.kind === "any" ? "Not declared" : nameOfKind(kind);
  return (
    <ul>
      {Object.entries(kind.fields).map(([name, part]) => (
        <li key={name}>
          <code>{name}</code>: {returned(part)}
          {"picked" in part && part.picked ? ", if selected in get" : ""}
        </li>
      ))}
    </ul>
  );
}

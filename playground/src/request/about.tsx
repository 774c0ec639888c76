/** All that is known of an act: who may call it, what it takes, an example, what comes back, and its errors. */

import type { ComponentChildren } from "preact";
import type { Act, Kind } from "../catalog";
import { FieldTable } from "../explorer/fields";
import { nameOfKind } from "../form";
import { shapeOf } from "../reply/shape";
import { stringify } from "../json";
import { catalog, remember, type Tab } from "../state";
import { Button, CopyButton, notify, Table, type Column } from "../ui";
import { Prose } from "./docs";
import { exampleSet } from "./example";

const ACCESS = {
  public: "Anyone: the act is declared public.",
  open: "Anyone: no access rule is set.",
  rule: "An access rule decides.",
};

export function About({ spec, tab }: { spec: Act; tab: Tab }) {
  const request = tab.request.value;
  const fields = spec.set.kind === "object" ? (spec.set.fields ?? {}) : {};
  return (
    <div class="act-docs">
      {spec.description ? <p class="act-description"><Prose text={spec.description} /></p> : <p class="muted">No description.</p>}
      <dl>
        <Fact name="Called as">
          <code>
            {request.service} / {request.model} / {request.act}
          </code>
        </Fact>
        <Fact name="Who may">
          {ACCESS[spec.access]} {spec.roles && `One of: ${spec.roles.join(", ")}.`}
        </Fact>
        <Fact name="How often">{spec.limit.length ? spec.limit.join(", ") : "No limit."}</Fact>
        <Fact name="Sent again">{againText(spec.idempotent)}</Fact>
        <Fact name="Mode">
          {spec.mode === "create" ? "create: defaults are filled in, texts are turned into values" : "assert: values as they are sent"}
        </Fact>
        <Fact name="Before checking">{hooks(spec.hooks.preValidation)}</Fact>
        <Fact name="Before the act">{hooks(spec.hooks.preAct)}</Fact>
        <Fact name="Returns">{returned(spec.returns)}</Fact>
        <Fact name="Its get">
          at most {spec.maxGetDepth} levels and {spec.maxGetLeaves} names
        </Fact>
      </dl>
      {Object.keys(fields).length > 0 && (
        <>
          <h3>Set</h3>
          <FieldTable label="Fields of set" fields={fields} />
        </>
      )}
      <Example spec={spec} tab={tab} />
      <Shape spec={spec} tab={tab} />
      {spec.errors.length > 0 && (
        <>
          <h3>Errors of its own</h3>
          <Table label="Errors of its own" columns={ERRORS} rows={spec.errors} rowKey={({ code, message }) => `${code} ${message}`} />
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
    notify("The example is in the form.", { undo });
  };
  return (
    <>
      <h3>Example of set</h3>
      <pre class="act-example" tabIndex={0} role="region" aria-label="Example of set">
        {stringify(set, 2)}
      </pre>
      <div class="row">
        <Button small icon="edit" onClick={use}>
          Put it into the form
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
      <h3>Reply, as get asks now</h3>
      <pre class="act-example" tabIndex={0} role="region" aria-label="What comes back">
        {shape}
      </pre>
    </>
  );
}

function againText(seconds: number | null): string {
  return seconds === null
    ? "does it again; it takes no Idempotency-Key"
    : `with the same Idempotency-Key gives the first reply, for ${durationText(seconds)}`;
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

function hooks(names: string[]): ComponentChildren {
  return names.length ? names.map((name) => <code key={name}>{name} </code>) : <span class="muted">nothing</span>;
}

function returned(kind: Kind): ComponentChildren {
  if (kind.kind === "documents") {
    const words = { one: `one ${kind.model}`, optional: `one ${kind.model} or null`, many: `a list of ${kind.model}` };
    return `${words[kind.type]}, as get asks`;
  }
  if (kind.kind !== "object" || !kind.fields) return kind.kind === "any" ? "not said" : nameOfKind(kind);
  return (
    <ul>
      {Object.entries(kind.fields).map(([name, part]) => (
        <li key={name}>
          <code>{name}</code>: {returned(part)}
          {"picked" in part && part.picked ? ", when get names it" : ""}
        </li>
      ))}
    </ul>
  );
}

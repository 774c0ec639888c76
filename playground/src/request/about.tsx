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
import { Prose } from "./docs";
import { exampleSet } from "./example";

const ACCESS = {
  public: "Anyone: declared public",
  open: "Anyone: no access rule is set",
  rule: "Decided by an access rule",
};
/** Characters of a description that are in sight above the tabs. */
const MOST_ABOVE = 140;

export function About({ spec, tab }: { spec: Act; tab: Tab }) {
  const request = tab.request.value;
  const description = spec.description ?? "";
  const fields = spec.set.kind === "object" ? (spec.set.fields ?? {}) : {};
  return (
    <div class="act-docs">
      {description.length > MOST_ABOVE && <p class="act-description"><Prose text={description} /></p>}
      <dl>
        <Fact name="Called as">
          <code>
            {request.service} / {request.model} / {request.act}
          </code>
        </Fact>
        <Fact name="Access">{spec.roles ? `Roles: ${spec.roles.join(", ")}` : ACCESS[spec.access]}</Fact>
        {spec.limit.length > 0 && <Fact name="Limit">{spec.limit.join(", ")}</Fact>}
        {spec.idempotent !== null && (
          <Fact name="Idempotency-Key">Sent again with the same key, it gives the first reply, for {durationText(spec.idempotent)}</Fact>
        )}
        <Fact name="Mode">
          {spec.mode === "create" ? "Create: defaults are filled in, texts are turned into values" : "Assert: values as they are sent"}
        </Fact>
        <Hooks name="Before validation" names={spec.hooks.preValidation} />
        <Hooks name="Before the act" names={spec.hooks.preAct} />
        <Fact name="Returns">{returned(spec.returns)}</Fact>
        <Fact name="Limits of get">
          {spec.maxGetDepth} levels, {spec.maxGetLeaves} names
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
        <Code text={stringify(set, 2)} language="json" />
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
  if (names.length === 0) return null;
  return (
    <Fact name={name}>
      <code>{names.join(", ")}</code>
    </Fact>
  );
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function returned(kind: Kind): ComponentChildren {
  if (kind.kind === "documents") {
    const words = { one: `One ${kind.model}`, optional: `One ${kind.model} or null`, many: `List of ${kind.model}` };
    return `${words[kind.type]}, as get asks`;
  }
  if (kind.kind !== "object" || !kind.fields) return kind.kind === "any" ? "Not declared" : sentence(nameOfKind(kind));
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

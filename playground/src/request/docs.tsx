/** What is known of an act. */

import type { ComponentChildren } from "preact";
import type { Act, Kind } from "../catalog";
import { nameOfKind } from "../form";
import type { ActRequest } from "../state";
import { Badge, Icon } from "../ui";

export function ActFacts({ spec }: { spec: Act }) {
  return (
    <div class="row act-facts">
      {spec.access === "public" && <Badge look="ok">Public</Badge>}
      {spec.access === "open" && <Badge look="warn">Open to all</Badge>}
      {spec.access === "rule" && <Badge><Icon name="key" />{spec.roles ? spec.roles.join(", ") : "access rule"}</Badge>}
      {spec.limit.map((text) => (
        <Badge key={text}>{text}</Badge>
      ))}
    </div>
  );
}

/** A text in which what stands between backticks is code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

const ACCESS = {
  public: "Anyone: the act is declared public.",
  open: "Anyone: no access rule is set.",
  rule: "An access rule decides.",
};

export function ActDocs({ spec, request }: { spec: Act; request: ActRequest }) {
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
    </div>
  );
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

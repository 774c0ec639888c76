/** One model: its fields, relations, reverse relations, and the acts that use it. */

import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Catalog, Link, Model } from "../catalog";
import { WithCode } from "../library/words";
import { catalog, openRequest, rightsOf, roleOf } from "../state";
import { Badge, Button, classes, Icon, Table, type Column } from "../ui";
import { isLong } from "./describe";
import { FieldTable } from "./fields";
import { show, type Looked } from "./place";
import { usesOf, type Use } from "./uses";

export function Detail({ catalog, looked }: { catalog: Catalog; looked: Looked }) {
  const model = catalog.models[looked.model] as Model;
  const uses = useMemo(() => usesOf(catalog, looked.model), [catalog, looked.model]);
  const links = Object.entries(model.links).map(([name, link]) => ({ name, link }));
  return (
    <article class="explorer-detail" aria-labelledby="explorer-model" tabIndex={0}>
      <h2 id="explorer-model" tabIndex={-1}>
        {looked.model}
      </h2>
      <Seen catalog={catalog} model={looked.model} />
      <h3>Fields</h3>
      <FieldTable label={`Fields of ${looked.model}`} fields={model.fields} model={looked.model} />
      <Links
        title="Relations"
        model={looked.model}
        rows={links.filter(({ link }) => link.of === undefined)}
        looked={looked}
      />
      <Links
        title="Reverse relations"
        model={looked.model}
        rows={links.filter(({ link }) => link.of !== undefined)}
        looked={looked}
      />
      <h3>Acts that use it</h3>
      {uses.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <Table
          label={`Acts that use ${looked.model}`}
          columns={USES}
          rows={uses}
          rowKey={({ placed }) => keyOf(placed)}
        />
      )}
    </article>
  );
}

/** What policies say of the model to whoever is signed in. */
function Seen({ catalog, model }: { catalog: Catalog; model: string }) {
  const role = roleOf("");
  const rights = rightsOf(catalog, model, role);
  if (!rights || (rights.sees && !rights.rows && rights.writes)) return null;
  const what = rights.sees ? [rights.rows && "sees some documents only", !rights.writes && "changes none"] : ["sees no document"];
  return (
    <p>
      <Badge look="warn">
        <Icon name="lock" />
        {role ?? "The public"} {what.filter(Boolean).join(" and ")}
      </Badge>
    </p>
  );
}

interface NamedLink {
  name: string;
  link: Link;
}

function Links({ title, model, rows, looked }: { title: string; model: string; rows: NamedLink[]; looked: Looked }) {
  const columns: Column<NamedLink>[] = [
    { key: "name", title: "Name", cell: ({ name }) => <LinkName {...{ model, name, looked }} /> },
    { key: "model", title: "Shows", cell: ({ link }) => <Jump model={link.model} /> },
    { key: "jump", title: title === "Relations" ? "Reverse" : "Caused by", cell: ({ link }) => <Jumps link={link} /> },
  ];
  return (
    <>
      <h3>{title}</h3>
      {rows.length === 0 ? (
        <p class="muted">None.</p>
      ) : (
        <Table
          label={`${title} of ${model}`}
          columns={columns}
          rows={rows}
          rowKey={({ name }) => name}
          below={({ link }) => <Shown link={link} />}
        />
      )}
    </>
  );
}

function LinkName({ model, name, looked }: { model: string; name: string; looked: Looked }) {
  const role = roleOf("");
  const isHidden = rightsOf(catalog.value, model, role)?.hidden.includes(name);
  const element = useRef<HTMLElement>(null);
  const isLooked = looked.model === model && looked.link === name;
  useLayoutEffect(() => {
    if (!isLooked) return;
    element.current?.scrollIntoView({ block: "center" });
    element.current?.focus({ preventScroll: true });
  }, [isLooked]);
  return (
    <span class="explorer-notes">
      <code ref={element} class={classes("explorer-name", isLong(name) && "long")} tabIndex={-1} data-link={name} aria-current={isLooked || undefined}>
        {name}
      </code>
      {isHidden && (
        <Badge look="warn">
          <Icon name="lock" />
          hidden from {role ?? "the public"}
        </Badge>
      )}
    </span>
  );
}

function Shown({ link }: { link: Link }) {
  const notes = [
    link.type === "multiple" ? "Many" : link.optional ? "One or none" : "One",
    link.frozen ? "frozen" : "",
    link.limit === null ? "" : `at most ${link.limit}`,
    link.sort === null ? "" : `by ${link.sort.field}, ${link.sort.order === "asc" ? "ascending" : "descending"}`,
    link.default ? "listed by default" : "",
  ];
  return (
    <span class="muted small">
      {notes.filter(Boolean).join("; ")}. Copied fields: {link.fields.join(", ")}
    </span>
  );
}

/** From a relation to its reverse relations, from a reverse relation to the relation that causes it. */
function Jumps({ link }: { link: Link }) {
  const names = link.of === undefined ? (link.reverses ?? []) : [link.of];
  if (names.length === 0) return <span class="muted">None</span>;
  return (
    <span class="explorer-notes">
      {names.map((name) => (
        <Jump key={name} model={link.model} link={name} />
      ))}
    </span>
  );
}

export function Jump({ model, link }: { model: string; link?: string }) {
  const name = link ? `${model}.${link}` : model;
  return (
    <button type="button" class={classes("explorer-jump", isLong(name) && "long")} onClick={() => show(model, link)}>
      {name}
    </button>
  );
}

const USES: readonly Column<Use>[] = [
  {
    key: "act",
    title: "Act",
    cell: ({ placed: { service, model, act, spec } }) => (
      <span class="explorer-act">
        <code>
          {service === "main" ? "" : `${service}: `}
          {model}.{act}
        </code>
        {spec.description && (
          <span class="muted small">
            <WithCode text={spec.description} />
          </span>
        )}
      </span>
    ),
  },
  { key: "ways", title: "How", cell: ({ ways }) => ways.join(", ") },
  {
    key: "open",
    title: <span class="sr-only">Open</span>,
    cell: ({ placed: { service, model, act } }) => (
      <Button small aria-label={`Open ${model}.${act}`} onClick={() => openRequest({ service, model, act })}>
        Open
      </Button>
    ),
  },
];

function keyOf({ service, model, act }: Use["placed"]): string {
  return [service, model, act].join(" ");
}

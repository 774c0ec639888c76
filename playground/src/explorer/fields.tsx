/** Fields with their kinds and rules, as a table. */

import type { Kind } from "../catalog";
import { stringify } from "../json";
import { WithCode } from "../library/words";
import { catalog, rightsOf, roleOf } from "../state";
import { Badge, classes, Icon, Table, type Column } from "../ui";
import { kindName } from "../form/value";
import { isLong, limitsOf, rowsOf, type Row } from "./describe";
import "./explorer.css";

/** `model` is whose fields they are: what policies say of them to whoever is signed in is marked. */
export function FieldTable({ label, fields, model }: { label: string; fields: Readonly<Record<string, Kind>>; model?: string }) {
  const role = roleOf("");
  const { hidden = [], own = [], fixed = [] } = (model === undefined ? undefined : rightsOf(catalog.value, model, role)) ?? {};
  const marked = rowsOf(fields).map((row) => {
    const [name = ""] = row.path.split(/[.[]/);
    const word = hidden.includes(name) ? "hidden from" : fixed.includes(name) ? "not changed by" : "";
    return word ? { ...row, mark: `${word} ${role ?? "the public"}${own.includes(name) ? " but in their own" : ""}` } : row;
  });
  return <Table label={label} columns={FIELDS} rows={marked} rowKey={({ path }) => path} />;
}

const FIELDS: readonly Column<Row>[] = [
  { key: "name", title: "Name", cell: (row) => <FieldName {...row} /> },
  { key: "kind", title: "Kind", cell: ({ kind }) => <span class="mono">{kindName(kind)}</span> },
  { key: "notes", title: "Notes", cell: (row) => <Notes {...row} /> },
];

function FieldName({ path, depth }: Row) {
  return <code class={classes("explorer-name", `depth-${Math.min(depth, 4)}`, isLong(path) && "long")}>{path}</code>;
}

function Notes({ kind, mark }: Row) {
  const value = kind.default === undefined ? "" : `: ${stringify(kind.default)}`;
  return (
    <span class="explorer-notes">
      {mark && (
        <Badge look="warn">
          <Icon name="lock" />
          {mark}
        </Badge>
      )}
      {kind.presence === "optional" && <Badge>optional</Badge>}
      {kind.presence === "defaulted" && <Badge>default{value}</Badge>}
      {limitsOf(kind).map((limit) => (
        <span key={limit} class="small">
          {limit}
        </span>
      ))}
      {kind.description && (
        <span class="muted small">
          <WithCode text={kind.description} />
        </span>
      )}
    </span>
  );
}

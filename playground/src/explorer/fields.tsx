/** Fields with their kinds and rules, as a table. */

import type { Kind } from "../catalog";
import { stringify } from "../json";
import { WithCode } from "../library/words";
import { Badge, classes, Table, type Column } from "../ui";
import { kindName } from "../form/value";
import { isLong, limitsOf, rowsOf, type Row } from "./describe";
import "./explorer.css";

export function FieldTable({ label, fields }: { label: string; fields: Readonly<Record<string, Kind>> }) {
  return <Table label={label} columns={FIELDS} rows={rowsOf(fields)} rowKey={({ path }) => path} />;
}

const FIELDS: readonly Column<Row>[] = [
  { key: "name", title: "Name", cell: (row) => <FieldName {...row} /> },
  { key: "kind", title: "Kind", cell: ({ kind }) => <span class="mono">{kindName(kind)}</span> },
  { key: "notes", title: "Notes", cell: (row) => <Notes {...row} /> },
];

function FieldName({ path, depth }: Row) {
  return <code class={classes("explorer-name", `depth-${Math.min(depth, 4)}`, isLong(path) && "long")}>{path}</code>;
}

function Notes({ kind }: Row) {
  const value = kind.default === undefined ? "" : `: ${stringify(kind.default)}`;
  return (
    <span class="explorer-notes">
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

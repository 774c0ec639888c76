/** The documents of a reply as a table, sorted by any column. */

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import { isObject, Numeral, stringify, type Json, type JsonObject } from "../json";
import { Button, Table, type Column } from "../ui";
import { summary } from "./rows";

/** Rows that are shown at once, and columns at most. */
const PAGE = 200;
const MOST_COLUMNS = 60;

type Path = readonly (string | number)[];

/** Documents, and where in the reply they are. */
export interface Found {
  documents: JsonObject[];
  path: Path;
}

/** The first list of objects in a body: itself, or at most two levels down. */
export function documentsIn(body: Json, path: Path = ["body"], levels = 3): Found | undefined {
  if (Array.isArray(body)) return body.length && body.every(isObject) ? { documents: body, path } : undefined;
  if (!isObject(body) || levels === 0) return undefined;
  const inner = Object.entries(body);
  for (const [name, value] of inner) if (Array.isArray(value) && documentsIn(value)) return documentsIn(value, [...path, name]);
  for (const [name, value] of inner) {
    const found = isObject(value) ? documentsIn(value, [...path, name], levels - 1) : undefined;
    if (found) return found;
  }
  return undefined;
}

interface Order {
  name: string;
  isDown: boolean;
}

interface Props {
  found: Found;
  /** What can be done with the value of a cell that was clicked; `path` leads to it. */
  bar: (value: Json, path: Path) => ComponentChildren;
}

export function DocumentTable({ found: { documents, path }, bar }: Props) {
  const [order, setOrder] = useState<Order>();
  const [most, setMost] = useState(PAGE);
  const [chosen, setChosen] = useState<{ row: JsonObject; name: string }>();
  const names = useMemo(() => [...new Set(documents.slice(0, PAGE).flatMap(Object.keys))].slice(0, MOST_COLUMNS), [documents]);
  const rows = useMemo(() => sorted(documents, order), [documents, order]);
  const turn = (name: string) => setOrder({ name, isDown: order?.name === name && !order.isDown });
  const columns: Column<JsonObject>[] = names.map((name) => ({
    key: name,
    title: (
      <button type="button" class="reply-sort" onClick={() => turn(name)}>
        {name}
        <span aria-hidden="true">{order?.name === name ? (order.isDown ? " ↓" : " ↑") : ""}</span>
      </button>
    ),
    sort: order?.name === name ? (order.isDown ? "descending" : "ascending") : undefined,
    numeric: documents.some((one) => isNumber(one[name])),
    cell: (row) => cellOf(row[name]),
    onChoose: (row) => setChosen({ row, name }),
  }));
  const value = chosen?.row[chosen.name];
  return (
    <>
    <div class="reply-table">
      <Table label="Reply as a table" columns={columns} rows={rows.slice(0, most)} rowKey={(row) => rows.indexOf(row)} />
      {rows.length > most && (
        <Button small onClick={() => setMost(most + PAGE)}>
          Show more of {rows.length}
        </Button>
      )}
    </div>
    {chosen && value !== undefined && (
      <div class="json-bar row" role="group" aria-label="The chosen value">
        {bar(value, [...path, documents.indexOf(chosen.row), chosen.name])}
      </div>
    )}
    </>
  );
}

function isNumber(value: Json | undefined): boolean {
  return typeof value === "number" || value instanceof Numeral;
}

function cellOf(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && !value.some((one) => isObject(one) || Array.isArray(one))) return value.map(cellOf).join(", ");
  if (isObject(value) && typeof value.name === "string") return value.name;
  return isObject(value) || Array.isArray(value) ? summary(value) : stringify(value);
}

function sorted(documents: JsonObject[], order: Order | undefined): JsonObject[] {
  if (!order) return documents;
  const { name, isDown } = order;
  const compare = (one: JsonObject, other: JsonObject) => {
    const [a, b] = [one[name], other[name]];
    if (isNumber(a) && isNumber(b)) return Number(a) - Number(b);
    return cellOf(a).localeCompare(cellOf(b), undefined, { numeric: true });
  };
  return [...documents].sort((one, other) => (isDown ? -1 : 1) * compare(one, other));
}

/** Objects of any keys: a row for each, with its name and its value. */

import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import type { Json, JsonObject, Kind } from "../catalog";
import { parse, stringify } from "../json";
import { asideOf, dropDrafts, emptyValue, putDraft } from "../state";
import { Button, Field, IconButton } from "../ui";
import { DraftsContext } from "./drafts";
import { Group } from "./group";
import { UndoContext } from "./undo";
import { nameOfKind, type Parts, type ValueProps } from "./value";
import "./mapping.css";

export type MappingProps = Omit<ValueProps, "value" | "onChange"> & {
  /** The kind of each value. */
  values: Kind;
  value: JsonObject;
  parts: Parts;
  onChange: (value: JsonObject) => void;
};
type Row = [name: string, value: Json];

/** Rows with one name twice are a draft; those without a name are not sent, and stay. */
export function MappingField({ kind, name, path, value, values, parts, onChange }: MappingProps) {
  const root = useRef<HTMLDivElement>(null);
  const isAdded = useRef(false);
  const drafts = useContext(DraftsContext);
  const undoable = useContext(UndoContext);
  const written = readRows(drafts.value.get(asideOf(path)));
  const isMeant = written && stringify(objectOf(written)) === stringify(value);
  const rows = readRows(drafts.value.get(path)) ?? (isMeant ? written : Object.entries(value));
  useLayoutEffect(() => {
    if (isAdded.current) [...(root.current?.querySelectorAll<HTMLElement>(":scope > .mapping-row > .field input") ?? [])].at(-1)?.focus();
    isAdded.current = false;
  }, [rows.length]);
  const change = (next: Row[]) => {
    const isTwice = next.some((_, at) => isRepeated(next, at));
    putDraft(drafts, path, isTwice ? stringify(next) : undefined);
    if (isTwice) return;
    const object = objectOf(next);
    putDraft(drafts, asideOf(path), stringify(Object.entries(object)) === stringify(next) ? undefined : stringify(next));
    onChange(object);
  };
  const put = (at: number, row: Row) => change(rows.map((other, index) => (index === at ? row : other)));
  return (
    <Group kind={kind} name={name} path={path} aside={nameOfKind(kind)}>
      <div class="array" ref={root}>
        {rows.map(([key, inner], at) => (
          <div class="mapping-row" role="group" aria-label={`${name} ${at + 1}`} key={at}>
            <Field
              label={<span class="sr-only">Name {at + 1}</span>}
              errors={isRepeated(rows, at) ? ["Another row has the same name."] : undefined}
              hint={key === "" ? "Without a name this row is not sent." : undefined}
            >
              {(ids) => (
                <input
                  {...ids}
                  class="mono"
                  autocomplete="off"
                  spellcheck={false}
                  placeholder="name"
                  value={key}
                  onInput={(event) => {
                    dropDrafts(drafts, `${path}.${key}`);
                    put(at, [event.currentTarget.value, inner]);
                  }}
                />
              )}
            </Field>
            <div class="mapping-value">
              <parts.Value
                kind={{ ...values, presence: "required" }}
                name={key || `value ${at + 1}`}
                path={`${path}.${key}`}
                value={inner}
                onChange={(next) => put(at, [key, next ?? null])}
              />
            </div>
            <IconButton
              small
              icon="remove"
              label={`Remove ${key || `${name} ${at + 1}`}`}
              onClick={() => {
                undoable(`${key || name} removed.`);
                dropDrafts(drafts, `${path}.${key}`);
                change(rows.filter((_, index) => index !== at));
                root.current?.querySelector<HTMLElement>(":scope > .array-add button")?.focus();
              }}
            />
          </div>
        ))}
        <div class="array-add row">
          <Button
            small
            icon="add"
            onClick={() => {
              isAdded.current = true;
              change([...rows, ["", values.kind === "any" ? "" : emptyValue({ ...values, nullable: false })]]);
            }}
          >
            Add a key<span class="sr-only"> to {name}</span>
          </Button>
          {rows.length === 0 && <span class="muted small">none</span>}
        </div>
      </div>
    </Group>
  );
}

function objectOf(rows: readonly Row[]): JsonObject {
  return Object.fromEntries(rows.filter(([name]) => name !== ""));
}

function isRepeated(rows: readonly Row[], at: number): boolean {
  const name = rows[at]?.[0];
  return name !== "" && rows.findIndex((row) => row[0] === name) < at;
}

/** Read rows that were kept as text; undefined where it has none. */
function readRows(text: string | undefined): Row[] | undefined {
  try {
    const rows = parse(text ?? "");
    return Array.isArray(rows) && rows.every((row) => Array.isArray(row) && typeof row[0] === "string") ? (rows as Row[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The filter of a listing: rows of field, operator and value. */

import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { FilterKind, JsonObject } from "../catalog";
import { filterOf, isUnused, operandOf, operatorText, problemOf, readRows, rowsOf, unusedOf, type Row } from "../filter";
import { isObject, own, stringify, type Json } from "../json";
import { asideOf, dropDrafts, putDraft } from "../state";
import { classes, Field, IconButton, Menu } from "../ui";
import { DraftsContext } from "./drafts";
import { useErrors } from "./errors";
import { Group } from "./group";
import { UndoContext } from "./undo";
import type { Parts, ValueProps } from "./value";

type FilterProps = Omit<ValueProps<FilterKind>, "value" | "onChange"> & {
  value: JsonObject | undefined;
  parts: Parts;
  onChange: (value: Json | undefined) => void;
};

/** Without a row it is left out where it may be. Rows that mean no filter are a draft; others, also those that are not sent, stay in the order in which they were made while they mean what is sent. */
export function FilterField({ kind, name, path, value = {}, onChange, parts }: FilterProps) {
  const root = useRef<HTMLDivElement>(null);
  const drafts = useContext(DraftsContext);
  const undoable = useContext(UndoContext);
  const sent = rowsOf(value);
  const written = readRows(drafts.value.get(asideOf(path)) ?? "");
  const isMeant = written && stringify(rowsOf(filterOf(written))) === stringify(sent);
  const rows = readRows(drafts.value.get(path) ?? "") ?? (isMeant ? written : sent);
  /** The row whose operator is to get the focus; behind the last one, the button. */
  const [next, setNext] = useState<{ row: number }>();
  useLayoutEffect(() => {
    if (!next) return;
    const row = root.current?.querySelectorAll(".filter-row")[next.row];
    (row?.querySelector<HTMLElement>("[data-operator]") ?? root.current?.querySelector<HTMLElement>(".filter-add button"))?.focus();
  }, [next]);
  const change = (next: Row[]) => {
    const isWrong = next.some((_, at) => problemOf(next, at) !== "");
    putDraft(drafts, path, isWrong ? stringify(next) : undefined);
    if (isWrong) return;
    const filter = filterOf(next);
    putDraft(drafts, asideOf(path), next.length && stringify(next) !== stringify(rowsOf(filter)) ? stringify(next) : undefined);
    onChange(next.every(isUnused) && kind.presence !== "required" ? undefined : filter);
  };
  const put = (at: number, row: Row) => change(rows.map((other, index) => (index === at ? row : other)));
  const remove = (at: number) => {
    undoable(`${name} ${at + 1} removed.`);
    change(rows.filter((_, index) => index !== at));
    setNext({ row: rows.length });
  };
  const add = (field: string) => {
    const operator = unusedOf(kind, field, rows);
    if (operator === undefined) return;
    change([...rows, begun(kind, { field, operator })]);
    setNext({ row: rows.length });
  };
  const items = Object.keys(kind.fields).map((field) => ({
    label: field,
    disabled: unusedOf(kind, field, rows) === undefined,
    onSelect: () => add(field),
  }));
  const errors = useErrors(path);
  const adder = (
    <div class="filter-add">
      <Menu small icon="add" label={`Add ${name}`} items={items} />
    </div>
  );
  if (rows.length === 0)
    return (
      <div class={classes("value-off", errors && "wrong")} data-path={path} ref={root}>
        <span class="value-name">{name}</span>
        {adder}
        {errors && <p class="field-errors">{errors.join(" ")}</p>}
      </div>
    );
  return (
    <div ref={root}>
      <Group kind={kind} name={name} path={path}>
        <div class="array">
          {rows.map((row, at) => (
            <FilterRow
              key={at}
              kind={kind}
              name={`${name} ${at + 1}`}
              path={path}
              place={placeOf(row, value)}
              row={row}
              problem={problemOf(rows, at)}
              parts={parts}
              onChange={(next) => put(at, next)}
              onRemove={() => remove(at)}
            />
          ))}
          {adder}
        </div>
      </Group>
    </div>
  );
}

/** Where in the filter a row's value is sent: behind its field alone, or behind its operator. */
function placeOf({ field, operator }: Row, filter: JsonObject): string {
  const isPlain = operator === "eq" && !isObject(own(filter, field));
  return isPlain ? field : `${field}.${operator}`;
}

/** A row whose value is a beginning, or what was there as far as it fits. */
function begun(kind: FilterKind, { field, operator, value }: Row): Row {
  if (operator === "exists") return { field, operator, value: true };
  const operand = operandOf(kind, field, operator);
  const given = Array.isArray(value) ? value : [value ?? []].flat();
  if (operand.kind === "array") return { field, operator, value: given.length ? given : undefined };
  return { field, operator, value: given[0] ?? (operand.kind === "boolean" ? false : undefined) };
}

interface RowProps {
  kind: FilterKind;
  /** Such as `filter 1`. */
  name: string;
  /** Of the filter; that of the value is `path.place`. */
  path: string;
  place: string;
  row: Row;
  problem: ReturnType<typeof problemOf>;
  parts: Parts;
  onChange: (row: Row) => void;
  onRemove: () => void;
}

const PROBLEMS = {
  "": undefined,
  "no operator": ["Choose an operator."],
  twice: ["Another row has the same field and operator. Change or remove one."],
};

function FilterRow({ kind, name, path, place, row, problem, parts, onChange, onRemove }: RowProps) {
  const { field, operator, value } = row;
  const drafts = useContext(DraftsContext);
  const fieldPath = `${path}.${field}`;
  const valuePath = `${path}.${place}`;
  const fieldErrors = useErrors(fieldPath);
  const known = own(kind.fields, field);
  const turn = (next: Row) => {
    dropDrafts(drafts, valuePath);
    onChange(next);
  };
  const old = operator === "exists" ? undefined : value;
  const turnTo = (name: string) => {
    const { value: now, operators = [] } = own(kind.fields, name) ?? {};
    const kept = operators.includes(operator) ? operator : (operators[0] ?? "");
    const isAlike = stringify(now) === stringify(known?.value);
    turn(begun(kind, { field: name, operator: kept, value: isAlike ? old : undefined }));
  };
  const isEmpty = (next: Json | undefined) => next === "" || (Array.isArray(next) && next.length === 0);
  return (
    <div class="filter-row" role="group" aria-label={name}>
      <Choice
        label="field"
        path={valuePath === fieldPath ? undefined : fieldPath}
        errors={valuePath === fieldPath ? undefined : fieldErrors}
        value={field}
        choices={Object.keys(kind.fields).map((one) => [one, one])}
        onChange={turnTo}
      />
      <Choice
        label="operator"
        isOperator
        errors={PROBLEMS[problem]}
        value={operator}
        choices={(known?.operators ?? []).map((one) => [one, operatorText(kind, field, one)])}
        onChange={(next) => turn(begun(kind, { field, operator: next, value: old }))}
      />
      <div class="filter-value">
        {operator !== "" && (
          <parts.Value
            key={`${field} ${operator}`}
            kind={operandOf(kind, field, operator)}
            name="value"
            path={valuePath}
            value={value}
            onChange={(next) => onChange({ field, operator, value: isEmpty(next) ? undefined : next })}
          />
        )}
        {isUnused(row) && <p class="field-hint">Without a value this row is not sent.</p>}
      </div>
      <IconButton
        small
        icon="remove"
        label={`Remove ${name}`}
        onClick={() => {
          dropDrafts(drafts, valuePath);
          onRemove();
        }}
      />
    </div>
  );
}

interface ChoiceProps {
  label: string;
  isOperator?: boolean;
  path?: string | undefined;
  errors: readonly string[] | undefined;
  value: string;
  /** Values with what they are called. */
  choices: [value: string, text: string][];
  onChange: (value: string) => void;
}

function Choice({ label, isOperator, path, errors, value, choices, onChange }: ChoiceProps) {
  const isKnown = choices.some(([one]) => one === value);
  return (
    <Field class="filter-choice" label={<span class="sr-only">{label}</span>} errors={errors}>
      {(ids) => (
        <select {...ids} data-path={path} data-operator={isOperator} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
          {!isKnown && <option value={value}>{value === "" ? "Choose…" : `${value} (unknown)`}</option>}
          {choices.map(([one, text]) => (
            <option key={one} value={one}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

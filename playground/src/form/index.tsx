/** A form for every kind of value of the catalog. */

import { useContext } from "preact/hooks";
import type { Json, JsonObject, Kind } from "../catalog";
import { isObject, isSame, own, stringify, withKey } from "../json";
import { dropDrafts, emptyValue } from "../state";
import { Button, classes } from "../ui";
import { ArrayField } from "./array";
import { DraftsContext } from "./drafts";
import { ErrorsContext, useErrors } from "./errors";
import { FileField } from "./file-field";
import { FilterField } from "./filter";
import { Group } from "./group";
import { JsonField } from "./json";
import { AnyField, MappingField } from "./keys";
import { ProjectionTree } from "../projection";
import { UndoContext } from "./undo";
import { isScalar, ScalarField } from "./scalar";
import { nameOfKind, type FieldsProps, type Parts, type ValueProps } from "./value";

export { DraftsContext, useTyped } from "./drafts";
export { at, ErrorsContext, errorsOf, type Errors } from "./errors";
export { FilesContext } from "./file-field";
export { UndoContext } from "./undo";
export { OfferContext, WhoContext } from "./who";
export { nameOfKind } from "./value";

/** One named value with its label; what has parts and may be left out has a switch. */
export function ValueField(props: ValueProps) {
  const { kind, name, path, value, onChange } = props;
  const errors = useErrors(path);
  const drafts = useContext(DraftsContext);
  if (kind.kind === "file") return <FileField {...props} kind={kind} />;
  const isQuiet = isScalar(kind) && kind.presence !== "required";
  if (isQuiet && !kind.nullable) return <QuietField {...props} />;
  if (kind.kind === "filter" && !kind.nullable && kind.default === undefined) return <Control {...props} />;
  if (!isQuiet && value === undefined && kind.presence !== "required") {
    return (
      <div class={classes("value-off", errors && "wrong")}>
        <Switch {...props} />
        <span class="muted small">{offText(kind)}</span>
        {errors && <p class="field-errors">{errors.join(" ")}</p>}
      </div>
    );
  }
  const Shown = value === null && kind.nullable ? NullField : isQuiet ? QuietField : Control;
  const control = <Shown {...props} />;
  if (kind.presence === "required" && !kind.nullable) return control;
  return (
    <div class="value-on">
      <div class="value-switches">
        {kind.presence !== "required" && !isQuiet && <Switch {...props} />}
        {kind.nullable && (
          <label class="switch small">
            <input
              type="checkbox"
              checked={value === null}
              onChange={() => {
                dropDrafts(drafts, path);
                if (value !== null) onChange(null);
                else onChange(isQuiet ? undefined : emptyValue({ ...kind, nullable: false }));
              }}
            />
            <span>
              <span class="sr-only">{name} is </span>null
            </span>
          </label>
        )}
      </div>
      {control}
    </div>
  );
}

/** What may be left out, as it is where nothing is written. */
function QuietField(props: ValueProps) {
  return <Control {...props} onChange={(next) => props.onChange(next === "" ? undefined : next)} />;
}

function Switch({ kind, name, path, value, onChange }: ValueProps) {
  const drafts = useContext(DraftsContext);
  const undoable = useContext(UndoContext);
  return (
    <label class="switch">
      <input
        type="checkbox"
        data-switch={path}
        aria-description={nameOfKind(kind)}
        checked={value !== undefined}
        onChange={() => {
          const isLost = value !== undefined && !isSame(value, emptyValue({ ...kind, nullable: false }));
          if (isLost || drafts.value.has(path)) undoable(`${name} left out.`);
          dropDrafts(drafts, path);
          onChange(value === undefined ? emptyValue({ ...kind, nullable: false }) : undefined);
        }}
      />
      <span>
        <span class="sr-only">Send </span>
        <span class={value === undefined ? undefined : "sr-only"}>{name}</span>
      </span>
    </label>
  );
}

/** What it is, and what is taken where it is not sent. */
function offText(kind: Kind): string {
  if (kind.presence !== "defaulted") return nameOfKind(kind);
  return `${nameOfKind(kind)}, ${kind.default === undefined ? "filled in" : `default ${stringify(kind.default)}`}`;
}

function NullField({ kind, name }: ValueProps) {
  return (
    <p class="null-value">
      <span class="value-name">{name}</span> <span class="muted small">{nameOfKind(kind)}</span>
    </p>
  );
}

const PARTS: Parts = { Value: ValueField, Fields };

function Control(props: ValueProps) {
  const { kind, value } = props;
  if (kind.kind === "array" && (value === undefined || Array.isArray(value)))
    return <ArrayField {...props} kind={kind} value={value} parts={PARTS} />;
  if (kind.kind === "object" && kind.fields && (value === undefined || isObject(value)))
    return <ObjectField {...props} kind={kind} value={value} />;
  if (kind.kind === "filter" && (value === undefined || isObject(value)))
    return <FilterField {...props} kind={kind} value={value} parts={PARTS} />;
  if (kind.kind === "selection" && (value === undefined || isObject(value))) return <SelectionField {...props} kind={kind} />;
  if (isScalar(kind) && !isObject(value) && !Array.isArray(value))
    return <ScalarField {...props} kind={kind} value={value} parts={PARTS} />;
  if (kind.kind === "any" && value !== undefined) return <AnyField {...props} parts={PARTS} />;
  if ((kind.kind === "mapping" || kind.kind === "object") && (value === undefined || isObject(value)))
    return <MappingField {...props} value={value ?? {}} values={kind.kind === "mapping" ? kind.values : ANY} parts={PARTS} />;
  return <JsonField {...props} />;
}

const ANY: Kind = { kind: "any", presence: "required" };

function SelectionField({ kind, name, path, value, onChange }: ValueProps<Extract<Kind, { kind: "selection" }>>) {
  return (
    <ProjectionTree selection={kind} label={name} path={path} value={isObject(value) ? value : {}} onChange={onChange} />
  );
}

type ObjectProps = Omit<ValueProps<Extract<Kind, { kind: "object" }>>, "value"> & { value: JsonObject | undefined };

function ObjectField({ kind, name, path, value = {}, onChange }: ObjectProps) {
  return (
    <Group kind={kind} name={name} path={path}>
      <Fields kind={kind} path={path} value={value} onChange={onChange} />
    </Group>
  );
}

/** The fields of an object, and what is in it besides. */
export function Fields({ kind, path, value, onChange }: FieldsProps) {
  const fields = kind.fields ?? {};
  const more = Object.keys(value).filter((name) => !Object.hasOwn(fields, name));
  const change = (name: string, inner: Json | undefined) => onChange(withKey(value, name, inner, Object.keys(fields)));
  return (
    <div class="fields">
      {Object.entries(fields).map(([name, inner]) => (
        <ValueField
          key={name}
          kind={inner}
          name={name}
          path={`${path}.${name}`}
          value={own(value, name)}
          onChange={(next) => change(name, next)}
        />
      ))}
      {(kind.open || kind.fields === null) && (
        <MappingField
          kind={{ kind: "object", fields: null, presence: "optional" }}
          name={kind.fields === null ? "any keys" : "more keys"}
          path={path}
          parts={PARTS}
          values={ANY}
          value={Object.fromEntries(more.map((name) => [name, value[name] as Json]))}
          onChange={(next) => {
            const known = Object.entries(value).filter(([name]) => Object.hasOwn(fields, name));
            onChange(Object.fromEntries([...known, ...Object.entries(next).filter(([name]) => !Object.hasOwn(fields, name))]));
          }}
        />
      )}
      {!kind.open && kind.fields !== null && more.map((name) => <Unknown key={name} name={name} path={path} remove={() => change(name, undefined)} />)}
    </div>
  );
}

function Unknown({ name, path, remove }: { name: string; path: string; remove: () => void }) {
  const errors = own(useContext(ErrorsContext), `${path}.${name}`);
  return (
    <div class="value-off wrong">
      <span class="value-name">{name}</span>
      <span class="field-errors">{errors?.join(" ") ?? "This act has no such field."}</span>
      <Button small onClick={remove}>
        Remove
      </Button>
    </div>
  );
}

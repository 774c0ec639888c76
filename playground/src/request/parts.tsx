/** The two parts of a request as a form: `set` and `get`. */

import type { ComponentChildren } from "preact";
import type { Json, JsonObject, Kind } from "../catalog";
import { Fields, ValueField } from "../form";
import { own } from "../json";
import { ProjectionTree } from "../projection";
import { isFlag } from "../state";

interface PartProps {
  kind: Kind;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  path?: "set" | "get";
}

/** The heading of `set`. */
export function SetHead({ kind }: { kind: Kind }) {
  return (
    <div class="part-head">
      <h3>
        Input <code>set</code>
      </h3>
      {hasRequired(kind) && (
        <span class="part-legend muted small">
          <span class="required">*</span> required
        </span>
      )}
    </div>
  );
}

function hasRequired(kind: Kind): boolean {
  return kind.kind === "object" && Object.values(kind.fields ?? {}).some(({ presence }) => presence === "required");
}

/** The heading of `get`. */
export const FIELDS_TO_RETURN = (
  <h3>
    Fields to return <code>get</code>
  </h3>
);

export function SetPart({ kind, value, onChange, path = "set" }: PartProps) {
  if (kind.kind !== "object" || kind.fields === null)
    return <Fields kind={{ kind: "object", presence: "required", fields: null }} path={path} value={value} onChange={onChange} />;
  const isEmpty = Object.keys(kind.fields).length === 0 && Object.keys(value).length === 0;
  if (isEmpty && !kind.open) return <p class="muted">Nothing to set.</p>;
  return <Fields kind={kind} path={path} value={value} onChange={onChange} />;
}

/** The `heading` of the part stands beside the buttons of the tree, where the part is one. */
export function GetPart({ heading, ...props }: PartProps & { heading?: ComponentChildren }) {
  const { kind, value, onChange } = props;
  if (kind.kind === "selection")
    return <ProjectionTree selection={kind} label="Fields" heading={heading} path="get" value={value} onChange={onChange} />;
  return (
    <>
      {heading && <div class="part-head">{heading}</div>}
      <GetFields {...props} />
    </>
  );
}

function GetFields({ kind, value, onChange }: PartProps) {
  if (kind.kind === "object" && kind.fields && Object.keys(kind.fields).length === 0)
    return <p class="muted">Nothing to choose.</p>;
  if (kind.kind !== "object" || !kind.fields) return <SetPart kind={kind} path="get" value={value} onChange={onChange} />;
  const put = (name: string, inner: Json | undefined) => {
    const { [name]: _old, ...rest } = value;
    onChange(inner === undefined ? rest : { ...rest, [name]: inner });
  };
  return (
    <div class="fields">
      {Object.entries(kind.fields).map(([name, inner]) => {
        const path = `get.${name}`;
        const given = own(value, name);
        if (isFlag(inner))
          return (
            <label class="switch" key={name}>
              <input
                type="checkbox"
                data-path={path}
                checked={given === 1}
                onChange={(event) => put(name, event.currentTarget.checked ? 1 : undefined)}
              />
              <span class="value-name">{name}</span>
            </label>
          );
        return (
          <ValueField key={name} kind={inner} name={name} path={path} value={given} onChange={(next) => put(name, next)} />
        );
      })}
    </div>
  );
}

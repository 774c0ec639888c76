/** Values of any kind: one says which, and gets its input; or writes JSON. */

import { useContext, useState } from "preact/hooks";
import type { Json, Kind } from "../catalog";
import { isObject, numberIn, Numeral, problemIn, stringify } from "../json";
import { dropDrafts } from "../state";
import { Field } from "../ui";
import { DraftsContext } from "./drafts";
import { JsonField } from "./json";
import { MappingField } from "./mapping";
import { UndoContext } from "./undo";
import { nameOfKind, type Parts, type ValueProps } from "./value";

const ANY: Kind = { kind: "any", presence: "required" };
const KINDS = {
  text: { kind: "string", presence: "required" },
  number: { kind: "number", presence: "required" },
  boolean: { kind: "boolean", presence: "required" },
  null: undefined,
  list: { kind: "array", presence: "required", items: ANY },
  object: { kind: "mapping", presence: "required", values: ANY },
  JSON: undefined,
} as const satisfies Record<string, Kind | undefined>;
type Type = keyof typeof KINDS;

/** Characters of a value with parts that is shown as JSON at first: as many inputs could not be overlooked. */
const LONG = 3000;

export function AnyField(props: ValueProps & { parts: Parts }) {
  const { kind, name, path, value = null, onChange, parts } = props;
  const drafts = useContext(DraftsContext);
  const undoable = useContext(UndoContext);
  const [asJson, setAsJson] = useState(() => typeof value === "object" && stringify(value).length > LONG);
  const draft = drafts.value.get(path);
  const isJson = asJson || (draft !== undefined && problemIn(draft) !== "");
  const type: Type = isJson ? "JSON" : typeOf(value);
  const choose = (next: Type) => {
    setAsJson(next === "JSON");
    if (next === "JSON" || (next === typeOf(value) && draft === undefined)) return;
    const turned = turnedTo(next, value);
    const hasParts = (Array.isArray(value) || isObject(value)) && Object.keys(value).length > 0;
    if (draft !== undefined || (hasParts && !["text", "list"].includes(next))) undoable(`${name} is ${next} now.`);
    dropDrafts(drafts, path);
    onChange(turned);
  };
  const inner = { name, path, value, onChange, parts };
  const shown = KINDS[type];
  return (
    <Field label={<span class="value-name">{name}</span>} required={kind.presence === "required"} aside={nameOfKind(kind)} hint={kind.description}>
      {(ids) => (
        <div class="any-value">
          <select
            {...ids}
            aria-label={`Type of ${name}`}
            data-path={type === "null" ? path : undefined}
            value={type}
            onChange={(event) => choose(event.currentTarget.value as Type)}
          >
            {Object.keys(KINDS).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
          {type === "JSON" && <JsonField {...inner} kind={ANY} />}
          {shown?.kind === "mapping" && isObject(value) && <MappingField {...inner} kind={shown} value={value} values={ANY} />}
          {shown && shown.kind !== "mapping" && <parts.Value {...inner} kind={shown} />}
        </div>
      )}
    </Field>
  );
}

function typeOf(value: Json): Type {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "number" || value instanceof Numeral) return "number";
  if (typeof value === "boolean") return "boolean";
  return isObject(value) ? "object" : "text";
}

/** A value as another type, as far as it can be kept. */
function turnedTo(type: Type, value: Json): Json {
  const hasParts = Array.isArray(value) || isObject(value);
  switch (type) {
    case "text":
      return value === null ? "" : hasParts ? stringify(value) : String(value);
    case "number":
      return numberIn(String(value)) ?? 0;
    case "boolean":
      return value === "true" || value === 1;
    case "list":
      return value === null || value === "" ? [] : [value];
    case "object":
      return {};
    default:
      return null;
  }
}

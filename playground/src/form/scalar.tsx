/** Texts, numbers, dates, choices, ids. */

import type { ComponentChild } from "preact";
import { useContext, useState } from "preact/hooks";
import type { EnumKind, IdKind, Json, Kind, NumberKind, TextKind } from "../catalog";
import { isSame, numberIn, stringify, type Numeral } from "../json";
import { WithCode } from "../library/words";
import { identityOf, ROLE, titleOfId, whereOf } from "../state";
import { Button, Field, type FieldIds } from "../ui";
import { useErrors } from "./errors";
import { Combobox, FileOfId, Picker } from "./finding";
import { Huge } from "./huge";
import { canPick, isFile } from "./sources";
import { OfferContext, WhoContext } from "./who";
import { MANY, nameOfKind, type Parts, type ValueProps } from "./value";

type Value = string | number | boolean | Numeral | null | undefined;
type ScalarProps<K extends Kind = Kind> = Omit<ValueProps<K>, "value"> & { value: Value; parts: Parts };
type InputProps<K extends Kind = Kind> = ScalarProps<K> & { ids: FieldIds };

export function ScalarField(props: ScalarProps) {
  const { kind, name, path } = props;
  const errors = useErrors(path);
  const shown = { label: <span class="value-name">{name}</span>, errors, hint: hintOf(kind) };
  // A box has two states; what may be left out has three.
  if (kind.kind === "boolean" && kind.presence === "required") return <BooleanField {...props} />;
  return (
    <Field {...shown} required={kind.presence === "required"} aside={nameOfKind(kind)}>
      {(ids) => (
        <>
          {name === ROLE && <Roles {...props} />}
          <Input {...props} ids={ids} />
          <Offers {...props} />
        </>
      )}
    </Field>
  );
}

function hintOf(kind: Kind): ComponentChild {
  const said = kind.description && <WithCode text={kind.description} />;
  if (kind.kind !== "string" || kind.pattern === undefined) return said;
  return (
    <>
      {said} Pattern: <code>{kind.pattern}</code>
    </>
  );
}

/** The roles of whoever it is sent as: one click fills one in. */
function Roles({ value, onChange }: ScalarProps) {
  const { roles = [] } = identityOf(useContext(WhoContext))?.session ?? {};
  if (roles.length === 0) return null;
  return (
    <div class="row roles">
      {roles.map((role) => {
        const place = whereOf(role);
        return (
          <Button key={role.id} small aria-pressed={value === role.id} onClick={() => onChange(role.id)}>
            {role.name}
            {place && <span class="role-place"> · {place}</span>}
          </Button>
        );
      })}
    </div>
  );
}

/** In a sequence, what earlier steps captured, and an e-mail address that nobody has: one click puts it in. */
function Offers({ kind, name, value, onChange }: ScalarProps) {
  const offers = useContext(OfferContext)?.(kind, name) ?? [];
  if (!offers.length) return null;
  return (
    <div class="row roles">
      {offers.map((text) => (
        <Button key={text} small aria-pressed={value === text} onClick={() => onChange(text)}>
          {text}
        </Button>
      ))}
    </div>
  );
}

/** Kinds with a form of their own, or written as JSON. */
const WITH_PARTS = ["array", "mapping", "object", "selection", "documents", "filter", "count", "any", "file"] as const;

/** The input of each other kind: the compiler names one that is missing. */
const INPUTS: Record<Exclude<Kind["kind"], (typeof WITH_PARTS)[number]>, (props: InputProps) => ComponentChild> = {
  string: (props) => <TextInput {...(props as InputProps<TextKind>)} />,
  email: (props) => <PlainInput {...props} type="email" />,
  object_id: (props) => <IdInput {...(props as InputProps<IdKind>)} />,
  date: (props) => <DateInput {...props} />,
  boolean: (props) => <EnumInput {...props} kind={{ ...props.kind, kind: "enums", choices: [true, false] }} />,
  number: (props) => <NumberInput {...(props as InputProps<NumberKind>)} />,
  integer: (props) => <NumberInput {...(props as InputProps<NumberKind>)} />,
  decimal: (props) => <PlainInput {...props} type="text" />,
  binary: (props) => <PlainInput {...props} type="text" />,
  enums: (props) => <EnumInput {...(props as InputProps<EnumKind>)} />,
};

/** Whether values of a kind have no parts. */
export function isScalar(kind: Kind): boolean {
  return !(WITH_PARTS as readonly string[]).includes(kind.kind);
}

function Input(props: InputProps) {
  const known: Partial<Record<string, (props: InputProps) => ComponentChild>> = INPUTS;
  const input = known[props.kind.kind];
  return <>{input ? input(props) : <PlainInput {...props} type="text" />}</>;
}

function text(value: Value): string {
  return value === undefined || value === null ? "" : String(value);
}

type InputType = "text" | "password" | "email" | "url" | "date" | "time";

function PlainInput({ ids, kind, path, value, onChange, type, isPassword }: InputProps & { type: InputType; isPassword?: boolean }) {
  return (
    <input
      {...ids}
      type={type as "text"}
      data-path={path}
      data-password={isPassword}
      autocomplete="off"
      spellcheck={false}
      placeholder={whenLeftOut(kind, value)}
      value={text(value)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

/** What the service takes where nothing is written; in browsers that show dates in their own way, their own words. */
function whenLeftOut(kind: Kind, value: Value): string | undefined {
  if (value === "") return kind.presence === "required" ? undefined : "sent as empty text";
  if (kind.presence !== "defaulted") return undefined;
  if (kind.default === undefined) return "filled in";
  return typeof kind.default === "string" ? kind.default : stringify(kind.default);
}

/** The choice that leaves a field out. */
function noChoice(kind: Kind): string {
  if (kind.presence === "required") return "Choose…";
  const taken = whenLeftOut(kind, undefined);
  return taken === undefined ? "Not set" : `${taken} (default)`;
}

const PASSWORD = /passw|passphrase/i;

const LONG = 300;

const TYPES = { uri: "url", date: "date", time: "time", uuid: "text", none: "text" } as const;

function TextInput(props: InputProps<TextKind>) {
  const { ids, kind, name, path, value, onChange } = props;
  if (PASSWORD.test(name)) return <PasswordInput {...props} />;
  const isLong = (kind.sized !== false && (kind.maxLength ?? 0) > LONG) || text(value).includes("\n") || text(value).length > LONG;
  if (isLong && !kind.format)
    return (
      <Huge ids={ids} path={path} text={text(value)}>
        <textarea
          {...ids}
          class="long"
          data-path={path}
          rows={1}
          placeholder={whenLeftOut(kind, value)}
          value={text(value)}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      </Huge>
    );
  const type = TYPES[kind.format ?? "none"];
  return <PlainInput {...props} type={fitsNative(type, text(value)) ? type : "text"} />;
}

/** Masked until it is asked to be shown; a form knows it by `data-password`. */
function PasswordInput(props: InputProps<TextKind>) {
  const [isShown, setShown] = useState(false);
  return (
    <div class="with-button">
      <PlainInput {...props} type={isShown ? "text" : "password"} isPassword />
      <Button small onClick={() => setShown(!isShown)}>
        {isShown ? "Hide" : "Show"}
        <span class="sr-only"> {props.name}</span>
      </Button>
    </div>
  );
}

/** Whether the browser's own input shows this text: else it would look empty. */
function fitsNative(type: string, value: string): boolean {
  if (value === "") return true;
  if (type === "date") return /^\d{4}-\d\d-\d\d$/.test(value);
  return type !== "time" || /^\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(value);
}

function NumberInput({ ids, kind, path, value, onChange }: InputProps<NumberKind>) {
  return (
    <input
      {...ids}
      type="text"
      inputMode={kind.kind === "integer" ? "numeric" : "decimal"}
      data-path={path}
      autocomplete="off"
      placeholder={whenLeftOut(kind, value)}
      value={text(value)}
      onInput={(event) => onChange(numberOf(event.currentTarget.value))}
    />
  );
}

/** What a typed number is sent as: a number where it is one, else the text, which the server then refuses. */
export function numberOf(typed: string): Json | undefined {
  const clean = typed.trim();
  // "1." and "1e" are on the way to a number: as text the input keeps them.
  return clean === "" ? undefined : (numberIn(clean) ?? typed);
}

const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)Z$/;

function DateInput(props: InputProps) {
  const { ids, path, value, onChange } = props;
  const given = text(value);
  const local = given === "" ? "" : ISO.exec(given)?.[1];
  if (local === undefined) return <PlainInput {...props} type="text" />;
  return (
    <div class="with-button">
      <input
        {...ids}
        type="datetime-local"
        step="any"
        data-path={path}
        value={local}
        onInput={(event) => onChange(event.currentTarget.value ? `${event.currentTarget.value}Z` : "")}
      />
      <Button small onClick={() => onChange(new Date().toISOString())}>
        Now (UTC)
      </Button>
    </div>
  );
}

function EnumInput({ ids, kind, path, value, onChange }: InputProps<EnumKind>) {
  const at = kind.choices.findIndex((choice) => isSame(choice, value));
  if (kind.choices.length > MANY)
    return (
      <Combobox
        ids={ids}
        path={path}
        choices={kind.choices.map(String)}
        at={at}
        placeholder={at < 0 && value !== undefined ? `${stringify(value)} (unknown)` : noChoice(kind)}
        isOptional={kind.presence !== "required"}
        onChoose={(next) => onChange(kind.choices[next])}
      />
    );
  return (
    <select
      {...ids}
      data-path={path}
      value={value === undefined ? "none" : String(at)}
      onChange={(event) => onChange(kind.choices[Number(event.currentTarget.value)])}
    >
      {(value === undefined || kind.presence !== "required") && <option value="none">{noChoice(kind)}</option>}
      {at < 0 && value !== undefined && <option value="-1">{`${stringify(value)} (unknown)`}</option>}
      {kind.choices.map((choice, index) => (
        <option key={index} value={String(index)}>
          {String(choice)}
        </option>
      ))}
    </select>
  );
}

function BooleanField({ kind, name, path, value, onChange }: ScalarProps) {
  const errors = useErrors(path);
  return (
    <div class={errors ? "field wrong" : "field"}>
      <label class="switch">
        <input
          type="checkbox"
          data-path={path}
          checked={value === true}
          aria-invalid={errors ? true : undefined}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
        <span class="value-name">{name}</span>
        <code class="muted">{String(value === true)}</code>
      </label>
      {kind.description && <p class="field-hint"><WithCode text={kind.description} /></p>}
      {errors && <p class="field-errors">{errors.join(" ")}</p>}
    </div>
  );
}

function IdInput(props: InputProps<IdKind>) {
  const { ids, kind, name, path, value, onChange, parts } = props;
  const [picking, setPicking] = useState(false);
  const title = titleOfId(value);
  return (
    <div class="with-button">
      <input
        {...ids}
        type="text"
        class="mono"
        data-path={path}
        autocomplete="off"
        spellcheck={false}
        placeholder={whenLeftOut(kind, value) ?? "24 hex digits"}
        value={text(value)}
        onInput={(event) => onChange(event.currentTarget.value.trim())}
      />
      {canPick(kind.of) && (
        <Button small icon="search" aria-label={`Find ${name}`} onClick={() => setPicking(true)}>
          Find
        </Button>
      )}
      {title && <span class="id-title small">{title}</span>}
      {isFile(kind.of) && <FileOfId model={kind.of} id={text(value)} />}
      {picking && (
        <Picker
          parts={parts}
          of={kind.of}
          taken={typeof value === "string" && value ? [value] : []}
          onClose={() => setPicking(false)}
          onPick={(id) => {
            onChange(id);
            setPicking(false);
          }}
        />
      )}
    </div>
  );
}

/** A value that no form describes: as JSON. */

import { useContext } from "preact/hooks";
import { parse, problemIn, stringify, type Json } from "../json";
import { WithCode } from "../library/words";
import { putDraft } from "../state";
import { Field } from "../ui";
import { DraftsContext, useTyped } from "./drafts";
import { useErrors } from "./errors";
import { Huge } from "./huge";
import { nameOfKind, type ValueProps } from "./value";

export function JsonField({ kind, name, path, value, onChange }: ValueProps) {
  const errors = useErrors(path);
  const drafts = useContext(DraftsContext);
  const [typed, setTyped] = useTyped(textOf(value));
  const text = drafts.value.get(path) ?? typed;
  const problem = problemOf(text);
  const hint = (
    <>
      {kind.description && <WithCode text={kind.description} />} Written as JSON.
    </>
  );
  return (
    <Field
      label={<span class="value-name">{name}</span>}
      hint={hint}
      errors={problem ? [problem] : errors}
      required={kind.presence === "required"}
      aside={nameOfKind(kind)}
    >
      {(ids) => (
        <Huge ids={ids} path={path} text={text}>
        <textarea
          {...ids}
          class="mono"
          data-path={path}
          spellcheck={false}
          rows={Math.min(8, Math.max(2, text.split("\n").length))}
          value={text}
          onInput={(event) => {
            const next = event.currentTarget.value;
            const isBroken = problemOf(next) !== "";
            putDraft(drafts, path, isBroken ? next : undefined);
            if (isBroken) return;
            const parsed = next.trim() === "" ? undefined : parse(next);
            setTyped(next, textOf(parsed));
            onChange(parsed);
          }}
        />
        </Huge>
      )}
    </Field>
  );
}

function textOf(value: Json | undefined): string {
  return value === undefined ? "" : stringify(value, 2);
}

function problemOf(text: string): string {
  const problem = text.trim() === "" ? "" : problemIn(text);
  return problem && `Not valid, so nothing is sent. ${problem}`;
}

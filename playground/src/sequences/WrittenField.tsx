/** A field of a sequence; what is written in it stays as it is, and holds the sequence back until it is valid. */

import type { ComponentChildren } from "preact";
import { useEffect, useId } from "preact/hooks";
import { putDraft } from "../state";
import { Field } from "../ui";
import { fieldDrafts, fieldKey } from "./written";

interface Props {
  /** Of what it is a field. */
  id: string;
  /** Its name among the fields of that. */
  field: string;
  label: ComponentChildren;
  now: string;
  problemOf: (text: string) => string;
  onChange: (text: string) => void;
  input?: { class?: string; placeholder?: string; inputMode?: "numeric" };
  hint?: ComponentChildren;
  /** What is wrong with it though it is valid. */
  error?: string | undefined;
  class?: string;
  /** What may be written. */
  choices?: readonly string[];
}

export function WrittenField({ id, field, label, now, problemOf, onChange, input, hint, error = "", class: more, choices }: Props) {
  const key = fieldKey(id, field);
  const list = useId();
  const draft = fieldDrafts.value.get(key);
  const problem = draft === undefined ? "" : problemOf(draft);
  const write = (text: string) => {
    const isWrong = problemOf(text) !== "";
    putDraft(fieldDrafts, key, isWrong ? text : undefined);
    if (!isWrong) onChange(text);
  };
  // What was in its way may be gone: a name is free again.
  useEffect(() => {
    if (draft !== undefined && problem === "") write(draft);
  });
  return (
    <Field label={label} hint={hint} errors={[problem || error].filter(Boolean)} class={more}>
      {(ids) => (
        <>
          <input {...ids} spellcheck={false} autocomplete="off" list={choices ? list : undefined} {...input} value={draft ?? now} onInput={(event) => write(event.currentTarget.value)} />
          {choices && (
            <datalist id={list}>
              {choices.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      )}
    </Field>
  );
}

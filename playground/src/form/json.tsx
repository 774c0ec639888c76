/** A value that no form describes: as JSON. */

import { useState } from "preact/hooks";
import { parse, problemIn, stringify } from "../json";
import { Field } from "../ui";
import { useErrors } from "./errors";
import { nameOfKind, type ValueProps } from ".";

export function JsonField({ kind, name, path, value, onChange }: ValueProps) {
  const errors = useErrors(path);
  const [typed, setTyped] = useState<{ text: string; means: string } | null>(null);
  const now = value === undefined ? "" : stringify(value, 2);
  // What was typed is shown as long as it means the value: not in the form in which it is written here.
  const text = typed && typed.means === now ? typed.text : now;
  const problem = problemOf(text);
  const hint = [kind.description, "Written as JSON."].filter(Boolean).join(" ");
  return (
    <Field
      label={<span class="value-name">{name}</span>}
      hint={hint}
      errors={problem ? [problem] : errors}
      required={kind.presence === "required"}
      aside={nameOfKind(kind)}
    >
      {(ids) => (
        <textarea
          {...ids}
          class="mono"
          data-path={path}
          spellcheck={false}
          rows={Math.min(8, Math.max(2, text.split("\n").length))}
          value={text}
          onInput={(event) => {
            const next = event.currentTarget.value;
            if (problemOf(next)) setTyped({ text: next, means: now });
            else {
              const parsed = next.trim() === "" ? undefined : parse(next);
              setTyped({ text: next, means: parsed === undefined ? "" : stringify(parsed, 2) });
              onChange(parsed);
            }
          }}
        />
      )}
    </Field>
  );
}

function problemOf(text: string): string {
  return text.trim() === "" || !problemIn(text) ? "" : "This is no JSON (yet); it is not sent.";
}

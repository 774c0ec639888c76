/** The variables of a sequence. */

import { useTyped } from "../form/drafts";
import { isSecretName } from "../library/secrets";
import { leaveRow } from "../library/focus";
import { freeName } from "../library/names";
import { Button, Field, Icon, IconButton } from "../ui";
import { GENERATED } from "../state/fill";
import { environmentName } from "./pytest";
import { change, current, removeVariable, rename } from "./store";
import { newId, type Variable } from "./types";
import { textOf, valueOf } from "./value-text";
import { namesOf, problemOfName } from "./variable-names";
import { WrittenField } from "./WrittenField";

export function Variables() {
  const { variables } = current.value;
  const put = (id: string, part: Partial<Variable>) =>
    change({ variables: current.value.variables.map((one) => (one.id === id ? { ...one, ...part } : one)) });
  const add = () => {
    const name = freeName("value", namesOf(current.value), "_");
    change({ variables: [...variables, { id: newId(), name, value: "", secret: false }] });
  };
  return (
    <details class="sequences-variables" open={variables.length > 0}>
      <summary>
        <Icon name="right" />
        Variables ({variables.length})
      </summary>
      {variables.map((variable) => (
        <Row
          key={variable.id}
          variable={variable}
          onRename={(name) => rename(variable.id, name)}
          onChange={(part) => put(variable.id, part)}
          onRemove={() => removeVariable(variable.id)}
        />
      ))}
      <Button small icon="add" onClick={add}>
        Add a variable
      </Button>
      <p class="field-hint">
        Write <code>{"{{name}}"}</code> in a step for the value of a variable or capture. Made anew each time:{" "}
        {GENERATED.map(([text, what], at) => (
          <span key={text}>
            {at > 0 && ", "}
            <code>{text}</code> {what}
          </span>
        ))}
        .
      </p>
    </details>
  );
}

interface RowProps {
  variable: Variable;
  onRename: (name: string) => void;
  onChange: (part: Partial<Variable>) => void;
  onRemove: () => void;
}

function Row({ variable: { id, name, value, secret }, onRename, onChange, onRemove }: RowProps) {
  const [text, setText] = useTyped(textOf(value, secret));
  const hint = secret ? `Not in any file; the exported test reads ${environmentName(name)}` : undefined;
  return (
    <div class="sequences-row" role="group" aria-label={`Variable ${name}`}>
      <WrittenField
        id={id}
        field="name"
        label="Name"
        input={{ class: "mono" }}
        now={name}
        problemOf={(text) => problemOfName(text, name, current.value)}
        onChange={(next) => {
          onRename(next);
          if (!secret && isSecretName(next)) onChange({ secret: true, value: text });
        }}
      />
      <Field label="Value" hint={hint} class="grow">
        {(ids) => (
          <input
            {...ids}
            data-variable={id}
            class={secret ? "sequences-secret" : undefined}
            spellcheck={false}
            autocomplete="off"
            value={text}
            onInput={(event) => {
              const next = event.currentTarget.value;
              const meant = secret ? next : valueOf(next);
              setText(next, textOf(meant, secret));
              onChange({ value: meant });
            }}
          />
        )}
      </Field>
      <label class="library-check">
        <input
          type="checkbox"
          checked={secret}
          onChange={(event) => {
            const isSecret = event.currentTarget.checked;
            onChange({ secret: isSecret, value: isSecret ? text : valueOf(text) });
          }}
        />
        Secret
      </label>
      <IconButton
        icon="remove"
        label={`Remove the variable ${name}`}
        onClick={(event) => {
          leaveRow(event);
          onRemove();
        }}
      />
    </div>
  );
}

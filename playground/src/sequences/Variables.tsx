/** The variables of a sequence. */

import { useTyped } from "../form/drafts";
import { isSecretName } from "../library/secrets";
import { leaveRow } from "../library/focus";
import { freeName } from "../library/names";
import { Button, Field, Icon, IconButton } from "../ui";
import { GENERATED } from "../state/fill";
import { environmentName } from "./pytest";
import { change, current, removeVariable } from "./store";
import { VARIABLE_NAME, newId, type Variable } from "./types";
import { textOf, valueOf } from "./value-text";

export function Variables() {
  const { variables } = current.value;
  const put = (id: string, part: Partial<Variable>) =>
    change({ variables: variables.map((one) => (one.id === id ? { ...one, ...part } : one)) });
  const add = () => {
    const name = freeName(
      "value",
      variables.map((one) => one.name),
      "_",
    );
    change({ variables: [...variables, { id: newId(), name, value: "", secret: false }] });
  };
  return (
    <details class="sequences-variables" open={variables.length > 0}>
      <summary>
        <Icon name="right" />
        Variables ({variables.length})
      </summary>
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
      {variables.map((variable) => (
        <Row
          key={variable.id}
          variable={variable}
          onChange={(part) => put(variable.id, part)}
          onRemove={() => removeVariable(variable.id)}
        />
      ))}
      <Button small icon="add" onClick={add}>
        Add a variable
      </Button>
    </details>
  );
}

interface RowProps {
  variable: Variable;
  onChange: (part: Partial<Variable>) => void;
  onRemove: () => void;
}

function Row({ variable: { name, value, secret }, onChange, onRemove }: RowProps) {
  const [written, setWritten] = useTyped(name);
  const [text, setText] = useTyped(textOf(value, secret));
  const isName = VARIABLE_NAME.test(written);
  const hint = secret ? `Not in any file; the exported test reads ${environmentName(name)}` : undefined;
  return (
    <div class="sequences-row" role="group" aria-label={`Variable ${name}`}>
      <Field label="Name" errors={isName ? [] : ["Letters, digits and _ only."]}>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            value={written}
            onInput={(event) => {
              const next = event.currentTarget.value;
              setWritten(next, VARIABLE_NAME.test(next) ? next : name);
              if (VARIABLE_NAME.test(next)) onChange({ name: next, ...(!secret && isSecretName(next) && { secret: true, value: text }) });
            }}
          />
        )}
      </Field>
      <Field label="Value" hint={hint} class="grow">
        {(ids) => (
          <input
            {...ids}
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

/** Environments: their names and variables, and which one is used. */

import { GATEWAY_URL } from "../catalog";
import { leaveRow } from "../library/focus";
import { freeName } from "../library/names";
import { NotKept } from "../library/NotKept";
import { isSecretName } from "../library/secrets";
import {
  addEnvironment,
  chooseEnvironment,
  environment,
  environments,
  environmentsRefusal,
  hex,
  putEnvironment,
  removeEnvironment,
  removeEnvironmentVariable,
} from "../state";
import { Button, Dialog, Field, IconButton, once } from "../ui";
import "../form/form.css";

const FIRST = ["local", "staging"];

export function EnvironmentsDialog({ onClose }: { onClose: () => void }) {
  const all = environments.value;
  const now = environment.value;
  const names = all.map(({ name }) => name);
  const add = () => addEnvironment(FIRST.find((name) => !names.includes(name)) ?? freeName("environment", names));
  return (
    <Dialog title="Environments" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="stack">
        <p class="muted">
          <code>{"{{name}}"}</code> in a field, header or sequence is replaced by its value in the current environment.
        </p>
        <NotKept refusal={environmentsRefusal.value} />
        <div class="row">
          <Field label="Current environment" class="grow">
            {(ids) => (
              <select {...ids} value={now?.id ?? ""} onChange={(event) => chooseEnvironment(event.currentTarget.value)}>
                <option value="">None</option>
                {all.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Button small icon="add" onClick={once(add)}>
            Add an environment
          </Button>
        </div>
        {now && (
          <>
            <div class="row">
              <Field label="Name" class="grow">
                {(ids) => (
                  <input
                    {...ids}
                    value={now.name}
                    maxLength={200}
                    onInput={(event) => event.currentTarget.value && putEnvironment({ ...now, name: event.currentTarget.value })}
                  />
                )}
              </Field>
              <Button small icon="remove" onClick={once(() => removeEnvironment(now))}>
                Remove {now.name}
              </Button>
            </div>
            <Field label="Gateway URL" hint="For code snippets and exported tests. This page always calls its own gateway.">
              {(ids) => (
                <input
                  {...ids}
                  class="mono"
                  type="url"
                  spellcheck={false}
                  maxLength={2000}
                  placeholder={GATEWAY_URL}
                  value={now.url}
                  onInput={(event) => putEnvironment({ ...now, url: event.currentTarget.value })}
                />
              )}
            </Field>
            {now.variables.map((one, at) => {
              const put = (part: Partial<typeof one>) =>
                putEnvironment({ ...now, variables: now.variables.map((other) => (other === one ? { ...one, ...part } : other)) });
              return (
                <div class="header-row" role="group" aria-label={`Variable ${at + 1}`} key={one.id}>
                  <input
                    class="mono"
                    aria-label={`Name of variable ${at + 1}`}
                    aria-invalid={(one.name !== "" && !/^[A-Za-z_][A-Za-z0-9_]{0,39}$/.test(one.name)) || undefined}
                    placeholder="name"
                    value={one.name}
                    onInput={(event) => put({ name: event.currentTarget.value })}
                  />
                  <input
                    class="mono"
                    type={(isSecretName(one.name) ? "password" : "text") as "text"}
                    autocomplete="off"
                    spellcheck={false}
                    aria-label={`Value of variable ${at + 1}`}
                    placeholder="value"
                    value={one.value}
                    onInput={(event) => put({ value: event.currentTarget.value })}
                  />
                  <IconButton
                    icon="remove"
                    label={`Remove variable ${at + 1}`}
                    onClick={(event) => {
                      leaveRow(event);
                      removeEnvironmentVariable(now, one);
                    }}
                  />
                </div>
              );
            })}
            <div>
              <Button
                small
                icon="add"
                onClick={() => putEnvironment({ ...now, variables: [...now.variables, { id: hex(8), name: "", value: "" }] })}
              >
                Add a variable
              </Button>
            </div>
          </>
        )}
        <p class="muted small">
          Stored in this browser. Values named password, token or secret are kept only until the page closes and are never
          exported or shared.
        </p>
      </div>
    </Dialog>
  );
}

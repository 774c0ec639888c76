/** What other views put into a sequence: it is asked into which, and told where it went. */

import { render } from "preact";
import type { Json } from "../json";
import { titleOf } from "../library/reading";
import { view, type ActRequest } from "../state";
import { Button, Dialog, Icon, notify } from "../ui";
import * as store from "./store";
import { stepOfRequest } from "./store";
import "./put.css";

/** Add a request as the last step. */
export async function addRequest(request: ActRequest, hasFiles: boolean): Promise<void> {
  if (!(await askWhere(`${titleOf(request)} is added as its last step.`))) return;
  const number = store.addStep(request, titleOf(request));
  const id = store.current.value.steps[number - 1]?.id;
  if (id) tell(id, `${titleOf(request)} is step ${number} of ${named()} now${hasFiles ? ", without its files" : ""}.`);
}

/** Let later steps have a value of the reply to a request. */
export async function capture(request: ActRequest, path: string): Promise<void> {
  if (!(await askWhere(`It captures ${path} of ${titleOf(request)}, which is added as a step unless it is one.`))) return;
  const { id, number } = stepOfRequest(request, titleOf(request));
  if (id) tell(id, `Step ${number} of ${named()} captures {{${store.addCapture(id, path)}}}.`);
}

/** Expect a value of the reply to a request. */
export async function expect(request: ActRequest, path: string, value: Json): Promise<void> {
  if (!(await askWhere(`It expects this at ${path} of ${titleOf(request)}, which is added as a step unless it is one.`))) return;
  const { id, number } = stepOfRequest(request, titleOf(request));
  if (!id) return;
  store.addCheck(id, path, value);
  tell(id, `Step ${number} of ${named()} expects this at ${path}.`);
}

function named(): string {
  return `“${store.current.value.name}”`;
}

function tell(step: string, what: string): void {
  const { id } = store.current.value;
  const show = () => {
    store.choose(id);
    store.unfold(step);
    view.value = "sequences";
  };
  notify(what, { show });
}

/** Let the user choose the sequence, which becomes the current one; where there is none, it is a new one. */
function askWhere(what: string): Promise<boolean> {
  if (store.existing.value.length === 0) {
    store.begin();
    return Promise.resolve(true);
  }
  const host = document.createElement("div");
  document.body.append(host);
  return new Promise((resolve) => {
    const close = (isChosen: boolean) => {
      render(null, host);
      host.remove();
      resolve(isChosen);
    };
    render(<Where what={what} onClose={close} />, host);
  });
}

function Where({ what, onClose }: { what: string; onClose: (isChosen: boolean) => void }) {
  const all = store.existing.value;
  const last = all.find(({ id }) => id === store.current.value.id) ?? all.at(-1);
  return (
    <Dialog title="Which sequence?" onClose={() => onClose(false)}>
      <p class="muted">{what}</p>
      <ul class="sequences-where" aria-label="Sequences">
        {all.map((one) => (
          <li key={one.id}>
            <button
              type="button"
              data-focus={one === last || undefined}
              onClick={() => {
                store.choose(one.id);
                onClose(true);
              }}
            >
              <Icon name="list" />
              <span>{one.name}</span>
              <span class="muted small">{one.steps.length === 1 ? "1 step" : `${one.steps.length} steps`}</span>
            </button>
          </li>
        ))}
      </ul>
      <Button
        icon="add"
        onClick={() => {
          store.begin();
          onClose(true);
        }}
      >
        New sequence
      </Button>
    </Dialog>
  );
}

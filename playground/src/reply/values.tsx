/** What can be done with the value that is chosen in a reply. */

import { stringify, type Json } from "../json";
import { titleOf } from "../library/reading";
import { pathText } from "../sequences/path";
import { isKeepable } from "../sequences/secrets";
import { showRequest, specOf, view, type ActRequest } from "../state";
import { Button, copyText, notify, once } from "../ui";
import { openerOf, type Path } from "./documents";

interface Props {
  /** What the reply answers. */
  request: ActRequest;
  /** Whose token was sent. */
  who: string;
  value: Json;
  path: Path;
}

export function ValueBar({ request, who, value, path }: Props) {
  const written = pathText(path);
  const opener = openerOf(specOf(request)?.returns ?? { kind: "any", presence: "required" }, value, path, who);
  const isInBody = path[0] === "body";
  return (
    <>
      <code class="grow">{written}</code>
      <Button small onClick={() => void copy(typeof value === "string" ? value : stringify(value, 2), "The value")}>
        Copy value
      </Button>
      <Button small onClick={() => void copy(written, "The path")}>
        Copy path
      </Button>
      {opener && (
        <Button small icon="link" onClick={() => showRequest(opener.request, { run: true })}>
          Open with {opener.act}
        </Button>
      )}
      {isInBody && (
        <Button small icon="add" title="Add the request to the sequence, and let later steps have this value" onClick={once(() => void capture(request, written))}>
          Capture
        </Button>
      )}
      {isInBody && isKeepable({ path: written, value }) && (
        <Button small icon="check" title="Add the request to the sequence, and expect this value there" onClick={once(() => void expect(request, written, value))}>
          Expect this
        </Button>
      )}
    </>
  );
}

async function copy(text: string, what: string): Promise<void> {
  const isDone = await copyText(text);
  notify(isDone ? `${what} is copied.` : "The browser does not allow this page to copy.", { bad: !isDone });
}

const toSequences = (): void => void (view.value = "sequences");

async function capture(request: ActRequest, path: string): Promise<void> {
  const store = await import("../sequences/store");
  const { id, number } = store.stepOfRequest(request, titleOf(request));
  if (!id) return;
  notify(`Step ${number} of the sequence captures {{${store.addCapture(id, path)}}}.`, { show: toSequences });
}

async function expect(request: ActRequest, path: string, value: Json): Promise<void> {
  const store = await import("../sequences/store");
  const { id, number } = store.stepOfRequest(request, titleOf(request));
  if (!id) return;
  store.addCheck(id, path, value);
  notify(`Step ${number} of the sequence expects this at ${path}.`, { show: toSequences });
}

/** Add a request to the sequence as its last step. */
export async function addToSequence(request: ActRequest, hasFiles: boolean): Promise<void> {
  const store = await import("../sequences/store");
  const number = store.addStep(request, titleOf(request));
  if (number) notify(`It is step ${number} of the sequence now${hasFiles ? ", without its files" : ""}.`, { show: toSequences });
}

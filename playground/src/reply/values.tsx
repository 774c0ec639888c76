/** What can be done with the value that is chosen in a reply. */

import { stringify, type Json } from "../json";
import { fileAt } from "../linked/find";
import { LinkedView } from "../linked/view";
import { pathText } from "../sequences/path";
import { isKeepable } from "../sequences/secrets";
import { showRequest, specOf, type ActRequest } from "../state";
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
  const file = fileAt(specOf(request)?.returns, value, path);
  return (
    <>
      {file && <LinkedView key={file.url} file={file} who={who} />}
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
        <Button small icon="add" title="Add the request to a sequence, and let later steps have this value" onClick={once(() => void putter().then((put) => put.capture(request, written)))}>
          Capture
        </Button>
      )}
      {isInBody && isKeepable({ path: written, value }) && (
        <Button small icon="check" title="Add the request to a sequence, and expect this value there" onClick={once(() => void putter().then((put) => put.expect(request, written, value)))}>
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

const putter = () => import("../sequences/put");

/** Add a request to a sequence as its last step. */
export async function addToSequence(request: ActRequest, hasFiles: boolean): Promise<void> {
  await (await putter()).addRequest(request, hasFiles);
}

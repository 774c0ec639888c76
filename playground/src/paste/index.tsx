/** Opens requests from a pasted curl command or body. */

import { useState } from "preact/hooks";
import { pasted } from "../account";
import { titleOf, Unreadable } from "../library/reading";
import { ActName } from "../request/mark";
import { activeTab, headers, MOST_HEADERS, openRequest, specOf, token } from "../state";
import { Button, Dialog, Field, focusContent, notify } from "../ui";
import { readPasted, unknownIn, type Pasted } from "./read";
import "../form/form.css";
import "./paste.css";

export function PasteDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState(pasted.value);
  const [withToken, setWithToken] = useState(false);
  const [withHeaders, setWithHeaders] = useState(false);
  const found = text.trim() ? attempt(text) : undefined;
  const problem = typeof found === "string" ? found : undefined;
  const read = typeof found === "object" ? found : undefined;
  const count = read?.requests.length ?? 0;
  const open = (event: Event) => {
    event.preventDefault();
    if (!read || !count) return;
    onClose();
    if (withToken && read.token) token.value = read.token;
    if (withHeaders) headers.value = [...headers.value, ...read.headers.map(([name, value]) => ({ name, value, on: true }))].slice(-MOST_HEADERS);
    for (const request of read.requests) openRequest(request);
    const tab = activeTab.value;
    if (tab && read.key && specOf(tab.request.value)?.idempotent) tab.key.value = read.key;
    setTimeout(focusContent); // After the dialog has given the focus back.
    notify(count === 1 ? "The request is open." : `${count} requests are open.`);
  };
  return (
    <Dialog
      title="Paste a request"
      wide
      onClose={onClose}
      actions={
        <Button look="primary" type="submit" form="paste" disabled={!count}>
          {count > 1 ? `Open ${count} requests` : "Open"}
        </Button>
      }
    >
      <form id="paste" class="stack" onSubmit={open}>
        <Field
          label="curl command or body"
          errors={problem ? [problem] : undefined}
          hint="As browsers and Postman copy it, for bash or cmd; several commands open several requests."
        >
          {(ids) => (
            <textarea
              {...ids}
              class="mono"
              rows={10}
              spellcheck={false}
              autocomplete="off"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
              onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && open(event)}
            />
          )}
        </Field>
        <div role="status" class="stack">
          {read && <Found read={read} />}
        </div>
        {read?.token && (
          <label class="switch">
            <input type="checkbox" checked={withToken} onChange={(event) => setWithToken(event.currentTarget.checked)} />
            Send its token with every call of this page
          </label>
        )}
        {read && read.headers.length > 0 && (
          <label class="switch">
            <input type="checkbox" checked={withHeaders} onChange={(event) => setWithHeaders(event.currentTarget.checked)} />
            Send these headers with every call: {read.headers.map(([name]) => name).join(", ")}
          </label>
        )}
      </form>
    </Dialog>
  );
}

function Found({ read: { requests, notes } }: { read: Pasted }) {
  const unknown = unknownIn(requests).map(titleOf);
  const all = [...notes, ...(unknown.length ? [`This service has no ${unknown.join(", ")}.`] : [])];
  return (
    <>
      <p>
        {requests.map((one, at) => (
          <span key={at}>
            {at > 0 && ", "}
            <ActName {...one} />
          </span>
        ))}
      </p>
      {all.length > 0 && (
        <ul class="paste-notes small">
          {all.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function attempt(text: string): Pasted | string {
  try {
    return readPasted(text);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return /[.!?]$/.test(error.message) ? error.message : `${error.message}.`;
  }
}

/** Opens requests from a pasted curl command or body. */

import { useState } from "preact/hooks";
import { pasted } from "../account";
import { Unreadable } from "../library/reading";
import { ActName } from "../request/mark";
import { activeTab, catalog, headers, MOST_HEADERS, openRequest, specOf, token } from "../state";
import { Button, classes, Dialog, Field, focusContent, notify } from "../ui";
import { missingText } from "../request/nearest";
import { maskSecrets } from "./mask";
import { readPasted, sentence, unknownIn, type Pasted } from "./read";
import "../form/form.css";
import "./paste.css";

export function PasteDialog({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState(pasted.value);
  const [withToken, setWithToken] = useState(false);
  const [withHeaders, setWithHeaders] = useState(false);
  /** Whether secrets are: not while somebody writes. */
  const [isMasked, setMasked] = useState(true);
  const found = text.trim() ? attempt(text) : undefined;
  const read = typeof found === "object" ? found : undefined;
  const problems = typeof found === "string" ? [found] : (read?.problems ?? []);
  const masked = isMasked && read ? maskSecrets(text, read) : undefined;
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
          errors={problems}
          hint="As browsers and Postman copy it, for bash or cmd; several commands open several requests."
        >
          {(ids) => (
            <textarea
              {...ids}
              class={classes("mono", masked && "paste-masked")}
              rows={10}
              spellcheck={false}
              autocomplete="off"
              readOnly={masked !== undefined}
              value={masked ?? text}
              onInput={(event) => {
                setText(event.currentTarget.value);
                setMasked(/Paste|Drop/.test(event.inputType ?? ""));
              }}
              onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && open(event)}
            />
          )}
        </Field>
        {masked !== undefined && (
          <div class="row small muted">
            <span class="grow">Passwords and tokens are shown as dots.</span>
            <Button small icon="edit" onClick={() => setMasked(false)}>
              Show and edit
            </Button>
          </div>
        )}
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
  const all = [...notes, ...(catalog.value ? missingText(catalog.value, unknownIn(requests)) : [])];
  return (
    <>
      {requests.length > 0 && (
        <p>
          {requests.map((one, at) => (
            <span key={at}>
              {at > 0 && ", "}
              <ActName {...one} />
            </span>
          ))}
        </p>
      )}
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
    return sentence(error);
  }
}

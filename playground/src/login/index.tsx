/** The form of the act that gives a token; what comes back is sent with every later call. */

import { useState } from "preact/hooks";
import { catalog, emptyRequest, loginOf, send, signIn, type ActRequest, type Reply } from "../state";
import { Button, Dialog, Empty, notify } from "../ui";
import { ErrorsContext, errorsOf, Fields } from "../form";
import "../form/form.css";
import "./login.css";
import { DemoAccounts } from "./demo";

export function LoginDialog({ onClose }: { onClose: () => void }) {
  const found = catalog.value && loginOf(catalog.value);
  const [request, setRequest] = useState(() => (found ? emptyRequest(catalog.value, found) : undefined));
  const [sent, setSent] = useState<{ request: ActRequest; reply: Reply }>();
  const [waiting, setWaiting] = useState(false);
  if (!request || found?.spec.set.kind !== "object")
    return (
      <Dialog title="Log in" onClose={onClose}>
        <Empty icon="key" title="This API has no login act" />
      </Dialog>
    );
  const submit = async (event: Event) => {
    event.preventDefault();
    if (waiting) return;
    setWaiting(true);
    const reply = await send(request, undefined, "");
    setWaiting(false);
    setSent({ request, reply });
    if (!reply.envelope?.success) return;
    if (!signIn(request.set, reply.envelope.body)) return notify("The reply has no token.", { bad: true });
    notify("Logged in.", { heard: true });
    onClose();
  };
  return (
    <Dialog
      title="Log in"
      onClose={onClose}
      actions={
        <Button look="primary" type="submit" form="log-in" disabled={waiting}>
          Log in
        </Button>
      }
    >
      <form id="log-in" class="stack" onSubmit={(event) => void submit(event)}>
        <DemoAccounts login={found} onDone={onClose} />
        <ErrorsContext.Provider value={sent ? errorsOf(sent.reply, sent.request, request) : {}}>
          <Fields kind={found.spec.set} path="set" value={request.set} onChange={(set) => setRequest({ ...request, set })} />
        </ErrorsContext.Provider>
        {sent && !waiting && <p class="field-errors" role="alert">{problemOf(sent.reply)}</p>}
        <p class="muted small">
          Calls <code>{found.act}</code>. The token stays in this browser tab.
        </p>
      </form>
    </Dialog>
  );
}

function problemOf({ envelope, error }: Reply): string {
  if (!envelope) return error ?? "";
  return envelope.success ? "" : envelope.body.message;
}

/** Sends the requests of several tabs as one, where the gateway takes batches. */

import { useState } from "preact/hooks";
import { isObject, stringify } from "../json";
import { titleOf } from "../library/reading";
import { duration, size } from "../library/format";
import { Wait } from "../reply/failure";
import { CallName } from "../request/mark";
import { activeId, batchOf, catalog, reasonNot, sendTabs, specOf, tabs, view, type Reply, type Tab } from "../state";
import { Badge, Button, CopyButton, Dialog, Empty } from "../ui";
import "../library/library.css";

export function BatchDialog({ onClose }: { onClose: () => void }) {
  const most = catalog.value?.maxBatch ?? 0;
  const possible = tabs.value.filter((tab) => reasonNotIn(tab) === "");
  const [left, setLeft] = useState<ReadonlySet<number>>(() => new Set(possible.slice(most).map(({ id }) => id)));
  const [atomic, setAtomic] = useState(false);
  const [waiting, setWaiting] = useState(false);
  const [done, setDone] = useState<{ reply: Reply; ids: number[]; atomic: boolean }>();
  const chosen = possible.filter(({ id }) => !left.has(id));
  const toggle = (id: number) => {
    const next = new Set(left);
    if (!next.delete(id)) next.add(id);
    setLeft(next);
  };
  const submit = async () => {
    setWaiting(true);
    const reply = await sendTabs(chosen, atomic);
    setWaiting(false);
    setDone(reply && { reply, ids: chosen.map(({ id }) => id), atomic });
  };
  const open = (id: number) => {
    activeId.value = id;
    view.value = "acts";
    onClose();
  };
  const isTooMany = chosen.length > most;
  return (
    <Dialog
      title="Send open requests as a batch"
      onClose={onClose}
      actions={
        <>
          <CopyButton small={false} label="Copy as JSON" text={() => stringify(batchOf(chosen.map(({ request }) => request.value), atomic), 2)} />
          <Button look="primary" icon="play" disabled={waiting || chosen.length === 0 || isTooMany} onClick={() => void submit()}>
            Send {chosen.length}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p class="muted">In one request, one after the other, with the token of who is signed in. At most {most}.</p>
        {tabs.value.length === 0 && <Empty icon="list" title="No requests are open" />}
        <ol class="library-entries" aria-label="Open requests">
          {tabs.value.map((tab) => (
            <Line key={tab.id} tab={tab} isChosen={chosen.includes(tab)} at={done?.ids.indexOf(tab.id) ?? -1} reply={done?.reply} onToggle={() => toggle(tab.id)} onOpen={() => open(tab.id)} />
          ))}
        </ol>
        <label class="switch">
          <input type="checkbox" checked={atomic} onChange={(event) => setAtomic(event.currentTarget.checked)} />
          <span>All or none (atomic)</span>
        </label>
        <p role="status" class={isTooMany ? "field-errors" : "muted"}>
          {isTooMany ? `At most ${most} at once.` : waiting ? "Waiting…" : done ? doneText(done) : ""}
        </p>
      </div>
    </Dialog>
  );
}

interface LineProps {
  tab: Tab;
  isChosen: boolean;
  /** Its place in what was sent; -1 for none. */
  at: number;
  reply: Reply | undefined;
  onToggle: () => void;
  onOpen: () => void;
}

function Line({ tab, isChosen, at, reply, onToggle, onOpen }: LineProps) {
  const reason = reasonNotIn(tab);
  const items = reply?.envelope?.body as unknown;
  const item: unknown = Array.isArray(items) && at >= 0 ? items[at] : undefined;
  return (
    <li class="library-entry">
      <div class="library-line">
        <label class="switch grow">
          <input type="checkbox" checked={isChosen} disabled={reason !== ""} onChange={onToggle} />
          <span>
            <CallName {...tab.request.value} />
          </span>
          {reason && <span class="muted small">{reason}</span>}
        </label>
        {isObject(item) && (
          <>
            <Badge look={item.success === true ? "ok" : "bad"}>{String(item.status)}</Badge>
            {isObject(item.body) && item.success !== true && <span class="small">{String(item.body.message)}</span>}
            <Button small aria-label={`Open the reply of ${titleOf(tab.request.value)}`} onClick={onOpen}>
              Open
            </Button>
          </>
        )}
      </div>
      {isObject(item) && item.success !== true && tab.reply.value && <Wait reply={tab.reply.value} tab={tab} />}
    </li>
  );
}

/** Why a request cannot be part of a batch; empty when it can. */
function reasonNotIn({ request, drafts, files, key, running }: Tab): string {
  if (!specOf(request.value)) return "no such act";
  if (running.value) return "under way";
  if (reasonNot(drafts.value)) return "not valid";
  if (files.value.size > 0) return "has files";
  return key.value.trim() ? "has an Idempotency-Key" : "";
}

function doneText({ reply: { envelope, error, ms, bytes, status }, atomic }: { reply: Reply; atomic: boolean }): string {
  const failed = atomic ? "Nothing was done, as not all could be." : "Some failed.";
  const what = !envelope ? (error ?? "") : envelope.success ? "All succeeded." : Array.isArray(envelope.body) ? failed : envelope.body.message;
  return `${what} Status ${status}, ${duration(ms)}, ${size(bytes)}`;
}

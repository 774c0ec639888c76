/** The history: search, look at, send again, save, remove. */

import { useMemo, useState } from "preact/hooks";
import { isObject, stringify, type Json, type JsonObject } from "../json";
import { lazy } from "../lazy";
import { statusWords } from "../reply/facts";
import { BODY, JsonTree } from "../reply/tree";
import { CallName } from "../request/mark";
import { bodyOf, openRequest, ROLE } from "../state";
import { envelopeOf } from "../state/request";
import { Badge, Button, Empty, Icon, IconButton, once, When } from "../ui";
import { leaveRow } from "./focus";
import { duration, size } from "./format";
import { titleOf } from "./reading";
import { history, historyRefusal, keepHistory, removeEntries, type Entry } from "./record";
import { SaveDialog } from "./SaveDialog";
import { isSecretName } from "./secrets";

const Compare = lazy(() => import("../compare").then((part) => part.Compare), "");

const PAGE = 30;
/** Of the values that a line tells, and of their characters. */
const MOST_TOLD = 4;
const LONGEST = 40;

export function History() {
  const [words, setWords] = useState("");
  const [shown, setShown] = useState(PAGE);
  const [saving, setSaving] = useState<Entry | null>(null);
  const [comparing, setComparing] = useState<Entry | null>(null);
  const hasAny = history.value.length > 0;
  const found = history.value.filter((entry) => matches(entry, words));
  return (
    <section class="library-part" aria-label="History">
      <div class="library-bar">
        {hasAny && (
          <input
            type="search"
            aria-label="Search requests and replies"
            placeholder="Search requests and replies"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
          />
        )}
        {(hasAny || keepHistory.value) && (
          <label class="library-check">
            <input
              type="checkbox"
              checked={keepHistory.value}
              onChange={(event) => void (keepHistory.value = event.currentTarget.checked)}
            />
            Keep after a reload
          </label>
        )}
        {hasAny && (
          <Button icon="remove" onClick={() => removeEntries(history.value, "History cleared.")}>
            Clear
          </Button>
        )}
      </div>
      {hasAny && (
        <p class={historyRefusal.value ? "library-problem" : "field-hint"}>
          {historyRefusal.value
            ? `The browser cannot store the history: ${historyRefusal.value}.`
            : keepHistory.value
              ? "Kept until this browser tab closes, without passwords and tokens."
              : "A reload of the page clears it."}
        </p>
      )}
      <p class="sr-only" role="status">
        {words.trim() ? `${found.length} found` : ""}
      </p>
      {found.length === 0 ? (
        <Empty icon="history" title={hasAny ? "No results" : "No requests yet"}>
          {!hasAny && (
            <>
              <p>Requests you send appear here with their replies, newest first.</p>
              <p>Runs of sequences do not appear.</p>
              <a class="button" href="#/acts">
                Open an act
              </a>
            </>
          )}
        </Empty>
      ) : (
        <ol class="library-entries">
          {found.slice(0, shown).map((entry) => (
            <EntryRow key={entry.id} entry={entry} onSave={() => setSaving(entry)} onCompare={() => setComparing(entry)} />
          ))}
        </ol>
      )}
      {found.length > shown && <Button onClick={() => setShown(shown + PAGE)}>Show more</Button>}
      {comparing && <Compare at={comparing.at} onClose={() => setComparing(null)} />}
      {saving && <SaveDialog request={saving.request} onClose={() => setSaving(null)} />}
    </section>
  );
}

function matches({ request, text, status }: Entry, words: string): boolean {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (parts.length === 0) return true;
  const all = `${titleOf(request)} ${status} ${stringify(request)} ${text}`.toLowerCase();
  return parts.every((part) => all.includes(part));
}

interface RowProps {
  entry: Entry;
  onSave: () => void;
  onCompare: () => void;
}

function EntryRow({ entry, onSave, onCompare }: RowProps) {
  const [open, setOpen] = useState(false);
  const { request, status, ok, ms, bytes, at } = entry;
  const title = titleOf(request);
  const remove = (event: Event) => {
    leaveRow(event);
    removeEntries([entry], `${title} removed from the history.`);
  };
  return (
    <li class="library-entry">
      <div class="library-line">
        <button type="button" class="library-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          <Badge look={ok ? "ok" : "bad"}>{statusWords(status)}</Badge>
          <span class="library-title">
            <CallName {...request} />
          </span>
          <span class="library-sent muted small">{summaryOf(request.set)}</span>
        </button>
        <span class="library-acts">
          <Button
            small
            look="quiet"
            icon="play"
            aria-label={`Send again ${title}`}
            onClick={() => openRequest(request, { run: true })}
          >
            Send again
          </Button>
          <Button small look="quiet" aria-label={`Compare the reply of ${title}`} onClick={onCompare}>
            Compare
          </Button>
          <IconButton small icon="save" label={`Save ${title}`} onClick={onSave} />
          <IconButton small icon="remove" label={`Remove ${title} from the history`} onClick={once(remove)} />
        </span>
        <span class="library-facts">
          <When at={at} /> · {duration(ms)} · {size(bytes)}
        </span>
        <Button small look="quiet" aria-label={`Open ${title} in a tab`} onClick={() => openRequest(request)}>
          Open
        </Button>
      </div>
      {open && <EntryDetail entry={entry} />}
    </li>
  );
}

/** What was sent, in a few words: `limit 5 · name "Oslo"`; secrets and the role are left out. */
function summaryOf(set: JsonObject): string {
  const told = Object.entries(set).filter(([name, value]) => name !== ROLE && !isSecretName(name) && value !== null);
  const words = told.map(([name, value]) => {
    if (Array.isArray(value)) return `${name} (${value.length})`;
    return isObject(value) ? name : `${name} ${String(value).slice(0, LONGEST)}`;
  });
  return words.slice(0, MOST_TOLD).join(" · ");
}

function EntryDetail({ entry: { request, text } }: { entry: Entry }) {
  const envelope = useMemo(() => envelopeOf(text), [text]);
  return (
    <div class="library-detail">
      <section>
        <h3>Request</h3>
        <JsonTree value={bodyOf(request)} label="Request" />
      </section>
      <section>
        <h3>Reply</h3>
        {envelope ? <JsonTree value={envelope.body as Json} root={BODY} label="Reply" /> : <pre>{text || "This reply was not stored."}</pre>}
      </section>
    </div>
  );
}

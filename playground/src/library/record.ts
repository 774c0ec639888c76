/** The history: requests of tabs and their replies; in memory, and in the session storage if asked. */

import { effect, signal } from "@preact/signals";
import { stringify, type Json } from "../json";
import { envelopeOf, type ActRequest, type Reply } from "../state/request";
import { keep, load, type Refusal } from "../state/storage";
import { onReply } from "../state/tabs";
import { notify } from "../ui/notice";
import { Unreadable, readList, readPlain, readRequest } from "./reading";
import { withoutSecrets } from "./secrets";

export interface Entry {
  id: number;
  /** Milliseconds since 1970 when it was sent. */
  at: number;
  request: ActRequest;
  /** 0 when there was no reply. */
  status: number;
  ok: boolean;
  ms: number;
  bytes: number;
  /** The reply, cut after 100 000 characters; else why there is none. */
  text: string;
}

/** Newest first. */
export const history = signal<Entry[]>([]);
/** Whether the history outlives a reload of the page, without secrets. */
export const keepHistory = signal<boolean>(false);

/** Why the browser does not keep it, though it should. */
export const historyRefusal = signal<Refusal>("");

const MOST = 200;
const LONGEST_TEXT = 100_000;
/** All texts of replies together, in characters; the session storage holds about five million. */
const LONGEST_TEXTS = 4_000_000;
const LONGEST_STORED = 1_500_000;
/** A reply with such a key, such as that of a log-in: its token is used once and need not stand here. */
const NAMES_SECRET = /"[^"]*(token|secret|passw|api_?key|credential)[^"]*"\s*:/i;
let lastId = 0;

/** Begin to record every call of a tab. */
export function startHistory(): void {
  const stored = load("history", readEntries, "session");
  if (stored) {
    keepHistory.value = true;
    history.value = stored;
    lastId = Math.max(0, ...history.value.map(({ id }) => id));
  }
  onReply(record);
  effect(() => {
    const refused = keep("history", keepHistory.value ? storable(history.value) : undefined, "session");
    historyRefusal.value = keepHistory.value ? refused : "";
  });
}

function readEntries(value: unknown): Entry[] {
  return readList(value, "history", MOST).map((one, at): Entry => {
    const given = readPlain(one, `history.${at}`);
    const { id, status, ms, bytes } = given;
    if (![id, given.at, status, ms, bytes].every(Number.isFinite) || typeof given.text !== "string") {
      throw new Unreadable(`history.${at}: expected an entry`);
    }
    return { ...(given as unknown as Entry), request: readRequest(given.request, `history.${at}.request`) };
  });
}

/** Remove entries; they can be had back for some seconds. */
export function removeEntries(gone: readonly Entry[], what: string): void {
  history.value = history.value.filter((entry) => !gone.includes(entry));
  const undo = () => {
    history.value = bounded([...history.value, ...gone].sort((one, other) => other.id - one.id));
  };
  notify(what, { undo });
}

function record(request: ActRequest, { at, status, ms, bytes, text, error, envelope }: Reply): void {
  const ok = envelope?.success === true;
  const shown = (NAMES_SECRET.test(text) ? withoutTexts(text) : text || error || "").slice(0, LONGEST_TEXT);
  history.value = bounded([{ id: ++lastId, at, request, status, ok, ms, bytes, text: shown }, ...history.value]);
}

/** The newest ones that fit; of older ones the text of the reply goes first. */
function bounded(entries: Entry[], longest = LONGEST_TEXTS): Entry[] {
  let left = longest;
  return entries.slice(0, MOST).map((entry) => {
    left -= entry.text.length;
    return left >= 0 ? entry : { ...entry, text: "" };
  });
}

function storable(entries: Entry[]): Entry[] {
  return bounded(entries, LONGEST_STORED).map((entry) => ({
    ...entry,
    request: { ...entry.request, set: withoutSecrets(entry.request.set) },
    text: withoutTexts(entry.text),
  }));
}

/** A reply without tokens and the like; one that is not JSON, or was cut, is not stored. */
function withoutTexts(text: string): string {
  const envelope = envelopeOf(text);
  return envelope ? stringify(withoutSecrets(envelope as unknown as Json)) : "";
}

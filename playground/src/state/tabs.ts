/** The open requests, one a tab. */

import { batch, computed, signal, type Signal } from "@preact/signals";
import { actOf, type Act, type Catalog, type Place } from "../catalog";
import { isObject, isSame, stringify, type Json } from "../json";
import { closeNotes, notify } from "../ui/notice";
import { reasonNot, type Drafts } from "./drafts";
import { Unreadable } from "../library/reading";
import { beginningOf } from "./beginning";
import { emptyTexts } from "./empty";
import { environment, filledIn } from "./environments";
import type { Files } from "./files";
import { isListing, pageOf, pageRequest, type Page } from "./pages";
import { envelopeOf, printOf, type ActRequest, type Reply } from "./request";
import { send, sendBatch } from "./send";
import { tokenOf } from "./session";
import { learnTitles } from "./titles";

export interface Tab {
  id: number;
  request: Signal<ActRequest>;
  reply: Signal<Reply | null>;
  /** What the reply answers: the request as it was sent. */
  sent: Signal<ActRequest | null>;
  /** What of the reply is folded and unfolded by hand, by path. */
  folds: Signal<ReadonlyMap<string, boolean>>;
  /** Of a listing: the last page that came. */
  page: Signal<Page | null>;
  running: Signal<AbortController | null>;
  /** What was not sent when it was asked for last, and why. */
  held: Signal<Held | null>;
  /** What is written in its form or JSON and is not valid: it is not sent then. */
  drafts: Signal<Drafts>;
  files: Signal<Files>;
  /** Whose token is sent: the id of an identity, `NOBODY`, or "" for the one that is signed in. */
  as: Signal<string>;
  /** The `Idempotency-Key` that is sent with it; empty for none. */
  key: Signal<string>;
  /** The name of the saved request that it is; empty for none. */
  saved: Signal<string>;
  /** A print of that saved request as this tab knows it: another browser tab may have changed it since. */
  seen: Signal<string>;
  /** What is shown of it. */
  part: Signal<Part>;
  /** How its reply is shown. */
  shown: Signal<Shown>;
  /** What its reply is searched for. */
  find: Signal<string>;
  /** How the rows of its reply were sorted by hand. */
  order: Signal<Order | undefined>;
}
export interface Held {
  request: ActRequest;
  /** Paths; none where something else was in the way. */
  empty: readonly string[];
  /** Why its variables could not be filled in; empty where they could. */
  unfilled: string;
}
export const PARTS = ["form", "json", "about"] as const;
export type Part = (typeof PARTS)[number];
export interface Order {
  name: string;
  isDown: boolean;
}
export type Shown = "tree" | "table" | "raw" | "exchange" | "code";

export const MOST_TABS = 100;
/** What was not sent is told until something is sent. */
const UNSENT = { bad: true, about: "unsent" };

export const catalog = signal<Catalog | null>(null);
export const catalogError = signal<string>("");

export type View = "acts" | "schema" | "sequences" | "history" | "downloads";
export const view = signal<View>("acts");

export const tabs = signal<Tab[]>([]);
export const activeId = signal<number>(0);
export const activeTab = computed<Tab | undefined>(() => tabs.value.find(({ id }) => id === activeId.value));

let lastId = 0;

/** The description of a tab's act; undefined when it does not exist (any more). */
export function specOf(request: ActRequest): Act | undefined {
  return catalog.value ? actOf(catalog.value, request) : undefined;
}

/** Open a request in a new tab and show it. `set` and `get` may be left out: the act's own beginning. */
export function openRequest(
  request: Partial<ActRequest> & Pick<ActRequest, "service" | "model" | "act">,
  { run = false, saved = "" }: { run?: boolean; saved?: string } = {},
): void {
  view.value = "acts";
  if (tabs.value.length >= MOST_TABS) return notify(`${MOST_TABS} requests are open: close some first.`, { bad: true });
  const beginning = beginningOf(catalog.value, request);
  const tab = addTab({ ...beginning, set: request.set ?? beginning.set, get: request.get ?? beginning.get });
  tab.saved.value = saved;
  tab.seen.value = saved && printOf(tab.request.value);
  opened.set(tab, tab.request.value);
  activeId.value = tab.id;
  if (run) void sendTab(tab);
}

/** Add a tab with a request. */
export function addTab(request: ActRequest): Tab {
  const tab: Tab = {
    id: ++lastId,
    request: signal(request),
    reply: signal<Reply | null>(null),
    sent: signal<ActRequest | null>(null),
    folds: signal<ReadonlyMap<string, boolean>>(new Map()),
    page: signal<Page | null>(null),
    running: signal<AbortController | null>(null),
    held: signal<Held | null>(null),
    drafts: signal<Drafts>(new Map()),
    files: signal<Files>(new Map()),
    as: signal(""),
    key: signal(""),
    saved: signal(""),
    seen: signal(""),
    part: signal<Part>("form"),
    shown: signal<Shown>("tree"),
    find: signal(""),
    order: signal<Order | undefined>(undefined),
  };
  tabs.value = [...tabs.value, tab];
  return tab;
}

/** Show the tab of an act that is open; open one where there is none. */
export function showAct(place: Place): void {
  const { service, model, act } = place;
  const isOf = ({ request: { value } }: Tab) => value.service === service && value.model === model && value.act === act;
  const found = activeTab.value && isOf(activeTab.value) ? activeTab.value : tabs.value.find(isOf);
  if (!found) return openRequest({ service, model, act });
  view.value = "acts";
  activeId.value = found.id;
}

/** Show the tab with just this request; open one where there is none. */
export function showRequest(request: ActRequest, { run = false }: { run?: boolean } = {}): void {
  const found = tabs.value.find((tab) => isSame(tab.request.value as never, request as never));
  if (!found) return openRequest(request, { run });
  view.value = "acts";
  activeId.value = found.id;
  if (run) void sendTab(found);
}

/** Show the tab of a saved request, with what was changed in it; open one where there is none. */
export function showSaved(name: string, request: ActRequest): void {
  const isAlike = ({ saved, request: { value } }: Tab) => !saved.value && isSame(value as never, request as never);
  const found = tabs.value.find(({ saved }) => saved.value === name) ?? tabs.value.find(isAlike);
  if (!found) return openRequest(request, { saved: name });
  view.value = "acts";
  if (found.saved.value !== name) found.seen.value = printOf(request);
  found.saved.value = name;
  activeId.value = found.id;
}

/** What tabs were opened with. */
const opened = new WeakMap<Tab, ActRequest>();

/** Give a tab that is had back its saved request, which another tab may have by now: one that is as it was opened goes. */
function reclaim(tab: Tab): void {
  const twin = tab.saved.value && tabs.value.find((one) => one !== tab && one.saved.value === tab.saved.value);
  if (!twin) return;
  const isUntouched = opened.get(twin) === twin.request.value && twin.drafts.value.size + twin.files.value.size === 0;
  if (isUntouched && !twin.running.value) tabs.value = tabs.value.filter((one) => one !== twin);
  else tab.saved.value = "";
}

/** Close a tab; what was written in it can be had back for some seconds. */
export function closeTab(id: number): void {
  const at = tabs.value.findIndex((tab) => tab.id === id);
  const tab = tabs.value[at];
  if (!tab) return;
  tab.running.value?.abort();
  if (isEdited(tab))
    notify(`Closed ${tab.saved.value ? `“${tab.saved.value}”` : tab.request.value.act}.`, {
      undo: () =>
        batch(() => {
          tabs.value = [...tabs.value.slice(0, at), tab, ...tabs.value.slice(at)];
          activeId.value = id;
          reclaim(tab);
        }),
    });
  const rest = tabs.value.filter((tab) => tab.id !== id);
  tabs.value = rest;
  if (activeId.value === id) activeId.value = rest[Math.min(at, rest.length - 1)]?.id ?? 0;
}

function isEdited({ request: { value }, drafts, files, as }: Tab): boolean {
  return drafts.value.size + files.value.size > 0 || !isSame(value as never, beginningOf(catalog.value, value, as.value) as never);
}

/** Begin a request again; what was written can be had back for some seconds. */
export function resetTab(tab: Tab): void {
  const isLost = isEdited(tab);
  const undo = remember(tab);
  tab.drafts.value = new Map();
  tab.files.value = new Map();
  tab.request.value = beginningOf(catalog.value, tab.request.value, tab.as.value);
  if (isLost) notify("Reset.", { undo });
}

/** Return what puts back what is written in a tab now. */
export function remember({ request, drafts, files }: Tab): () => void {
  const [was, written, chosen] = [request.value, drafts.value, files.value];
  return () => {
    request.value = was;
    drafts.value = written;
    files.value = chosen;
  };
}

type Listener = (request: ActRequest, reply: Reply) => void;
const listeners: Listener[] = [];

/** Be told of every finished call of a tab, cancelled ones too. */
export function onReply(listener: Listener): void {
  listeners.push(listener);
}

/** The request with its variables filled in; where one has no value, a sentence that says so. */
function filledOr(request: ActRequest): ActRequest | string {
  try {
    return filledIn(request);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const chosen = environment.value;
    const where = chosen ? ` in the environment “${chosen.name}”` : ", as no environment is chosen";
    return `Not sent: ${error.message}${error.message.endsWith("has no value") ? where : ""}.`;
  }
}

/** What of a tab was not sent, for as long as it has not been changed. */
export function heldOf({ held, request }: Tab): Held | null {
  return held.value?.request === request.value ? held.value : null;
}

/**
 * Send a tab's request, unless it is under way already, or something in it is not valid: that is told. One with
 * required texts that are empty, or variables without a value, is held back; `isEmptyMeant` sends it all the same,
 * `isAsWritten` even without filling in anything.
 */
export async function sendTab(tab: Tab, { isEmptyMeant = false, isAsWritten = false } = {}): Promise<void> {
  if (tab.running.value) return;
  const request = tab.request.value;
  const reason = reasonNot(tab.drafts.value);
  const empty = reason || isEmptyMeant || isAsWritten ? [] : emptyTexts(specOf(request)?.set, request.set, "set");
  const filled = reason || empty.length || isAsWritten ? request : filledOr(request);
  tab.held.value = { request, empty, unfilled: typeof filled === "string" ? filled : "" };
  if (reason) return notify(reason, UNSENT);
  if (empty.length || typeof filled === "string") return;
  await call(tab, request, filled, tab.files.value, tab.key.value.trim());
}

/** Ask for another page of what a tab lists, as it was asked for before: what is written in the form stays, and is not sent. */
export async function turnPage(tab: Tab, after: Json | undefined): Promise<void> {
  const sent = tab.sent.value;
  if (!sent || tab.running.value) return;
  const request = pageRequest(sent, after);
  const wasAsWritten = isSame(tab.reply.value?.request as never, sent as never);
  const filled = wasAsWritten ? request : filledOr(request);
  if (typeof filled === "string") return notify(filled, UNSENT);
  await call(tab, request, filled);
}

async function call(tab: Tab, request: ActRequest, filled: ActRequest, files?: Files, key?: string): Promise<void> {
  const token = tokenOf(tab.as.value);
  if (token === undefined) return notify("Not sent: the user of this request has logged out. Choose another.", UNSENT);
  closeNotes(UNSENT.about);
  const controller = new AbortController();
  tab.held.value = null;
  if (tab.shown.value === "code") tab.shown.value = "tree";
  tab.running.value = controller;
  const reply = await send(filled, controller.signal, token, files, key);
  tab.running.value = null;
  answer(tab, request, reply);
}

/** Show a reply in the tab whose request it answers. */
function answer(tab: Tab, request: ActRequest, reply: Reply): void {
  batch(() => {
    tab.sent.value = request;
    tab.reply.value = reply;
    tab.order.value = undefined;
    const spec = specOf(request);
    if (spec && isListing(spec)) tab.page.value = pageOf(request, reply, tab.page.value);
  });
  if (reply.envelope?.success) learnTitles(reply.envelope.body);
  for (const listener of listeners) listener(request, reply);
}

/**
 * Send the requests of several tabs as one; each gets the part of the reply that answers it. Gives the reply of all;
 * undefined where nothing was sent: that is told.
 */
export async function sendTabs(chosen: readonly Tab[], atomic: boolean): Promise<Reply | undefined> {
  const requests = chosen.map(({ request }) => request.value);
  const filled: ActRequest[] = [];
  for (const one of requests.map(filledOr)) {
    if (typeof one === "string") return void notify(one, UNSENT);
    filled.push(one);
  }
  const reply = await sendBatch(filled, atomic);
  const items = reply.envelope?.body;
  chosen.forEach((tab, at) => {
    const item = Array.isArray(items) ? itemReply(items[at], reply) : reply;
    answer(tab, requests[at] as ActRequest, { ...item, request: filled[at] as ActRequest });
  });
  return reply;
}

/** What the reply of all says of one. */
function itemReply(item: Json | undefined, whole: Reply): Reply {
  const { status, body = null, success, retryAfter } = isObject(item) ? item : {};
  const text = stringify({ body, success });
  const envelope = envelopeOf(text);
  const headers = [...(whole.headers ?? []), ...(retryAfter === undefined ? [] : [["Retry-After", String(retryAfter)] as [string, string]])];
  return { ...whole, status: Number(status), headers, text, bytes: new Blob([text]).size, ...(envelope && { envelope }) };
}

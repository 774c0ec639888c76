/** The open requests, one a tab. */

import { computed, signal, type Signal } from "@preact/signals";
import { actOf, type Act, type Catalog } from "../catalog";
import { notify } from "../ui/notice";
import { reasonNot, type Drafts } from "./drafts";
import { emptyRequest } from "./empty";
import type { Files } from "./files";
import { isListing, pageOf, type Page } from "./pages";
import type { ActRequest, Reply } from "./request";
import { send } from "./send";

export interface Tab {
  id: number;
  request: Signal<ActRequest>;
  reply: Signal<Reply | null>;
  /** What the reply answers: the request as it was sent. */
  sent: Signal<ActRequest | null>;
  /** Of a listing: the last page that came. */
  page: Signal<Page | null>;
  running: Signal<AbortController | null>;
  /** What is written in its form or JSON and is not valid: it is not sent then. */
  drafts: Signal<Drafts>;
  files: Signal<Files>;
  /** What is shown of it. */
  part: Signal<Part>;
}
export const PARTS = ["form", "json", "about"] as const;
export type Part = (typeof PARTS)[number];

export const MOST_TABS = 100;

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
  { run = false }: { run?: boolean } = {},
): void {
  view.value = "acts";
  if (tabs.value.length >= MOST_TABS) return notify(`${MOST_TABS} requests are open: close some first.`, { bad: true });
  const beginning = emptyRequest(catalog.value, request);
  const tab = addTab({ ...beginning, set: request.set ?? beginning.set, get: request.get ?? beginning.get });
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
    page: signal<Page | null>(null),
    running: signal<AbortController | null>(null),
    drafts: signal<Drafts>(new Map()),
    files: signal<Files>(new Map()),
    part: signal<Part>("form"),
  };
  tabs.value = [...tabs.value, tab];
  return tab;
}

export function closeTab(id: number): void {
  const at = tabs.value.findIndex((tab) => tab.id === id);
  if (at < 0) return;
  tabs.value[at]?.running.value?.abort();
  const rest = tabs.value.filter((tab) => tab.id !== id);
  tabs.value = rest;
  if (activeId.value === id) activeId.value = rest[Math.min(at, rest.length - 1)]?.id ?? 0;
}

type Listener = (request: ActRequest, reply: Reply) => void;
const listeners: Listener[] = [];

/** Be told of every finished call of a tab, cancelled ones too. */
export function onReply(listener: Listener): void {
  listeners.push(listener);
}

/** Send a tab's request, unless it is under way already, or something in it is not valid: that is told. */
export async function sendTab(tab: Tab): Promise<void> {
  if (tab.running.value) return;
  const reason = reasonNot(tab.drafts.value);
  if (reason) return notify(reason, { bad: true });
  const controller = new AbortController();
  const request = tab.request.value;
  tab.running.value = controller;
  const reply = await send(request, controller.signal, undefined, tab.files.value);
  tab.sent.value = request;
  tab.reply.value = reply;
  const spec = specOf(request);
  if (spec && isListing(spec)) tab.page.value = pageOf(request, reply, tab.page.value);
  tab.running.value = null;
  for (const listener of listeners) listener(request, reply);
}

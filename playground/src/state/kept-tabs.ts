/** The open requests outlive a reload: they are in the session storage of this browser tab, without secrets. */

import { effect, signal } from "@preact/signals";
import { Unreadable, readList, readPlain, readRequest } from "../library/reading";
import { isSecretName, withoutSecrets } from "../library/secrets";
import { notify } from "../ui/notice";
import { keep, load, putAside } from "./storage";
import { activeId, addTab, MOST_TABS, PARTS, tabs, type Tab } from "./tabs";

const NAME = "tabs";
const LEFT = "The page closed before the reply came. The act may or may not have run.";
/** From the last change to when it is kept, in milliseconds; leaving the page does not wait. */
const PAUSE = 300;

/** Open the requests that were open before the page was loaded again, and keep all from now on. */
export function keepTabs(): void {
  restore();
  let timer = 0;
  const write = () => {
    clearTimeout(timer);
    timer = 0;
    tell(keep(NAME, written(), "session"));
  };
  let isChange = false;
  effect(() => {
    for (const { request, drafts, part, as, key, saved, seen, running } of tabs.value)
      [request.value, drafts.value, part.value, as.value, key.value, saved.value, seen.value, running.value];
    activeId.value;
    if (isChange) timer ||= window.setTimeout(write, PAUSE);
    isChange = true;
  });
  addEventListener("pagehide", () => timer && write());
}

/** Why the open requests are not kept was told. */
const told = signal("");

function tell(refusal: string): void {
  if (refusal && refusal !== told.value) notify(`The open requests will be lost on reload: ${refusal}.`, { bad: true });
  told.value = refusal;
}

function written(): object | undefined {
  if (tabs.value.length === 0) return undefined;
  const active = tabs.value.findIndex(({ id }) => id === activeId.value);
  return { active, tabs: tabs.value.map(writtenTab) };
}

function writtenTab({ request, drafts, part, as, key, saved, seen, running }: Tab): object {
  const { set, ...rest } = request.value;
  const kept = [...drafts.value].filter(([path, text]) => !namesSecret(`${path} ${text}`));
  const lost = drafts.value.size - kept.length;
  const isSending = running.value !== null;
  const names = { part: part.value, as: as.value, key: key.value, saved: saved.value, seen: seen.value };
  return { ...rest, set: withoutSecrets(set), ...names, isSending, drafts: Object.fromEntries(kept), lost };
}

/** Whether a text that cannot be read as JSON may have a password or token in it: then none of it is kept. */
function namesSecret(text: string): boolean {
  return text.split(/\W+/).some(isSecretName);
}

function restore(): void {
  const kept = load(NAME, readKept, "session");
  if (!kept) return;
  const found = kept.tabs.map(restored);
  if (found.includes("damaged")) putAside(NAME, "session");
  if (found.includes("in part")) notify("Invalid JSON that names a password or token was not stored.", { bad: true });
  activeId.value = (tabs.value[kept.active] ?? tabs.value[0])?.id ?? 0;
}

function readKept(value: unknown): { active: number; tabs: unknown[] } {
  const given = readPlain(value, NAME);
  return { active: Number(given.active), tabs: readList(given.tabs, NAME, MOST_TABS) };
}

/** Open one, unless it is damaged. */
function restored(value: unknown, at: number): "" | "in part" | "damaged" {
  try {
    return restoreTab(value, at) ? "in part" : "";
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return "damaged";
  }
}

/** Open one; return whether something of it was not kept. */
function restoreTab(value: unknown, at: number): boolean {
  const given = readPlain(value, `tabs.${at}`);
  const drafts = Object.entries(readPlain(given.drafts ?? {}, `tabs.${at}.drafts`));
  const tab = addTab(readRequest(given, `tabs.${at}`));
  tab.part.value = PARTS.find((part) => part === given.part) ?? "form";
  tab.as.value = typeof given.as === "string" ? given.as : "";
  tab.key.value = typeof given.key === "string" ? given.key : "";
  tab.saved.value = typeof given.saved === "string" ? given.saved : "";
  tab.seen.value = typeof given.seen === "string" ? given.seen : "";
  if (given.isSending === true) tab.reply.value = { status: 0, ms: 0, bytes: 0, text: "", error: LEFT, at: Date.now() };
  tab.drafts.value = new Map(drafts.filter((one): one is [string, string] => typeof one[1] === "string"));
  return given.lost !== 0;
}

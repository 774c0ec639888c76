/** Which page of a listing a reply is, and the button for the next one. */

import { useId } from "preact/hooks";
import { isObject, type Json } from "../json";
import { listsTheSame, reasonNot, sendTab, type Page, type Tab } from "../state";
import { Button, once } from "../ui";

/** It stays while the next page is under way, so that the button keeps the focus. */
export function Pager({ tab, page }: { tab: Tab; page: Page }) {
  const id = useId();
  const running = tab.running.value !== null;
  const reason = reasonNotNext(tab, page);
  const turn = () => {
    if (running || reason || page.next === null) return;
    const request = tab.request.value;
    tab.request.value = { ...request, set: { ...request.set, after: page.next } };
    void sendTab(tab);
  };
  return (
    <div class="pager" role="group" aria-label="Pages">
      <span class="grow">{pageText(page)}</span>
      {reason && (
        <span class="muted small" id={id}>
          {reason}
        </span>
      )}
      <Button
        small
        aria-disabled={running || reason !== ""}
        aria-describedby={reason ? id : undefined}
        onClick={once(turn)}
      >
        Next page
      </Button>
    </div>
  );
}

/** Why there is no next page; empty where there is one. */
function reasonNotNext(tab: Tab, { next }: Page): string {
  const sent = tab.sent.value;
  if (next === null) return "This is the last page.";
  if (sent && !listsTheSame(sent, tab.request.value)) return "The request has changed: send it first.";
  return reasonNot(tab.drafts.value);
}

/** `Page 2 · 45 in total`. */
export function pageText({ number, total }: Page): string {
  const known = total === undefined ? "" : ` · ${totalText(total)} in total`;
  return `${number === undefined ? "A later page" : `Page ${number}`}${known}`;
}

function totalText(total: Json): string {
  return isObject(total) ? `more than ${String(total.atLeast)}` : String(total);
}

/** What a call gave: status, duration, size; the body as a tree and as text. */

import { useEffect, useRef, useState } from "preact/hooks";
import { catalog, heldOf, isOnlyPage, reasonNot, sendTab, specOf, type ActRequest, type Page, type Reply, type Shown, type Tab } from "../state";
import { Button, once, Tabs } from "../ui";
import { lazy } from "../lazy";
import { Facts, duration, size, statusWords } from "./facts";
import { pageText } from "./page-text";
import { Promised } from "./promised";
import { shapeOf } from "./shape";
import "./reply.css";

const loadAnswer = () => import("./answer").then((part) => part.Answer);
const Answer = lazy(loadAnswer, "");

const Snippets = lazy(() => import("../request/snippets").then((part) => part.Snippets), "");

const Pager = lazy(() => import("./pager").then((part) => part.Pager), "");

const SHOWN = [
  { key: "tree", label: "Reply" },
  { key: "table", label: "Table" },
  { key: "raw", label: "Raw" },
  { key: "exchange", label: "Headers" },
] as const;
export function ReplyPanel({ tab }: { tab: Tab }) {
  const shown = tab.shown.value;
  const section = useRef<HTMLElement>(null);
  const reply = tab.reply.value;
  const page = pageShown(tab, reply);
  const first = useRef(reply);
  useEffect(() => {
    // Where the reply is below the request, it would come unseen.
    if (reply !== first.current && matchMedia("(max-width: 1020px)").matches) section.current?.scrollIntoView();
    first.current = reply;
  }, [reply]);
  useEffect(() => {
    if (shown === "code" && matchMedia("(max-width: 1020px)").matches) section.current?.scrollIntoView();
  }, [shown]);
  if (shown === "code")
    return (
      <section class="reply reply-code" aria-label="Reply" ref={section}>
        <Snippets tab={tab} />
      </section>
    );
  return (
    <section class={reply && heldOf(tab) ? "reply old" : "reply"} aria-label="Reply" ref={section}>
      <div role="status" class="sr-only">
        {tab.running.value ? "Waiting for the reply" : reply ? statusText(reply, page) : ""}
      </div>
      <Tabs
        label="How the reply is shown"
        class="reply-tabs"
        items={SHOWN}
        value={shown}
        onChange={(next) => void (tab.shown.value = next)}
      >
        {reply && heldOf(tab) && <p class="reply-old">Not sent. This is the reply to an earlier request.</p>}
        {reply && !tab.running.value && <Facts reply={reply} tab={tab} />}
        <Content tab={tab} reply={reply} shown={shown} />
      </Tabs>
      {page && !isOnlyPage(page) && <Pager tab={tab} page={page} />}
    </section>
  );
}

/** The page that is shown; where another one was refused, the one before it, from which it can be asked for again. */
function pageShown(tab: Tab, reply: Reply | null): Page | null {
  return reply?.envelope?.success || tab.sent.value?.set.after !== undefined ? tab.page.value : null;
}

function Content({ tab, reply, shown }: { tab: Tab; reply: Reply | null; shown: Shown }) {
  if (tab.running.value) return <Waiting stop={() => tab.running.value?.abort()} />;
  return reply ? <Answer tab={tab} reply={reply} shown={shown} /> : <NoReply tab={tab} />;
}

/** What stands there before the first reply. */
function NoReply({ tab }: { tab: Tab }) {
  const shape = expected(tab.request.value);
  return (
    <div class="reply-none">
      <p class="row">
        <span class="grow">{shape ? "No reply yet. It will look like this:" : "No reply yet."}</span>
        <span class="hide-stacked">
          <kbd>Ctrl</kbd> <kbd>Enter</kbd> sends
        </span>
        <Button icon="play" small class="only-stacked" aria-disabled={reasonNot(tab.drafts.value) !== ""} onClick={once(() => void sendTab(tab))}>
          Send
        </Button>
      </p>
      {shape && <Promised shape={shape} />}
    </div>
  );
}

/** What the act says that comes back. */
function expected(request: ActRequest): string {
  const spec = specOf(request);
  return catalog.value && spec ? shapeOf(catalog.value, spec.returns, request.get) : "";
}

/** A bar and the milliseconds that have passed. */
function Waiting({ stop }: { stop: () => void }) {
  useEffect(() => void loadAnswer(), []);
  const [start] = useState(() => performance.now());
  const [ms, setMs] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setMs(performance.now() - start), 50);
    return () => clearInterval(timer);
  }, []);
  return (
    <div class="waiting">
      <div class="waiting-bar" />
      <p class="row">
        <span class="grow">Waiting… {duration(Math.max(10, ms))}</span>
        <Button small icon="stop" onClick={once(stop)}>
          Cancel
        </Button>
      </p>
    </div>
  );
}

function statusText(reply: Reply, page: Page | null): string {
  if (!reply.status) return reply.error ?? "No reply.";
  const what = reply.error ?? (reply.envelope?.success ? "Succeeded." : "Failed.");
  const which = page ? `. ${pageText(page)}` : "";
  return `${what} Status ${statusWords(reply.status)}, ${duration(reply.ms)}, ${size(reply.bytes)}${which}`;
}

/** What a call gave: status, duration, size; the body as a tree and as text. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Json, JsonObject } from "../json";
import { catalog, heldOf, isOnlyPage, reasonNot, sendTab, showRequest, signIn, specOf, token, tokenIn, type ActRequest, type Page, type Reply, type Shown, type Tab } from "../state";
import { Button, notify, once, Tabs } from "../ui";
import { Code } from "../code";
import { lazy } from "../lazy";
import { openerOf, type Path } from "./documents";
import { Exchange } from "./exchange";
import { Facts, duration, size, statusWords } from "./facts";
import { FailureBox, NoEnvelope } from "./failure";
import { pageText } from "./page-text";
import { Promised } from "./promised";
import { shapeOf } from "./shape";
import { BODY, JsonTree } from "./tree";
import "./reply.css";

const Snippets = lazy(() => import("../request/snippets").then((part) => part.Snippets), "");

const Compare = lazy(() => import("../compare").then((part) => part.Compare), "");
const Documents = lazy(() => import("./table").then((part) => part.Documents), "");
const Pager = lazy(() => import("./pager").then((part) => part.Pager), "");
const ValueBar = lazy(() => import("./values").then((part) => part.ValueBar), "");

const SHOWN = [
  { key: "tree", label: "Reply" },
  { key: "table", label: "Table" },
  { key: "raw", label: "Raw" },
  { key: "exchange", label: "Headers" },
] as const;
/** Characters of raw text that are shown at once. */
const RAW_STEP = 200_000;

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
  const find = tab.find.value;
  const [comparing, setComparing] = useState(false);
  if (tab.running.value) return <Waiting stop={() => tab.running.value?.abort()} />;
  if (!reply) return <NoReply tab={tab} />;
  if (shown === "exchange") return <Exchange reply={reply} sent={tab.sent.value} />;
  if (shown === "raw") return <Raw key={reply.at} text={reply.text || reply.error || ""} isJson={reply.envelope !== undefined} />;
  const { envelope } = reply;
  if (!envelope)
    return <NoEnvelope reply={reply} showText={() => void (tab.shown.value = "raw")} />;
  const parts = { tab, body: envelope.body as Json, find: find.trim() };
  return (
    <div class="reply-body">
      {!envelope.success && <FailureBox failure={envelope.body} reply={reply} />}
      {envelope.success && <TokenOffer set={tab.sent.value?.set ?? {}} body={envelope.body} />}
      <div class="reply-search row">
        <input
          type="search"
          aria-label="Search the reply"
          placeholder="Search the reply"
          value={find}
          onInput={(event) => void (tab.find.value = event.currentTarget.value)}
        />
        <Button small look="quiet" title="With an earlier reply" onClick={() => setComparing(true)}>
          Compare
        </Button>
        {comparing && <Compare at={reply.at} onClose={() => setComparing(false)} />}
      </div>
      {shown === "table" ? <Documents key={reply.at} {...parts} Bar={Bar} /> : <ReplyTree {...parts} />}
    </div>
  );
}

/** The reply, whose values lead to documents and go into sequences. */
function ReplyTree({ tab, body, find }: { tab: Tab; body: Json; find: string }) {
  const sent = tab.sent.value;
  const who = tab.as.value;
  if (!sent) return null;
  const returns = specOf(sent)?.returns;
  return (
    <JsonTree
      value={body}
      root={BODY}
      label="Reply as a tree"
      find={find}
      kept={tab.folds}
      leadsTo={(value, path) => {
        const found = returns && openerOf(returns, value, path, who);
        return found && { label: `Open with ${found.act}`, go: () => showRequest(found.request, { run: true }) };
      }}
      bar={(value, path) => <Bar tab={tab} value={value} path={path} />}
    />
  );
}

/** What can be done with a value of a tab's reply. */
function Bar({ tab, value, path }: { tab: Tab; value: Json; path: Path }) {
  const sent = tab.sent.value;
  return sent && <ValueBar request={sent} who={tab.as.value} value={value} path={path} />;
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

/** Offers to use a token that a reply has. */
function TokenOffer({ set, body }: { set: JsonObject; body: Json }) {
  const found = tokenIn(body);
  if (!found) return null;
  const isUsed = found === token.value;
  return (
    <div class="token-offer">
      {isUsed ? (
        <span>This reply's token is sent with every call now.</span>
      ) : (
        <>
          <span>This reply has a token.</span>
          <Button
            small
            icon="key"
            look="primary"
            onClick={() => {
              signIn(set, body);
              notify("The token is sent with every call now.");
            }}
          >
            Use it
          </Button>
        </>
      )}
    </div>
  );
}

function Raw({ text, isJson }: { text: string; isJson: boolean }) {
  const [most, setMost] = useState(RAW_STEP);
  return (
    <div class="raw" tabIndex={0} role="region" aria-label="Reply as text">
      <pre>{isJson ? <Code text={text.slice(0, most)} language="json" breaks /> : text.slice(0, most)}</pre>
      {text.length > most && (
        <Button small onClick={() => setMost(most + 5 * RAW_STEP)}>
          Show more of {size(text.length)}
        </Button>
      )}
    </div>
  );
}

function statusText(reply: Reply, page: Page | null): string {
  if (!reply.status) return reply.error ?? "No reply.";
  const what = reply.error ?? (reply.envelope?.success ? "Succeeded." : "Failed.");
  const which = page ? `. ${pageText(page)}` : "";
  return `${what} Status ${statusWords(reply.status)}, ${duration(reply.ms)}, ${size(reply.bytes)}${which}`;
}

/** What a call gave: status, duration, size; the body as a tree and as text. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { parse, stringify, type Json, type JsonObject } from "../json";
import { catalog, heldOf, reasonNot, sendTab, showRequest, signIn, specOf, token, tokenIn, type ActRequest, type Envelope, type Failure, type Page, type Reply, type Shown, type Tab } from "../state";
import { Badge, Button, CopyButton, Empty, notify, once, saveFile, Tabs } from "../ui";
import { lazy } from "../lazy";
import { openerOf, type Path } from "./documents";
import { Exchange } from "./exchange";
import { Pager, pageText } from "./pager";
import { shapeOf } from "./shape";
import { documentsIn, DocumentTable } from "./table";
import { JsonTree } from "./tree";
import "./reply.css";

const Snippets = lazy(() => import("../request/snippets").then((part) => part.Snippets), "");

const Compare = lazy(() => import("../compare").then((part) => part.Compare), "");
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
  const page = reply?.envelope?.success ? tab.page.value : null;
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
        aside={reply && !tab.running.value ? <Facts reply={reply} tab={tab} /> : null}
      >
        {reply && heldOf(tab) && <p class="reply-old">Not sent. This is the reply to an earlier request.</p>}
        <Content tab={tab} reply={reply} shown={shown} />
      </Tabs>
      {page && <Pager tab={tab} page={page} />}
    </section>
  );
}

function Content({ tab, reply, shown }: { tab: Tab; reply: Reply | null; shown: Shown }) {
  const [find, setFind] = useState("");
  const [comparing, setComparing] = useState(false);
  if (tab.running.value) return <Waiting stop={() => tab.running.value?.abort()} />;
  if (!reply) return <NoReply tab={tab} />;
  if (shown === "exchange") return <Exchange reply={reply} sent={tab.sent.value} />;
  if (shown === "raw") return <Raw key={reply.at} text={reply.text || reply.error || ""} />;
  const { envelope } = reply;
  if (!envelope)
    return (
      <Empty icon="close" title={reply.error ?? "No envelope"}>
        {reply.text && <p>Status {reply.status}. What came is under “Raw”.</p>}
      </Empty>
    );
  return (
    <div class="reply-body">
      {!envelope.success && <FailureBox failure={envelope.body} />}
      {envelope.success && <TokenOffer set={tab.sent.value?.set ?? {}} body={envelope.body} />}
      {shown === "table" ? (
        <Documents key={reply.at} tab={tab} body={envelope.body as Json} />
      ) : (
        <>
          <div class="reply-search row">
            <input
              type="search"
              aria-label="Search the reply"
              placeholder="Search the reply"
              value={find}
              onInput={(event) => setFind(event.currentTarget.value)}
            />
            <Button small look="quiet" title="With an earlier reply" onClick={() => setComparing(true)}>
              Compare
            </Button>
            {comparing && <Compare at={reply.at} onClose={() => setComparing(false)} />}
          </div>
          <ReplyTree tab={tab} envelope={envelope} find={find.trim()} />
        </>
      )}
    </div>
  );
}

/** The reply, whose values lead to documents and go into sequences. */
function ReplyTree({ tab, envelope, find }: { tab: Tab; envelope: Envelope; find: string }) {
  const sent = tab.sent.value;
  const who = tab.as.value;
  if (!sent) return null;
  const returns = specOf(sent)?.returns;
  return (
    <JsonTree
      value={envelope}
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

function Documents({ tab, body }: { tab: Tab; body: Json }) {
  const found = useMemo(() => documentsIn(body), [body]);
  if (!found) return <Empty icon="list" title="No list in this reply" />;
  return <DocumentTable found={found} bar={(value, path) => <Bar tab={tab} value={value} path={path} />} />;
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
      {shape && (
        <pre class="reply-shape" tabIndex={0} role="region" aria-label="Shape of the reply">
          {shape}
        </pre>
      )}
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

function Facts({ reply, tab }: { reply: Reply; tab: Tab }) {
  const ok = reply.envelope?.success === true;
  const name = `${tab.request.value.act}.json`;
  return (
    <>
      <Badge look={ok ? "ok" : "bad"}>{reply.status || "none"}</Badge>
      <span class="reply-fact" title="From sending to the last byte">
        {duration(reply.ms)}
      </span>
      <span class="reply-fact">{size(reply.bytes)}</span>
      <CopyButton iconOnly label="Copy the reply" text={() => pretty(reply.text)} />
      <Button small look="quiet" icon="download" class="hide-narrow" title="Download" onClick={() => saveFile(name, pretty(reply.text))}>
        Download
      </Button>
    </>
  );
}

function FailureBox({ failure }: { failure: Failure }) {
  const errors = Object.entries(failure.errors ?? {});
  return (
    <div class="failure">
      <p>
        <strong>{headOf(failure, errors[0]?.[0])}</strong>
        {failure.code && <code>{failure.code}</code>}
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(([path, texts]) => (
            <li key={path}>
              <span>
                <button type="button" class="failure-path" onClick={() => goTo(path)}>
                  {path}
                </button>
                {numbered(path)}
              </span>{" "}
              <span>{texts.join(" ")}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The message without the errors, each of which has its own line. */
function headOf({ message }: Failure, path: string | undefined): string {
  const end = path === undefined ? -1 : message.indexOf(`: ${path}: `);
  return end > 0 ? message.slice(0, end) : message;
}

/** How the form calls an item of a list: it counts from 1, and paths from 0. */
function numbered(path: string): string {
  const item = /([^.]+)\.(\d+)(?!.*\.\d)/.exec(path);
  return item ? ` (${item[1]} ${Number(item[2]) + 1})` : "";
}

/** Put the focus on the field of a path, or the nearest above it. */
function goTo(path: string): void {
  for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const named = (attribute: string, path = at) => document.querySelector<HTMLElement>(`[${attribute}="${CSS.escape(path)}"]`);
    // A unique index names the field of the stored document.
    const field = named("data-path") ?? named("data-switch") ?? named("data-path", `set.${at}`);
    if (!field) continue;
    field.scrollIntoView({ block: "center" });
    field.focus();
    return;
  }
  notify("This field is not in the form.");
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

function Raw({ text }: { text: string }) {
  const [most, setMost] = useState(RAW_STEP);
  return (
    <div class="raw" tabIndex={0} role="region" aria-label="Reply as text">
      <pre>{text.slice(0, most)}</pre>
      {text.length > most && (
        <Button small onClick={() => setMost(most + 5 * RAW_STEP)}>
          Show more of {size(text.length)}
        </Button>
      )}
    </div>
  );
}

function statusText(reply: Reply, page: Page | null): string {
  const what = reply.error ?? (reply.envelope?.success ? "Succeeded" : "Failed");
  const which = page ? `. ${pageText(page)}` : "";
  return `${what}. Status ${reply.status}, ${duration(reply.ms)}, ${size(reply.bytes)}${which}`;
}

function pretty(text: string): string {
  try {
    return stringify(parse(text), 2);
  } catch {
    return text;
  }
}

export function duration(ms: number): string {
  return ms < 1000 ? `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(2)} MB`;
}

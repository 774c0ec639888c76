/** What came back: what was refused, the body as a tree, a table or text, and the headers. */

import { useState } from "preact/hooks";
import type { Json, JsonObject } from "../json";
import { showRequest, signIn, specOf, token, tokenIn, type Reply, type Shown, type Tab } from "../state";
import { Button, notify } from "../ui";
import { Code } from "../code";
import { lazy } from "../lazy";
import { fileAt } from "../linked/find";
import { openerOf, type Path } from "./documents";
import { Exchange } from "./exchange";
import { size } from "./facts";
import { FailureBox, NoEnvelope } from "./failure";
import { BODY, JsonTree } from "./tree";

const Compare = lazy(() => import("../compare").then((part) => part.Compare), "");
const Documents = lazy(() => import("./table").then((part) => part.Documents), "");
const Thumb = lazy(() => import("../linked/view").then((part) => part.Thumb), "");
const ValueBar = lazy(() => import("./values").then((part) => part.ValueBar), "");

/** Characters of raw text that are shown at once. */
const RAW_STEP = 200_000;

export function Answer({ tab, reply, shown }: { tab: Tab; reply: Reply; shown: Shown }) {
  const find = tab.find.value;
  const [comparing, setComparing] = useState(false);
  if (shown === "exchange") return <Exchange reply={reply} sent={tab.sent.value} />;
  if (shown === "raw") return <Raw key={reply.at} text={reply.text || reply.error || ""} isJson={reply.envelope !== undefined} />;
  const { envelope } = reply;
  if (!envelope)
    return <NoEnvelope reply={reply} showText={() => void (tab.shown.value = "raw")} />;
  const parts = { tab, body: envelope.body as Json, find: find.trim() };
  return (
    <div class="reply-body">
      {!envelope.success && <FailureBox failure={envelope.body} reply={reply} tab={tab} />}
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
      beside={(value, path) => {
        const file = fileAt(returns, value, path);
        return file && <Thumb file={file} who={who} />;
      }}
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

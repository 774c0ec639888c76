/** What is known of a reply besides its body: status, duration, size, the id of the request. */

import { parse, stringify } from "../json";
import type { Reply, Tab } from "../state";
import { Badge, Button, CopyButton, copyText, notify, saveFile } from "../ui";

/** Browsers do not tell these words over HTTP/2. */
const WORDS: Record<number, string> = {
  200: "OK",
  201: "Created",
  400: "Bad request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  409: "Conflict",
  412: "Stale",
  413: "Too large",
  415: "Wrong type",
  422: "Not valid",
  429: "Too many",
  500: "Server error",
  502: "Bad gateway",
  503: "Unavailable",
  504: "Gateway timeout",
};

export function Facts({ reply, tab }: { reply: Reply; tab: Tab }) {
  const ok = reply.envelope?.success === true;
  const name = `${tab.request.value.act}.json`;
  const id = requestId(reply);
  return (
    <div class="reply-facts" role="group" aria-label="About the reply">
      {reply.error === "Cancelled." ? <Badge>Cancelled</Badge> : <Badge look={ok ? "ok" : "bad"}>{statusWords(reply.status)}</Badge>}
      {headerOf(reply, "idempotent-replay") === "1" && (
        <span title="Nothing was done again: this is the reply to the first request with this Idempotency-Key">
          <Badge look="warn">Repeated reply</Badge>
        </span>
      )}
      <span class="reply-fact" title="From sending to the last byte">
        {duration(reply.ms)}
      </span>
      {reply.status > 0 && <span class="reply-fact">{size(reply.bytes)}</span>}
      {reply.isBroken && (
        <Badge look="warn">
          <span title="What could not be read is shown as \ufffd">Not valid UTF-8</span>
        </Badge>
      )}
      {id && (
        <button type="button" class="reply-id" title={`Copy the request id ${id}`} onClick={() => void copyId(id)}>
          request {id.slice(0, 8)}
        </button>
      )}
      {reply.text && (
        <span class="reply-copies">
          <CopyButton iconOnly label="Copy the reply" text={() => pretty(reply.text)} />
          <Button small look="quiet" icon="download" class="icon-only" title="Download" onClick={() => saveFile(name, pretty(reply.text))}>
            Download
          </Button>
        </span>
      )}
    </div>
  );
}

/** `200 OK`. */
export function statusWords(status: number): string {
  return status ? [status, WORDS[status]].filter(Boolean).join(" ") : "No reply";
}

/** Empty where the reply has none. */
export function requestId(reply: Reply): string {
  return headerOf(reply, "x-request-id");
}

/** A header of a reply by its name in small letters; empty where it is not there. */
export function headerOf({ headers = [] }: Reply, wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "";
}

async function copyId(id: string): Promise<void> {
  const isDone = await copyText(id);
  notify(isDone ? "The request id is copied." : "The browser does not allow this page to copy.", { bad: !isDone });
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

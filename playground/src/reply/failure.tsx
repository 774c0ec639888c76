/** What a refused request is told: the message, each error with a way to its field, and what can be done. */

import { useEffect, useState } from "preact/hooks";
import { showLogin } from "../account";
import { catalog, loginOf, sendTab, type Failure, type Reply, type Tab } from "../state";
import { Button, Empty, notify, once } from "../ui";
import { headerOf, requestId } from "./facts";

/** What stands there where no envelope came. */
export function NoEnvelope({ reply, showText }: { reply: Reply; showText: () => void }) {
  const { status, error = "", text } = reply;
  if (status)
    return (
      <Empty icon="close" title="This is no reply of the gateway">
        <p>Something before it may have answered, such as a proxy.</p>
        {status >= 500 && <Unknown reply={reply} />}
        {text && (
          <Button small onClick={showText}>
            Show its text
          </Button>
        )}
      </Empty>
    );
  const why = /^No reply[^:]*: (.*)/.exec(error)?.[1];
  if (why === undefined)
    return (
      <Empty icon="stop" title={error}>
        {reply.sentHeaders && <Unknown reply={reply} />}
      </Empty>
    );
  return (
    <Empty icon="close" title="No reply">
      <p>The service was not reached, or the connection broke before it answered.</p>
      <Unknown reply={reply} />
      <p class="small">{why}</p>
    </Empty>
  );
}

/** What was sent and not answered may be done: a second call might do it twice. */
function Unknown({ reply: { sentHeaders = [] } }: { reply: Reply }) {
  const hasKey = sentHeaders.some(([name]) => name === "Idempotency-Key");
  return (
    <p>
      {hasKey
        ? "It is not known whether the act was done. Sent again with the same Idempotency-Key, it is not done twice."
        : "It is not known whether the act was done: look before you send it again."}
    </p>
  );
}

export function FailureBox({ failure, reply, tab }: { failure: Failure; reply: Reply; tab: Tab }) {
  const canLogIn = reply.status === 401 && catalog.value && loginOf(catalog.value);
  const id = requestId(reply);
  const errors = Object.entries(failure.errors ?? {});
  return (
    <div class="failure">
      <p>
        <span class="grow">
          <strong>{headOf(failure, errors[0]?.[0])}</strong> {failure.code && <code>{failure.code}</code>}
        </span>
        {canLogIn && (
          <Button small icon="key" onClick={showLogin}>
            Log in
          </Button>
        )}
      </p>
      {reply.status >= 500 && id && <p class="failure-more">The log of the service has more, under the request id {id}.</p>}
      <Wait key={reply.at} reply={reply} tab={tab} />
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

/** Counts down to when another try may succeed, where a reply says that. */
export function Wait({ reply, tab }: { reply: Reply; tab: Tab }) {
  const seconds = Number(/^\d{1,6}$/.exec(headerOf(reply, "retry-after"))?.[0] ?? 0);
  return seconds > 0 ? <Countdown until={reply.at + reply.ms + seconds * 1000} tab={tab} /> : null;
}

/** `until` is in milliseconds since 1970. */
function Countdown({ until, tab }: { until: number; tab: Tab }) {
  const [now, setNow] = useState(Date.now);
  const left = Math.max(0, Math.ceil((until - now) / 1000));
  useEffect(() => {
    if (left === 0) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [left === 0]);
  return (
    <p class="failure-wait">
      <span class="grow" aria-live={left ? "off" : "polite"}>
        {left ? `Another try may succeed in ${left < 120 ? `${left} s` : `${Math.ceil(left / 60)} min`}.` : "Another try may succeed now."}
      </span>
      <Button small icon="play" aria-disabled={left > 0} onClick={once(() => left || void sendTab(tab))}>
        Send again
      </Button>
    </p>
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

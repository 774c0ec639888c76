/** What went over the wire: the request as it was sent, and the headers of the reply. */

import { GATEWAY_URL } from "../catalog";
import { bodyOf, identities, token, type ActRequest, type Reply } from "../state";
import { JsonTree } from "./tree";

export function Exchange({ reply, sent }: { reply: Reply; sent: ActRequest | null }) {
  return (
    <div class="exchange" tabIndex={0} role="region" aria-label="Request and headers">
      <h3>Request</h3>
      <p class="mono">POST {GATEWAY_URL}</p>
      <Rows rows={reply.sentHeaders ?? []} />
      {sent && <JsonTree value={bodyOf(reply.request ?? sent)} label="Request as it was sent" height={660} />}
      <h3>Reply</h3>
      <p class="mono">{reply.status || "none"}</p>
      <Rows rows={reply.headers ?? []} />
      <p class="muted small">The browser adds headers of its own to the request, and hides some of the reply.</p>
    </div>
  );
}

function Rows({ rows }: { rows: [name: string, value: string][] }) {
  return (
    <dl>
      {rows.map(([name, value]) => (
        <>
          <dt class="mono">{name}</dt>
          <dd class="mono">{masked(value)}</dd>
        </>
      ))}
    </dl>
  );
}

/** A header without the token of anybody who is signed in. */
function masked(value: string): string {
  const tokens = [token.value, ...identities.value.map((one) => one.token)];
  return tokens.reduce((text, one) => (one ? text.replace(one, "(the token)") : text), value);
}

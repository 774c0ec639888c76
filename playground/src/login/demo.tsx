/** What the service says of itself, and its accounts for trying it out: each logs in at a click. */

import { useState } from "preact/hooks";
import { ACCOUNTS, NOTE, type DemoAccount } from "../brand";
import type { PlacedAct } from "../catalog";
import { isSecretName } from "../library/secrets";
import { WithCode } from "../library/words";
import { catalog, emptyRequest, send, signIn, token, type ActRequest } from "../state";
import { Button, notify } from "../ui";

export function DemoAccounts({ login, onDone }: { login: PlacedAct | undefined; onDone?: () => void }) {
  const [waiting, setWaiting] = useState(false);
  const isOffered = !token.value || onDone !== undefined;
  if (ACCOUNTS.length ? !isOffered : !NOTE) return null;
  const logIn = async (request: ActRequest) => {
    if (waiting) return;
    setWaiting(true);
    const reply = await send(request, undefined, "");
    setWaiting(false);
    if (!reply.envelope?.success || !signIn(request.set, reply.envelope.body)) return notify("This account does not exist.", { bad: true });
    notify("Logged in.", { heard: true });
    onDone?.();
  };
  const offered = ACCOUNTS.map((one) => ({ one, request: login && requestOf(login, one) }));
  return (
    <div class="demo">
      {NOTE && (
        <p class="muted">
          <WithCode text={NOTE} />
        </p>
      )}
      {offered.map(
        ({ one: { who }, request }) =>
          request && (
            <Button key={who} small class="chip" aria-disabled={waiting} title={`Log in as ${who}`} onClick={() => void logIn(request)}>
              {who.replace(/@.*/, "")}
            </Button>
          ),
      )}
    </div>
  );
}

/** The log-in of an account: its password where the act takes a secret, its name in the first other text. */
function requestOf(login: PlacedAct, { who, password }: DemoAccount): ActRequest | undefined {
  const { set } = login.spec;
  if (set.kind !== "object") return undefined;
  const texts = Object.entries(set.fields ?? {}).flatMap(([name, { kind }]) => (kind === "string" || kind === "email" ? [name] : []));
  const secret = texts.find(isSecretName);
  const name = texts.find((one) => !isSecretName(one));
  const request = emptyRequest(catalog.value, login);
  return secret && name ? { ...request, set: { ...request.set, [name]: who, [secret]: password } } : undefined;
}

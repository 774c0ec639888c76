/** At the end of the top bar: log in, or who is signed in. */

import { batch, signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { catalog, chooseEnvironment, environment, environments, expiryOf, identities, identity, loginOf, logOut, nameOf, switchTo, token, type Identity } from "./state";
import { Button, copyText, IconButton, Menu, notify } from "./ui";

/** The dialog that is shown over the page. */
export const dialog = signal<"" | "palette" | "headers" | "login" | "environments" | "batch" | "shortcuts">("");

/** Show the dialog of headers and token. */
export const showHeaders = (): void => void (dialog.value = "headers");
export const showEnvironments = (): void => void (dialog.value = "environments");
export const showBatch = (): void => void (dialog.value = "batch");
export const showShortcuts = (): void => void (dialog.value = "shortcuts");
export const showLogin = (): void => void (dialog.value = "login");

/** Which environment is used; nothing where there is none. */
export function EnvironmentMenu() {
  const all = environments.value;
  if (!all.length) return null;
  const now = environment.value?.id ?? "";
  return (
    <span class="hide-narrow">
      <Menu
        label={environment.value?.name ?? "No environment"}
        title="The environment whose variables are filled in"
        items={[
          ...[{ id: "", name: "No environment" }, ...all].map(({ id, name }) => ({
            label: name,
            checked: id === now,
            onSelect: () => chooseEnvironment(id),
          })),
          { label: "Edit environments", icon: "settings" as const, onSelect: showEnvironments },
        ]}
      />
    </span>
  );
}

export function Account() {
  const canLogIn = catalog.value !== null && loginOf(catalog.value) !== undefined;
  if (!token.value)
    return (
      <>
        <IconButton icon="settings" label="Headers and token" onClick={showHeaders} />
        {canLogIn && (
          <Button look="primary" onClick={showLogin}>
            Log in
          </Button>
        )}
      </>
    );
  return <SignedIn canLogIn={canLogIn} />;
}

/** How often it is looked whether a token has expired, in milliseconds. */
const LOOK = 30_000;

function SignedIn({ canLogIn }: { canLogIn: boolean }) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), LOOK);
    return () => clearInterval(timer);
  }, []);
  const now = identity.value;
  const { who = "", roles = [] } = now?.session ?? {};
  const expiry = expiryOf(token.value);
  const until = expiry ? `; it expires on ${expiry.toLocaleString()}` : "";
  const isOver = expiry !== undefined && expiry.getTime() <= Date.now();
  const named = roles.map(({ name }) => name).join(", ");
  const all = identities.value;
  return (
    <span class="account">
      <Menu
        label={(who || "Token set") + (isOver ? ", expired" : "")}
        title={`A token is sent with every call${until}.${named && ` Roles: ${named}`}`}
        icon="key"
        items={[
          ...all.map((one) => ({ label: lineOf(one), checked: one === now, onSelect: () => switchTo(one) })),
          ...(canLogIn ? [{ label: "Log in as somebody else", icon: "key" as const, onSelect: showLogin }] : []),
          { label: "Copy the token", icon: "copy", onSelect: () => void copyToken() },
          { label: "Headers and token", icon: "settings", onSelect: showHeaders },
          { label: who && all.length > 1 ? `Log out ${who}` : "Log out", icon: "close", onSelect: () => leave(now) },
        ]}
      />
    </span>
  );
}

async function copyToken(): Promise<void> {
  const isDone = await copyText(token.value);
  notify(isDone ? "The token is copied." : "The browser does not allow this page to copy.", { bad: !isDone });
}

function leave(now: Identity | undefined): void {
  const [all, sent] = [identities.value, token.value];
  if (now) logOut(now);
  else token.value = "";
  const next = identity.value;
  const undo = () =>
    batch(() => {
      identities.value = all;
      token.value = sent;
    });
  notify(next ? `Logged out. ${nameOf(next)} is signed in.` : "Logged out.", { undo });
}

function lineOf(one: Identity): string {
  const expiry = expiryOf(one.token);
  return expiry ? `${nameOf(one)}, ${untilText(expiry)}` : nameOf(one);
}

/** In few words; of today only the time. */
function untilText(expiry: Date): string {
  if (expiry.getTime() <= Date.now()) return "expired";
  const isToday = expiry.toDateString() === new Date().toDateString();
  return `until ${isToday ? expiry.toLocaleTimeString([], { timeStyle: "short" }) : expiry.toLocaleDateString()}`;
}

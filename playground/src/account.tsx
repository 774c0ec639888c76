/** At the end of the top bar: log in, or who is signed in. */

import { batch, signal } from "@preact/signals";
import { timeOfService } from "./clock";
import { activeTab, catalog, chooseEnvironment, environment, environments, expiryOf, identities, identity, loginOf, logOut, nameOf, switchTo, token, view, type Identity } from "./state";
import { Button, copyText, IconButton, Menu, notify, useClock, whenText } from "./ui";

/** The dialog that is shown over the page. */
export const dialog = signal<"" | "palette" | "headers" | "login" | "environments" | "batch" | "paste" | "rights" | "shortcuts">("");
/** What the dialog for pasted requests begins with. */
export const pasted = signal("");

/** Show the dialog of headers and token. */
export const showHeaders = (): void => void (dialog.value = "headers");
export const showEnvironments = (): void => void (dialog.value = "environments");
export function showPaste(text = ""): void {
  pasted.value = text;
  dialog.value = "paste";
}
export const showRights = (): void => void (dialog.value = "rights");
export const showBatch = (): void => void (dialog.value = "batch");
export const showShortcuts = (): void => void (dialog.value = "shortcuts");
export const showLogin = (): void => void (dialog.value = "login");

/** Which environment is used. */
export function EnvironmentMenu() {
  const all = environments.value;
  const now = environment.value?.id ?? "";
  return (
    <span class="hide-narrow">
      <Menu
        label={environment.value?.name ?? "No environment"}
        look="quiet"
        title="Current environment"
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
  // The home page has one of its own.
  const isHome = view.value === "acts" && !activeTab.value;
  if (!token.value)
    return (
      <span class="account">
        <IconButton icon="settings" label="Headers and token" onClick={showHeaders} />
        {canLogIn && (
          <Button look={isHome ? undefined : "primary"} onClick={showLogin}>
            Log in
          </Button>
        )}
      </span>
    );
  return <SignedIn canLogIn={canLogIn} />;
}

function SignedIn({ canLogIn }: { canLogIn: boolean }) {
  useClock(); // The token may expire.
  const now = identity.value;
  const { who = "", roles = [] } = now?.session ?? {};
  const expiry = expiryOf(token.value);
  const until = expiry ? `; it expires ${whenText(expiry.getTime(), timeOfService())}` : "";
  const isOver = expiry !== undefined && expiry.getTime() <= timeOfService();
  const named = roles.map(({ name }) => name).join(", ");
  const all = identities.value;
  return (
    <span class="account">
      <Menu
        label={[roles[0]?.name, who || "Token set", isOver && "expired"].filter(Boolean).join(", ")}
        face={<Face name={roles[0]?.name ?? (who || "Token set")} who={who} isOver={isOver} />}
        title={`A token is sent with every call${until}.${named && ` Roles: ${named}`}`}
        head={all.length < 2 && <div class="account-head">{now ? <Line one={now} /> : "Token set"}</div>}
        items={[
          ...(all.length < 2 ? [] : all.map((one) => ({ label: <Line one={one} />, checked: one === now, onSelect: () => switchTo(one) }))),
          { label: "Copy token", icon: "copy", ruled: true, onSelect: () => void copyToken() },
          { label: "Headers and token", icon: "settings", onSelect: showHeaders },
          { label: "Who may do what", icon: "lock", onSelect: showRights },
          ...(canLogIn ? [{ label: "Log in as another user", icon: "key" as const, onSelect: showLogin }] : []),
          { label: who && all.length > 1 ? `Log out ${who}` : "Log out", icon: "leave", ruled: true, onSelect: () => leave(now) },
        ]}
      />
    </span>
  );
}

/** On a phone the initial alone. */
function Face({ name, who, isOver }: { name: string; who: string; isOver: boolean }) {
  return (
    <>
      <span class="avatar" data-initial={(who || name).slice(0, 1).toUpperCase()} />
      <span class="account-name">{isOver ? `${name}, expired` : name}</span>
    </>
  );
}

async function copyToken(): Promise<void> {
  const isDone = await copyText(token.value);
  notify(isDone ? "Token copied." : "The browser blocked copying.", { bad: !isDone });
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

/** Their name; below it their roles and until when. */
function Line({ one: { token: sent, session } }: { one: Identity }) {
  const at = expiryOf(sent)?.getTime();
  const until = at === undefined ? "" : at <= timeOfService() ? "expired" : `expires ${whenText(at, timeOfService())}`;
  return (
    <span class="account-line">
      {session.who || "Unknown user"}
      <span class="muted small">{[...session.roles.map(({ name }) => name), until].filter(Boolean).join(" · ")}</span>
    </span>
  );
}

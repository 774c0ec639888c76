/** At the end of the top bar: log in, or who is signed in. */

import { signal } from "@preact/signals";
import { catalog, chooseEnvironment, environment, environments, expiryOf, loginOf, session, token } from "./state";
import { Button, IconButton, Menu } from "./ui";

/** The dialog that is shown over the page. */
export const dialog = signal<"" | "palette" | "headers" | "login" | "environments">("");

/** Show the dialog of headers and token. */
export const showHeaders = (): void => void (dialog.value = "headers");
export const showEnvironments = (): void => void (dialog.value = "environments");
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
        <IconButton icon="key" label="Headers and token" onClick={showHeaders} />
        {canLogIn && (
          <Button look="primary" small onClick={showLogin}>
            Log in
          </Button>
        )}
      </>
    );
  const { who = "", roles = [] } = session.value ?? {};
  const expiry = expiryOf(token.value)?.toLocaleString();
  const until = expiry ? `; it expires on ${expiry}` : "";
  const named = roles.map(({ name }) => name).join(", ");
  return (
    <span class="account">
      <Menu
        label={who || "Token set"}
        title={`A token is sent with every call${until}.${named && ` Roles: ${named}`}`}
        icon="key"
        items={[
          { label: "Headers and token", icon: "settings", onSelect: showHeaders },
          ...(canLogIn ? [{ label: "Log in as somebody else", icon: "key" as const, onSelect: showLogin }] : []),
          { label: "Log out", icon: "close", onSelect: () => void (token.value = "") },
        ]}
      />
    </span>
  );
}

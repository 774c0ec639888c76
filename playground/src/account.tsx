/** At the end of the top bar: log in, or who is signed in. */

import { signal } from "@preact/signals";
import { catalog, expiryOf, loginOf, session, token } from "./state";
import { Button, IconButton, Menu } from "./ui";

/** The dialog that is shown over the page. */
export const dialog = signal<"" | "palette" | "headers" | "login">("");

/** Show the dialog of headers and token. */
export const showHeaders = (): void => void (dialog.value = "headers");
export const showLogin = (): void => void (dialog.value = "login");

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

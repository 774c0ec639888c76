/** Whose token a request is sent with, where several are signed in. */

import { identities, identity, identityOf, nameOf, NOBODY, type Tab } from "../state";
import { Menu } from "../ui";

export function Sender({ tab }: { tab: Tab }) {
  const as = tab.as.value;
  const all = identities.value;
  if (all.length < 2 && !as) return null;
  const chosen = identityOf(as);
  const who = chosen?.session.roles[0]?.name ?? chosen?.session.who ?? "";
  const now = identity.value;
  return (
    <Menu
      small
      label={`as ${as === NOBODY ? "nobody" : as && !chosen ? "nobody any more" : who || "signed in"}`}
      title="The user this request is sent as"
      items={[
        { id: "", label: now ? `Who is signed in: ${nameOf(now)}` : "Who is signed in" },
        ...all.map((one) => ({ id: one.id, label: nameOf(one) })),
        { id: NOBODY, label: "Nobody: without a token" },
      ].map(({ id, label }) => ({ label, checked: id === as, onSelect: () => void (tab.as.value = id) }))}
    />
  );
}

/** What is said of an act where its request is. */

import type { Act } from "../catalog";
import { identityOf, token, tokenOf, type Tab } from "../state";
import { Badge, Icon } from "../ui";

/** Who may call it; that anybody may is said only to those who are not logged in. */
export function ActFacts({ spec, tab }: { spec: Act; tab: Tab }) {
  const isPublic = spec.access === "public" && !token.value;
  if (spec.access === "public" && !isPublic && !spec.limit.length) return null;
  return (
    <div class="row act-facts">
      {isPublic && <Badge look="ok">Public</Badge>}
      {spec.access === "open" && <Badge look="warn">Open to all</Badge>}
      {spec.access === "rule" && <Rule roles={spec.roles} as={tab.as.value} />}
      {spec.limit.map((text) => (
        <Badge key={text}>{text}</Badge>
      ))}
    </div>
  );
}

/** Who may call an act, and whether that is who it is sent as, as far as is known here. */
function Rule({ roles, as }: { roles: Act["roles"]; as: string }) {
  const isLoggedIn = Boolean(tokenOf(as));
  const own = identityOf(as)?.session.roles ?? [];
  const isOpen = isLoggedIn && (!roles || own.some(({ name }) => roles.includes(name)));
  const why = isOpen ? "You may call it" : isLoggedIn ? "None of your roles may call it" : "Log in to call it";
  const named = roles ? roles.join(", ") : "Requires login";
  return (
    <span title={why}>
      <Badge look={isOpen ? undefined : "warn"}>
        <Icon name={isOpen ? "unlock" : "lock"} />
        {named}
        {roles && <span class="sr-only">: {why}</span>}
      </Badge>
    </span>
  );
}

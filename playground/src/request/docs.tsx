/** What is said of an act where its request is. */

import type { Act } from "../catalog";
import { token } from "../state";
import { Badge, Icon } from "../ui";
import { isLocked } from "./mark";

/** Who may call it is said only to those who look, or may not. */
export function ActFacts({ spec }: { spec: Act }) {
  const isPublic = spec.access === "public" && !token.value;
  if (!isPublic && spec.access !== "open" && !isLocked(spec) && !spec.limit.length) return null;
  return (
    <div class="row act-facts">
      {isPublic && <Badge look="ok">Public</Badge>}
      {spec.access === "open" && <Badge look="warn">Open to all</Badge>}
      {isLocked(spec) && <Badge><Icon name="lock" />{spec.roles ? spec.roles.join(", ") : "Needs a log-in"}</Badge>}
      {spec.limit.map((text) => (
        <Badge key={text}>{text}</Badge>
      ))}
    </div>
  );
}

/** A text in which what stands between backticks is code. */
export function Prose({ text }: { text: string }) {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

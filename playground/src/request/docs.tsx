/** What is said of an act where its request is. */

import type { Act } from "../catalog";
import { Badge, Icon } from "../ui";

export function ActFacts({ spec }: { spec: Act }) {
  return (
    <div class="row act-facts">
      {spec.access === "public" && <Badge look="ok">Public</Badge>}
      {spec.access === "open" && <Badge look="warn">Open to all</Badge>}
      {spec.access === "rule" && <Badge><Icon name="lock" />{spec.roles ? spec.roles.join(", ") : "Needs a log-in"}</Badge>}
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

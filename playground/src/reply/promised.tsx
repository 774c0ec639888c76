/** What a reply will look like, drawn as replies are. */

import { Icon } from "../ui";
import "./tree.css";

const NAMED = /^( *)(?:(\S+): )?(.*)$/;
/** In whose colours the kinds of values are. */
const LOOKS = [
  [/^(integer|decimal|number|timestamp)\b/, "json-number"],
  [/^boolean\b/, "json-word"],
  [/^[{}[\]…]/, "json-mark"],
  [/^/, "json-text"],
] as const;

/** `shape` has a line for each name, indented by two spaces a level. */
export function Promised({ shape }: { shape: string }) {
  const lines = shape.split("\n").map((line) => NAMED.exec(line) ?? ["", "", "", line]);
  const depthOf = (at: number) => (lines[at]?.[1]?.length ?? 0) / 2;
  return (
    <div class="reply-shape" tabIndex={0} role="region" aria-label="Shape of the reply">
      {lines.map(([, , name, kind = ""], at) => {
        const isOpen = /[{[]$/.test(kind);
        const isFollowed = !isOpen && !kind.endsWith("…") && at + 1 < lines.length && depthOf(at + 1) === depthOf(at);
        return (
          <div key={at} class="json-row" style={{ "--depth": depthOf(at) }}>
            <span class="json-fold">{isOpen && <Icon name="down" />}</span>
            <span>
              {name && <span class="json-name">{name}:</span>}
              {name && <span class="json-gap"> </span>}
              <span class={LOOKS.find(([sign]) => sign.test(kind))?.[1]}>{kind}</span>
            </span>
            {isFollowed && <span class="json-comma" />}
          </div>
        );
      })}
    </div>
  );
}

/** The two sides of an open request. */

import { useRef, useState } from "preact/hooks";
import { Divider, paneStyle } from "../panes";
import { ReplyPanel } from "../reply";
import type { Tab } from "../state";
import { RequestPanel } from "./panel";
import "./request.css";
import "../form/form.css";

type Side = "request" | "reply";

/** The request and the reply; on a phone one of them, by a switch above or by a swipe. */
export function Sides({ tab }: { tab: Tab }) {
  const split = useRef<HTMLDivElement>(null);
  const [shown, setShown] = useState<Side>("request");
  const status = tab.reply.value?.status;
  const choose = (side: Side) => split.current?.querySelector(`.${side}`)?.scrollIntoView({ block: "nearest" });
  return (
    <>
      <div class="sides" role="group" aria-label="What is shown">
        <button type="button" aria-pressed={shown === "request"} onClick={() => choose("request")}>
          Request
        </button>
        <button type="button" aria-pressed={shown === "reply"} onClick={() => choose("reply")}>
          Reply{status ? ` · ${status}` : ""}
        </button>
      </div>
      <div
        class="acts-split"
        style={paneStyle("request")}
        ref={split}
        onScroll={({ currentTarget: { scrollLeft, clientWidth } }) => setShown(scrollLeft > clientWidth / 2 ? "reply" : "request")}
      >
        <RequestPanel tab={tab} />
        <Divider pane="request" />
        <ReplyPanel tab={tab} />
      </div>
    </>
  );
}

/** The button that sends a request, or cancels it. */

import { useId } from "preact/hooks";
import { reasonNot, sendTab, type Tab } from "../state";
import { Button, once } from "../ui";

/** Beside the name of the act; on narrow screens above it, out of what scrolls. */
export function SendButton({ tab, isAbove = false }: { tab: Tab; isAbove?: boolean }) {
  const id = useId();
  const running = tab.running.value;
  const reason = reasonNot(tab.drafts.value);
  const place = isAbove ? "send-above" : "send-beside";
  return (
    <>
      {!isAbove && (
        <span class="sr-only" role="status" id={id}>
          {reason}
        </span>
      )}
      {running ? (
        <Button icon="stop" small={isAbove} class={place} onClick={once(() => running.abort())}>
          Cancel
        </Button>
      ) : (
        <Button
          look="primary"
          icon="play"
          small={isAbove}
          class={place}
          title={reason || "Ctrl+Enter"}
          aria-disabled={reason !== ""}
          aria-describedby={reason && !isAbove ? id : undefined}
          onClick={once(() => void sendTab(tab))}
        >
          Send
        </Button>
      )}
    </>
  );
}

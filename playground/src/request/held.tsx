/** A request that was not sent, for required texts that are empty or variables without a value: what can be done about it. */

import { useLayoutEffect, useRef } from "preact/hooks";
import { isObject } from "../json";
import { heldOf, remember, sendTab, specOf, withoutEmpty, type Tab } from "../state";
import { Button, notify, once } from "../ui";

export function Held({ tab }: { tab: Tab }) {
  const bar = useRef<HTMLDivElement>(null);
  const held = heldOf(tab);
  const [first] = held?.empty ?? [];
  useLayoutEffect(() => {
    if (first === undefined) return;
    const field = bar.current?.closest(".request")?.querySelector<HTMLElement>(`[data-path="${CSS.escape(first)}"]`);
    field?.scrollIntoView({ block: "center" });
    field?.focus();
  }, [held]);
  if (held?.unfilled)
    return (
      <div class="request-held row" role="alert">
        <span class="grow">{held.unfilled}</span>
        <Button small title="Nothing between {{ and }} is filled in" onClick={once(() => void sendTab(tab, { isAsWritten: true }))}>
          Send as written
        </Button>
      </div>
    );
  if (!held || first === undefined) return null;
  const { request, empty } = held;
  const kind = specOf(request)?.set;
  const less = kind && withoutEmpty(kind, request.set);
  const leaveOut = () => {
    notify("Left out.", { undo: remember(tab) });
    tab.request.value = { ...request, set: isObject(less) ? less : {} };
    void sendTab(tab);
  };
  const it = empty.length > 1 ? "them" : "it";
  return (
    <div class="request-held row" role="alert" ref={bar}>
      <span class="grow">
        Not sent: {empty.map(shownPath).join(", ")} {empty.length > 1 ? "are" : "is"} empty.
      </span>
      <Button small onClick={once(() => void sendTab(tab, { isEmptyMeant: true }))}>
        Send {it} empty
      </Button>
      {less !== undefined && (
        <Button small onClick={once(leaveOut)}>
          Leave {it} out
        </Button>
      )}
    </div>
  );
}

/** A path as the form names it: `organizations 1`, `address.street`. */
function shownPath(path: string): string {
  return path.slice(4).replace(/\.(\d+)/g, (_, at: string) => ` ${Number(at) + 1}`);
}

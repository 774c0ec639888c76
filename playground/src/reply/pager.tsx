/** Which page of a listing a reply is, and the buttons for the others. */

import { useId } from "preact/hooks";
import type { Json } from "../json";
import { turnPage, type Page, type Tab } from "../state";
import { Button } from "../ui";
import { pageText } from "./page-text";

/** It stays while another page is under way, so that the button keeps the focus. */
export function Pager({ tab, page }: { tab: Tab; page: Page }) {
  const { after, next, trail } = page;
  const isFirst = after === undefined;
  const turn = (to: Json | undefined) => () => void turnPage(tab, to);
  return (
    <div class="pager" role="group" aria-label="Pages">
      <span class="grow">{pageText(page)}</span>
      <Turn tab={tab} label="First" reason={isFirst ? "This is the first page." : ""} onClick={turn(undefined)} />
      <Turn tab={tab} label="Previous" reason={isFirst ? "This is the first page." : trail.length ? "" : "The page before was not read here."} onClick={turn(trail.at(-1))} />
      <Turn tab={tab} label="Next" reason={next === null ? "This is the last page." : ""} onClick={turn(next ?? undefined)} />
    </div>
  );
}

/** `reason` is why there is no such page; empty where there is one. */
function Turn({ tab, label, reason, onClick }: { tab: Tab; label: string; reason: string; onClick: () => void }) {
  const id = useId();
  const running = tab.running.value !== null;
  return (
    <>
      <Button
        small
        aria-label={`${label} page`}
        title={reason || undefined}
        aria-disabled={running || reason !== ""}
        aria-describedby={reason ? id : undefined}
        onClick={() => running || reason || onClick()}
      >
        {label}
      </Button>
      {reason && (
        <span class="sr-only" id={id}>
          {reason}
        </span>
      )}
    </>
  );
}

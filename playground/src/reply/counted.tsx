/** How many rows a table has, and in which order they are. */

import { reasonNot, sendTab, specOf, type Order, type Tab } from "../state";
import { Button, once } from "../ui";

interface Props {
  tab: Tab;
  /** Rows of the reply, those that were searched for, and how many are shown at most. */
  all: number;
  found: number;
  most: number;
  /** How they were sorted here. */
  order: Order | undefined;
  /** Whether there are other pages. */
  isPart: boolean;
}

export function Counted({ tab, all, found, most, order, isPart }: Props) {
  const sort = order && isPart ? sortOf(tab, order) : undefined;
  const reason = reasonNot(tab.drafts.value);
  const whole = () => {
    const request = tab.request.value;
    const { after: _after, ...set } = request.set;
    tab.request.value = { ...request, set: { ...set, sort: sort as string } };
    void sendTab(tab);
  };
  return (
    <p class="reply-counted">
      <span>{rowsText(all, found)}</span>
      {found > most && <span>the first {most} are shown</span>}
      {order && (
        <span>
          sorted by {order.name}
          {isPart ? ", this page only" : ""}
        </span>
      )}
      {sort !== undefined && (
        <Button small disabled={reason !== ""} title={reason || `Sets sort to ${sort} in the form, and sends it`} onClick={once(whole)}>
          Sort the whole listing
        </Button>
      )}
    </p>
  );
}

function rowsText(all: number, found: number): string {
  const rows = `${all.toLocaleString("en")} ${all === 1 ? "row" : "rows"}`;
  return found === all ? rows : `${found.toLocaleString("en")} of ${rows}`;
}

/** The value of `sort` that asks for an order; undefined where the act has none. */
function sortOf(tab: Tab, { name, isDown }: Order): string | undefined {
  const set = specOf(tab.request.value)?.set;
  const kind = set?.kind === "object" ? set.fields?.sort : undefined;
  const sort = `${isDown ? "-" : ""}${name}`;
  return kind?.kind === "enums" && kind.choices.includes(sort) ? sort : undefined;
}

/** The documents of a reply as a table, sorted by any column. */

import type { FunctionComponent } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isObject, Numeral, numberIn, own, stringify, type Json, type JsonObject } from "../json";
import { catalog, isOnlyPage, specOf, type Order, type Tab } from "../state";
import { Button, classes, Empty } from "../ui";
import { Counted } from "./counted";
import type { Path } from "./documents";
import { summary } from "./rows";
import { namesAt } from "./shape";
import { keepWidths } from "./widths";
import "./table.css";

/** Rows that are shown at once, and columns at most. */
const PAGE = 200;
const MOST_COLUMNS = 60;
/** Characters of a cell that may be cut off. */
const LONG = 24;
const ID = /^[0-9a-f]{24}$/;

/** Documents, and where in the reply they are. */
interface Found {
  documents: JsonObject[];
  path: Path;
}

/** The first list of objects in a body: itself, or at most two levels down. */
function documentsIn(body: Json, path: Path = ["body"], levels = 3): Found | undefined {
  if (Array.isArray(body)) return body.length && body.every(isObject) ? { documents: body, path } : undefined;
  if (!isObject(body) || levels === 0) return undefined;
  const inner = Object.entries(body);
  for (const [name, value] of inner) if (Array.isArray(value) && documentsIn(value)) return documentsIn(value, [...path, name]);
  for (const [name, value] of inner) {
    const found = isObject(value) ? documentsIn(value, [...path, name], levels - 1) : undefined;
    if (found) return found;
  }
  return undefined;
}

function hasEmptyList(body: Json): boolean {
  return [body, ...(isObject(body) ? Object.values(body) : [])].some((one) => Array.isArray(one) && !one.length);
}

interface Props {
  tab: Tab;
  body: Json;
  /** Only the rows with this text are shown. */
  find: string;
  /** What can be done with the value of a cell that was clicked; `path` leads to it. */
  Bar: FunctionComponent<{ tab: Tab; value: Json; path: Path }>;
}

export function Documents({ body, ...rest }: Props) {
  const found = useMemo(() => documentsIn(body), [body]);
  if (!found) return <Empty icon="list" title={hasEmptyList(body) ? "The list is empty" : "No list in this reply"} />;
  return <DocumentTable found={found} {...rest} />;
}

interface Chosen {
  at: number;
  name: string;
}

function DocumentTable({ tab, found: { documents, path }, find, Bar }: Omit<Props, "body"> & { found: Found }) {
  const order = tab.order.value;
  const [most, setMost] = useState(PAGE);
  const [chosen, setChosen] = useState<Chosen>();
  const box = useRef<HTMLDivElement>(null);
  const names = useMemo(() => namesOf(tab, documents, path), [documents]);
  const numbers = useMemo(() => new Set(names.filter((name) => documents.some((one) => isNumber(own(one, name))))), [documents]);
  const places = useMemo(() => placesOf(documents, order, find.toLowerCase()), [documents, order, find]);
  const page = tab.page.value;
  const isPart = page !== null && !isOnlyPage(page);
  const hint = isPart ? "Sorts this page" : "Sorts these rows";
  const now = order ?? orderOf(tab);
  const turn = (name: string) => void (tab.order.value = { name, isDown: order?.name === name && !order.isDown });
  useLayoutEffect(() => (box.current ? watchEdge(box.current) : undefined), []);
  useLayoutEffect(() => (box.current && page ? keepWidths(tab, box.current) : undefined), [documents]);
  const value = chosen && own(documents[chosen.at] ?? {}, chosen.name);
  return (
    <>
      <Counted tab={tab} all={documents.length} found={places.length} most={most} order={order} isPart={isPart} />
      <div class="reply-frame">
        <div class="reply-table table-scroll" tabIndex={0} role="region" aria-label="Reply as a table" ref={box}>
          <table class="table">
            <thead>
              <tr>
                {names.map((name) => (
                  <th
                    key={name}
                    scope="col"
                    data-name={name}
                    aria-sort={now?.name === name ? (now.isDown ? "descending" : "ascending") : undefined}
                    class={classes(numbers.has(name) && "numeric")}
                  >
                    <button type="button" class="reply-sort" title={`${hint} by ${name}`} onClick={() => turn(name)}>
                      {name}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {places.slice(0, most).map((at) => (
                <tr key={at}>
                  {names.map((name) => (
                    <Cell
                      key={name}
                      value={documents[at]?.[name]}
                      isNumeric={numbers.has(name)}
                      isChosen={chosen?.at === at && chosen.name === name}
                      onChoose={() => setChosen({ at, name })}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {places.length > most && (
            <Button small class="reply-more" onClick={() => setMost(most + PAGE)}>
              Show more of {places.length.toLocaleString("en")}
            </Button>
          )}
        </div>
      </div>
      {chosen && value !== undefined && (
        <div class="json-bar row" role="group" aria-label="The chosen value">
          <Bar tab={tab} value={value} path={[...path, chosen.at, chosen.name]} />
        </div>
      )}
    </>
  );
}

interface CellProps {
  value: Json | undefined;
  isNumeric: boolean;
  /** A chosen cell shows all of its value. */
  isChosen: boolean;
  /** By mouse only: what can be done with a value is in the tree, too. */
  onChoose: () => void;
}

function Cell({ value, isNumeric, isChosen, onChoose }: CellProps) {
  const isOpen = isObject(value) || Array.isArray(value);
  const isId = typeof value === "string" && ID.test(value);
  const text = isOpen && isChosen ? stringify(value, 2) : isMistakable(value, isNumeric) ? stringify(value) : cellOf(value);
  const look = classes(isNumeric && "numeric", isId && "reply-oid", isChosen && "chosen", (isOpen || value === null) && "reply-dim", value === null && "reply-null");
  return (
    <td class={look} title={isId || text.length > LONG ? text : undefined} onClick={onChoose}>
      {isId ? (
        <span>
          <span>{text.slice(0, -8)}</span>
          {text.slice(-8)}
        </span>
      ) : (
        text
      )}
    </td>
  );
}

/** What the act says that is asked for, in that order, whether or not a row has it; then what else the rows have. */
function namesOf(tab: Tab, documents: JsonObject[], path: Path): string[] {
  const sent = tab.sent.value;
  const spec = sent && specOf(sent);
  const promised = catalog.value && spec ? namesAt(catalog.value, spec.returns, path.slice(1), sent.get) : [];
  return [...new Set([...promised, ...documents.slice(0, PAGE).flatMap(Object.keys)])].slice(0, MOST_COLUMNS);
}

/** The order in which the rows came, where the request named one. */
function orderOf(tab: Tab): Order | undefined {
  const sort = tab.page.value && tab.sent.value?.set.sort;
  return typeof sort === "string" ? { name: sort.replace(/^-/, ""), isDown: sort.startsWith("-") } : undefined;
}

function isNumber(value: Json | undefined): boolean {
  return typeof value === "number" || value instanceof Numeral;
}

/** Whether a text looks like nothing, a word of JSON, or a number among numbers: its quotes tell. */
function isMistakable(value: Json | undefined, isNumeric: boolean): boolean {
  return typeof value === "string" && (/^(|null|true|false)$/.test(value) || (isNumeric && numberIn(value) !== undefined));
}

function cellOf(value: Json | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  if (Array.isArray(value) && !value.some((one) => isObject(one) || Array.isArray(one))) return value.map(cellOf).join(", ");
  return isObject(value) || Array.isArray(value) ? summary(value) : stringify(value);
}

/** The places of the rows that have a text, in an order. */
function placesOf(documents: JsonObject[], order: Order | undefined, find: string): number[] {
  const all = documents.map((_, at) => at);
  const places = find ? all.filter((at) => Object.values(documents[at] ?? {}).some((value) => cellOf(value).toLowerCase().includes(find))) : all;
  if (!order) return places;
  const { name, isDown } = order;
  const texts = documents.map((one) => cellOf(own(one, name)));
  const { compare } = new Intl.Collator(undefined, { numeric: true });
  return places.sort((one, other) => {
    const [a, b] = [own(documents[one] ?? {}, name), own(documents[other] ?? {}, name)];
    const by = isNumber(a) && isNumber(b) ? Number(a) - Number(b) : compare(texts[one] ?? "", texts[other] ?? "");
    return isDown ? -by : by;
  });
}

/** Let the right edge fade while more is to the right of it. */
function watchEdge(box: HTMLElement): () => void {
  const look = () => box.parentElement?.classList.toggle("has-more", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  const observer = new ResizeObserver(look);
  observer.observe(box);
  if (box.firstElementChild) observer.observe(box.firstElementChild);
  box.addEventListener("scroll", look, { passive: true });
  return () => observer.disconnect();
}

/** A folding tree of JSON, of which only the rows in sight exist. */

import { useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { stringify, type Json } from "../json";
import type { Envelope } from "../state";
import { classes, copyText, Icon, notify } from "../ui";
import { itemsText, rowsOf, summary, type Folds, type Row } from "./rows";
import "./tree.css";

/** Of a row in pixels, as in the style: those that fingers touch are taller. */
const HEIGHTS = { fine: 22, coarse: 26 };
const BEYOND = 20;
const LONG_TEXT = 300;
/** Rows that all exist: those may be higher than one line. */
const MOST_WHOLE = 200;

export interface JsonTreeProps {
  value: Json | Envelope;
  label: string;
  /** What leads to the value itself: it stands before the paths of what is in it. */
  root?: readonly string[];
  /** Pixels that it takes at most; else it fills what is there. */
  height?: number;
  /** Only the rows with this text are shown, and those they are in. */
  find?: string;
  /** What can be done with the chosen value; `path` leads to it from the root. */
  bar?: (value: Json, path: readonly (string | number)[]) => ComponentChildren;
  /** Whether that stands in the row of the value, else below the tree. */
  barInRow?: boolean;
  /** A short text at the end of a row; empty for none. */
  markOf?: (path: readonly (string | number)[]) => string;
  /** What is folded and unfolded by hand, where that outlives the value. */
  kept?: Signal<Folds>;
  /** What stands at the end of the row of a value, such as a small picture. */
  beside?: (value: Json, path: readonly (string | number)[]) => ComponentChildren;
  /** Where a click leads from a value, and its name. */
  leadsTo?: (value: Json, path: readonly (string | number)[]) => { label: string; go: () => void } | undefined;
}

const NOTHING: readonly string[] = [];
/** The `root` of the body of a reply. */
export const BODY: readonly string[] = ["body"];

export function JsonTree({ value, label, root = NOTHING, height, find = "", bar, barInRow, markOf, kept, beside, leadsTo }: JsonTreeProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const own = useSignal<Folds>(new Map());
  const changed = kept ?? own;
  const folds = changed.value;
  const [at, setAt] = useState<number>();
  const [seen, setSeen] = useState({ top: 0, height: 600 });
  const rows = useMemo(() => rowsOf(value as Json, folds, find), [value, folds, find]);
  useEffect(() => {
    own.value = new Map();
    setAt(undefined);
  }, [value]);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const rowHeight = useMemo(() => HEIGHTS[matchMedia("(pointer: coarse)").matches ? "coarse" : "fine"], []);
  const isWhole = !barInRow && rows.length <= MOST_WHOLE;
  const from = isWhole ? 0 : Math.max(0, Math.floor(seen.top / rowHeight) - BEYOND);
  const to = isWhole ? rows.length : Math.min(rows.length, Math.ceil((seen.top + seen.height) / rowHeight) + BEYOND);
  const chosen = nearest(rows, at ?? 0, -1);
  const pathOf = (row: Row) => [...root, ...stepsTo(value as Json, row.path)];
  const isPlace = (row: Row) => !row.end && (row.depth > 0 || root.length > 0);
  const fold = (row: Row, open: boolean) => void (changed.value = new Map(folds).set(row.path, open));
  const go = (next: number) => {
    setAt(next);
    const element = box.current;
    if (!element) return;
    if (isWhole) document.getElementById(`${id}-${next}`)?.scrollIntoView({ block: "nearest" });
    else if (next * rowHeight < element.scrollTop) element.scrollTop = next * rowHeight;
    else if ((next + 1) * rowHeight > element.scrollTop + element.clientHeight)
      element.scrollTop = (next + 1) * rowHeight - element.clientHeight;
  };
  const keys = (event: KeyboardEvent) => {
    const row = rows[chosen];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(seen.height / rowHeight) - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length };
    const by = step[event.key as keyof typeof step];
    if (by) go(nearest(rows, chosen + by, Math.sign(by)));
    else if (event.key === "ArrowRight" && row.size && !row.open) fold(row, true);
    else if (event.key === "ArrowLeft" && row.open) fold(row, false);
    else if (event.key === "ArrowLeft") go(parentOf(rows, chosen));
    else if ((event.key === "Enter" || event.key === " ") && row.size) fold(row, !row.open);
    else return;
    event.preventDefault();
  };
  const row = at === undefined ? undefined : rows[chosen];
  const tree = (
    <div
      class={isWhole ? "json whole" : "json"}
      role="tree"
      aria-label={label}
      aria-activedescendant={chosen >= from && chosen < to ? `${id}-${chosen}` : undefined}
      tabIndex={0}
      ref={box}
      style={height ? { maxHeight: `${height}px` } : undefined}
      onKeyDown={keys}
    >
      <div class="json-all" role="presentation" style={isWhole ? undefined : { height: `${rows.length * rowHeight}px` }}>
        <div role="presentation" style={isWhole ? undefined : { transform: `translateY(${from * rowHeight}px)` }}>
          {rows.slice(from, to).map((row, index) => (
            <RowView
              key={row.path}
              id={`${id}-${from + index}`}
              row={row}
              chosen={from + index === chosen}
              onChoose={() => setAt(from + index)}
              onFold={() => fold(row, !row.open)}
              beside={row.end ? undefined : beside?.(row.value, pathOf(row))}
              mark={isPlace(row) ? markOf?.(pathOf(row)) : undefined}
              bar={barInRow && bar && from + index === chosen && isPlace(row) ? bar(row.value, pathOf(row)) : undefined}
              link={row.size === undefined && !row.end ? leadsTo?.(row.value, pathOf(row)) : undefined}
            />
          ))}
        </div>
      </div>
    </div>
  );
  if (!bar || barInRow) return tree;
  return (
    <>
      {tree}
      {row && isPlace(row) && (
        <div class="json-bar row" role="group" aria-label="The chosen value">
          {bar(row.value, pathOf(row))}
        </div>
      )}
    </>
  );
}

/** The keys and indexes that lead to a row. */
function stepsTo(value: Json, path: string): (string | number)[] {
  let at: Json | undefined = value;
  return path.split("/").slice(1).map((part) => {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    const step = Array.isArray(at) ? Number(name) : name;
    at = (at as Record<string | number, Json>)[step];
    return step;
  });
}

/** The row at a place, or where an end is there the next one in a direction, else in the other one. */
function nearest(rows: Row[], place: number, direction: number): number {
  const from = Math.max(0, Math.min(rows.length - 1, place));
  let at = from;
  while (rows[at]?.end) at += direction;
  if (rows[at]) return at;
  at = from;
  while (rows[at]?.end) at -= direction;
  return at;
}

function parentOf(rows: Row[], at: number): number {
  const depth = rows[at]?.depth ?? 0;
  for (let index = at - 1; index >= 0; index--) if ((rows[index]?.depth ?? 0) < depth) return index;
  return at;
}

interface RowProps {
  id: string;
  row: Row;
  chosen: boolean;
  onChoose: () => void;
  onFold: () => void;
  link: { label: string; go: () => void } | undefined;
  mark: string | undefined;
  bar: ComponentChildren;
  beside: ComponentChildren;
}

function RowView({ id, row, chosen, onChoose, onFold, link, mark, bar, beside }: RowProps) {
  const { name, isIndex, value, size, open, depth, isFollowed, end } = row;
  const hasComma = isFollowed && !open;
  if (end)
    return (
      <div class="json-row" aria-hidden="true" style={{ "--depth": depth }}>
        <span class="json-fold" />
        <span class="json-mark">{end}</span>
        {hasComma && <span class="json-comma" />}
      </div>
    );
  return (
    <div
      class={classes("json-row", chosen && "chosen")}
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={size ? open : undefined}
      aria-selected={chosen}
      style={{ "--depth": depth }}
      onClick={onChoose}
      onDblClick={() => void copyText(typeof value === "string" ? value : stringify(value)).then((done) => done && notify("Value copied."))}
    >
      <span class="json-fold" onClick={size ? onFold : undefined}>
        {size ? <Icon name={open ? "down" : "right"} /> : null}
      </span>
      {depth > 0 && <span class={isIndex ? "json-index" : "json-name"}><bdi>{name}</bdi>:</span>}
      <span class="json-value">
        <Value value={value} open={open} size={size} />
        {hasComma && <span class="json-comma" />}
      </span>
      {beside}
      {link && (
        <span class="json-link" aria-hidden="true" title={link.label} onClick={link.go}>
          <Icon name="link" />
        </span>
      )}
      {(mark || bar) && (
        <span class="json-end">
          {mark && <span class="json-at">{mark}</span>}
          {bar && (
            <span class="json-row-bar" role="group" aria-label="The chosen value" onKeyDown={keep} onDblClick={keep}>
              {bar}
            </span>
          )}
        </span>
      )}
    </div>
  );
}

/** The buttons in a row have the keys for themselves. */
function keep(event: Event): void {
  event.stopPropagation();
}

function Value({ value, open, size }: { value: Json; open: boolean; size: number | undefined }) {
  if (size === undefined) return <Scalar value={value} />;
  const [start, end] = Array.isArray(value) ? "[]" : "{}";
  if (size === 0) return <span class="json-mark">{`${start}${end}`}</span>;
  const counted = open ? Array.isArray(value) && itemsText(size) : summary(value);
  return (
    <span class="json-mark">
      {start}
      {counted && <span class="json-summary"> {counted}</span>}
      {!open && ` ${end}`}
    </span>
  );
}

/** A JSON text in which characters that turn the direction of others are escapes: they would turn what stands behind. */
function visible(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text, number or word in its colour. */
export function Scalar({ value }: { value: Json }) {
  if (typeof value === "string") {
    const shown = value.length > LONG_TEXT ? `${value.slice(0, LONG_TEXT)}…` : value;
    return <span class="json-text">{visible(JSON.stringify(shown))}</span>;
  }
  return <span class={value === null || typeof value === "boolean" ? "json-word" : "json-number"}>{String(value)}</span>;
}

/** The relations as a graph; moved by dragging, buttons and keys. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Catalog } from "../catalog";
import { Button, classes, IconButton } from "../ui";
import { HEAD, ROW } from "./box";
import { fittedRow } from "./fitting";
import { WIDTH, layoutOf, type Edge, type Layout, type Node } from "./layout";

export interface GraphProps {
  catalog: Catalog;
  selected: string;
  onSelect: (model: string) => void;
}

/** The middle of what is seen, and pixels per unit. */
interface Camera {
  x: number;
  y: number;
  scale: number;
}

const LEAST_SCALE = 0.2;
const MOST_SCALE = 2.5;
/** The graph opens with at least this; below it the rows are too small to read, and there are names only. */
const READABLE = 0.9;
/** Of the name of a model, in units; zoomed out it stays as large on the screen as its box allows. */
const NAME_SIZE = 13;
const MOST_NAME_SIZE = 28;
/** What fits easily is drawn larger, up to this. */
const LARGEST = 1.25;
const MARGIN = 24;

export function Graph({ catalog, selected, onSelect }: GraphProps) {
  const layout = useMemo(() => layoutOf(catalog), [catalog]);
  const box = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 800, height: 400 });
  const [camera, setCamera] = useState<Camera | null>(null);
  const [isHelped, setHelped] = useState(false);
  const seen = camera ?? opening(layout, size, selected);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const chosen = layout.nodes.find(({ name }) => name === selected);
  /** Zoom about a point, which stays where it is: the chosen model, where it is in sight, else the middle. */
  const zoom = (factor: number, point = chosen && isSeen(chosen, seen, size) ? middleOf(chosen) : seen) => {
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, seen.scale * factor));
    const kept = seen.scale / scale;
    setCamera({ x: point.x + (seen.x - point.x) * kept, y: point.y + (seen.y - point.y) * kept, scale });
  };
  const pan = (dx: number, dy: number) =>
    setCamera({ ...seen, x: seen.x + dx / seen.scale, y: seen.y + dy / seen.scale });
  const show = (node: Node) => {
    if (!isSeen(node, seen, size)) setCamera({ ...seen, ...middleOf(node) });
  };
  useEffect(() => {
    if (chosen) show(chosen);
  }, [selected, layout]);
  const wheel = useRef((_event: WheelEvent): void => undefined);
  wheel.current = (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // The page scrolls; a pinch comes with Ctrl.
    event.preventDefault();
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const x = seen.x + (event.clientX - left - size.width / 2) / seen.scale;
    const y = seen.y + (event.clientY - top - size.height / 2) / seen.scale;
    zoom(Math.exp(-event.deltaY / 300), { x, y });
  };
  useEffect(() => {
    const told = (event: WheelEvent) => wheel.current?.(event);
    box.current?.addEventListener("wheel", told, { passive: false });
    return () => box.current?.removeEventListener("wheel", told);
  }, []);
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowLeft: [-80, 0], ArrowRight: [80, 0], ArrowUp: [0, -80], ArrowDown: [0, 80] }[event.key];
    if (step && event.shiftKey) pan(step[0] as number, step[1] as number);
    else if (step) focusNext(box.current, layout, event.key, show);
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") setCamera(fitting(layout, size));
    else return;
    event.preventDefault();
  };
  return (
    <div class="explorer-graph">
      <div class="explorer-graph-tools" role="toolbar" aria-label="Move the graph">
        <IconButton small icon="less" label="Zoom out" onClick={() => zoom(0.8)} />
        <IconButton small icon="add" label="Zoom in" onClick={() => zoom(1.25)} />
        <IconButton small icon="fit" label="Fit" onClick={() => setCamera(fitting(layout, size))} />
        <Button small look="quiet" aria-label="Help" title="Help" aria-expanded={isHelped} onClick={() => setHelped(!isHelped)}>
          ?
        </Button>
      </div>
      <div class="explorer-graph-box" ref={box} onKeyDown={keys} {...useDragging(pan)}>
        <svg viewBox={viewBox(seen, size)} role="group" aria-label="Models and their relations">
          <Arrows />
          <Lines layout={layout} selected={selected} />
          {layout.nodes.map((node) => (
            <ModelBox key={node.name} {...{ node, catalog, layout, selected, onSelect, scale: seen.scale }} />
          ))}
        </svg>
      </div>
      {isHelped && (
        <p class="explorer-graph-hint">
          An arrow leads from a model with a relation to the model it names; a double head stands for many. Drag to move
          the graph, or <kbd>Shift</kbd> and an arrow key; arrow keys go to the next model; <kbd>+</kbd> <kbd>-</kbd>{" "}
          <kbd>0</kbd> zoom.
        </p>
      )}
    </div>
  );
}

function viewBox({ x, y, scale }: Camera, { width, height }: { width: number; height: number }): string {
  const [w, h] = [width / scale, height / scale];
  return [x - w / 2, y - h / 2, w, h].map((part) => part.toFixed(1)).join(" ");
}

function fitting(layout: Layout, size: { width: number; height: number }): Camera {
  const scale = Math.min(size.width / (layout.width + 2 * MARGIN), size.height / (layout.height + 2 * MARGIN), LARGEST);
  return { x: layout.width / 2, y: layout.height / 2, scale: Math.max(scale, LEAST_SCALE) };
}

function middleOf({ x, y, height }: Node): { x: number; y: number } {
  return { x: x + WIDTH / 2, y: y + height / 2 };
}

/** Whether a model is in sight, with a little room around it. */
function isSeen(node: Node, { x, y, scale }: Camera, { width, height }: { width: number; height: number }): boolean {
  const middle = middleOf(node);
  const isNear = (from: number, to: number, room: number) => Math.abs(from - to) <= room;
  return isNear(middle.x, x, width / 2 / scale - WIDTH / 2) && isNear(middle.y, y, height / 2 / scale - node.height / 2);
}

function opening(layout: Layout, size: { width: number; height: number }, selected: string): Camera {
  const whole = fitting(layout, size);
  if (whole.scale >= READABLE) return whole;
  const node = layout.nodes.find(({ name }) => name === selected);
  const half = { x: size.width / READABLE / 2 - MARGIN, y: size.height / READABLE / 2 - MARGIN };
  const within = (at: number, side: number, room: number) =>
    side <= 2 * room ? side / 2 : Math.min(Math.max(at, room), side - room);
  return {
    x: within(node ? node.x + WIDTH / 2 : 0, layout.width, half.x),
    y: within(node ? node.y + node.height / 2 : 0, layout.height, half.y),
    scale: READABLE,
  };
}

const HEADS = { one: "M6 0L14 4L6 8z", many: "M0 0L8 4L0 8zM6 0L14 4L6 8z" };

function Arrows() {
  return (
    <defs>
      {["plain", "chosen"].flatMap((look) =>
        Object.entries(HEADS).map(([count, head]) => (
          <marker
            id={`explorer-${look}-${count}`}
            key={look + count}
            viewBox="0 0 14 8"
            refX="13"
            refY="4"
            markerWidth="14"
            markerHeight="8"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path class={`explorer-arrow ${look}`} d={head} />
          </marker>
        )),
      )}
    </defs>
  );
}

function Lines({ layout: { edges }, selected }: { layout: Layout; selected: string }) {
  const touches = ({ from, to }: Edge) => from === selected || to === selected;
  // The lines of the chosen model last: they lie above the others.
  const sorted = [...edges].sort((one, other) => Number(touches(one)) - Number(touches(other)));
  return (
    <g aria-hidden="true">
      {sorted.map((edge) => {
        const look = touches(edge) ? "chosen" : "plain";
        const head = `url(#explorer-${look}-${edge.isMany ? "many" : "one"})`;
        return (
          <path class={`explorer-line ${look}`} key={`${edge.from} ${edge.name}`} d={edge.line} marker-end={head} />
        );
      })}
    </g>
  );
}

interface BoxProps extends GraphProps {
  node: Node;
  layout: Layout;
  scale: number;
}

function ModelBox({ node, catalog, layout, selected, onSelect, scale }: BoxProps) {
  const model = catalog.models[node.name];
  const isSelected = node.name === selected;
  const isNear = layout.edges.some(
    ({ from, to }) => (from === selected && to === node.name) || (to === selected && from === node.name),
  );
  const select = (event: Event) => {
    event.preventDefault();
    onSelect(node.name);
  };
  const counts = `${counted(model?.fields, "field")}, ${counted(model?.links, "link")}`;
  const look = isSelected ? "chosen" : isNear ? "near" : "far";
  const isSmall = scale < READABLE - 0.01;
  const size = isSmall ? Math.min(MOST_NAME_SIZE, NAME_SIZE / scale) : NAME_SIZE;
  const transform = `translate(${node.x} ${node.y})`;
  return (
    <>
      <g
        class={classes("explorer-node", look)}
        transform={transform}
        role="button"
        tabindex={isSelected ? 0 : -1}
        aria-pressed={isSelected}
        aria-label={`${node.name} ${counts}`}
        data-model={node.name}
        onClick={select}
        onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && select(event)}
      >
        <title>{node.name}</title>
        <rect width={WIDTH} height={node.height} rx="8" />
        <text class="explorer-node-name" font-size={size} x="12" y={isSmall ? (node.height + size * 0.7) / 2 : 22}>
          {short(node.name, Math.floor((WIDTH - 24) / size / 0.58))}
        </text>
      </g>
      {/* No part of the button's name: the tables of the chosen model say the same. */}
      <g class={classes("explorer-rows", look, isSmall && "small")} transform={transform} aria-hidden="true">
        {node.rows.length > 0 && <path class="explorer-rule" d={`M0 ${HEAD - 1}H${WIDTH}`} />}
        {node.rows.map(({ name, what, isLink }, at) => {
          const [said, kind] = fittedRow(name, what, WIDTH - 24);
          return (
            <text key={name} class={classes("explorer-row", isLink && "link")} y={HEAD + at * ROW + 15}>
              <tspan x="12">{said}</tspan>
              <tspan class="explorer-row-kind" x={WIDTH - 12} text-anchor="end">
                {kind}
              </tspan>
            </text>
          );
        })}
      </g>
    </>
  );
}

function counted(all: object | undefined, what: string): string {
  const { length } = Object.keys(all ?? {});
  return `${length} ${what}${length === 1 ? "" : "s"}`;
}

function short(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

/** Move the focus to the nearest model in the direction of an arrow key. */
function focusNext(box: HTMLElement | null, layout: Layout, key: string, show: (node: Node) => void): void {
  const name = (document.activeElement as SVGElement | null)?.dataset?.model;
  const from = layout.nodes.find((node) => node.name === name) ?? layout.nodes[0];
  if (!from) return;
  const isAcross = key === "ArrowLeft" || key === "ArrowRight";
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const ways = layout.nodes.map((node) => {
    const [dx, dy] = [node.x - from.x, node.y - from.y];
    const [ahead, aside] = isAcross ? [dx * sign, dy] : [dy * sign, dx];
    return { node, ahead, length: ahead + 2 * Math.abs(aside) };
  });
  const next = ways.filter(({ ahead }) => ahead > 0).sort((one, other) => one.length - other.length)[0]?.node;
  if (!next) return;
  box?.querySelector<SVGElement>(`[data-model="${CSS.escape(next.name)}"]`)?.focus({ preventScroll: true });
  show(next);
}

/** Handlers that pan while the pointer is down; a click is no move. */
function useDragging(pan: (dx: number, dy: number) => void) {
  const last = useRef<{ x: number; y: number; isMoving: boolean } | null>(null);
  return {
    onPointerDown: (event: PointerEvent) => {
      last.current = { x: event.clientX, y: event.clientY, isMoving: false };
    },
    onPointerMove: (event: PointerEvent) => {
      const at = last.current;
      if (!at || event.buttons === 0) return;
      const [dx, dy] = [event.clientX - at.x, event.clientY - at.y];
      if (!at.isMoving && Math.hypot(dx, dy) < 5) return;
      if (!at.isMoving) (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      last.current = { x: event.clientX, y: event.clientY, isMoving: true };
      pan(-dx, -dy);
    },
    onPointerUp: () => {
      last.current = null;
    },
  };
}

/** Where the models stand in the graph: in columns, so that relations mostly lead to the right. */

import type { Catalog } from "../catalog";
import { HEAD, heightOf, ROW, type Row, rowsOf } from "./box";

export const WIDTH = 204;
const GAP_X = 36;
const GAP_Y = 24;
/** How far a line goes out that comes back to the same side. */
const MOST_REACH = 40;

export interface Node {
  name: string;
  column: number;
  x: number;
  y: number;
  height: number;
  rows: Row[];
}

/** A relation, from the model that has it to the one it names. */
export interface Edge {
  from: string;
  to: string;
  name: string;
  isMany: boolean;
  /** The `d` of its line. */
  line: string;
  /** Whether it comes back to the side where it left. */
  isRound: boolean;
}

export interface Layout {
  nodes: Node[];
  edges: Edge[];
  width: number;
  height: number;
}

type Pair = Pick<Edge, "from" | "to" | "name" | "isMany">;

/** `most` is how many fields of a model are shown; the graph decides where it is not given. */
export function layoutOf(catalog: Catalog, most?: number): Layout {
  const names = Object.keys(catalog.models);
  const pairs = pairsOf(catalog);
  const linked = new Set(pairs.filter(({ from, to }) => from !== to).flatMap(({ from, to }) => [from, to]));
  const columns = ordered(
    columnsOf(
      names.filter((name) => linked.has(name)),
      pairs,
    ),
    pairs,
  );
  const box = (name: string) => {
    const rows = rowsOf(catalog, name, most);
    return { rows, height: heightOf(rows) };
  };
  const nodes = [
    ...placed(columns, box),
    ...below(
      names.filter((name) => !linked.has(name)),
      columns,
      box,
    ),
  ];
  const edges = edgesOf(pairs, nodes);
  return {
    nodes,
    edges,
    width:
      Math.max(WIDTH, ...nodes.map(({ x }) => x + WIDTH)) + (edges.some(({ isRound }) => isRound) ? MOST_REACH : 0),
    height: Math.max(HEAD, ...nodes.map(({ y, height }) => y + height)),
  };
}

function pairsOf(catalog: Catalog): Pair[] {
  return Object.entries(catalog.models).flatMap(([from, { links }]) =>
    Object.entries(links)
      .filter(([, link]) => link.of === undefined && Object.hasOwn(catalog.models, link.model))
      .map(([name, link]) => ({ from, to: link.model, name, isMany: link.type === "multiple" })),
  );
}

/** Each name's column is behind those of the models that have a relation to it, cycles left aside; not too many. */
function columnsOf(names: string[], pairs: Pair[]): string[][] {
  const depths = depthsOf(names, pairs);
  const layers = Math.max(-1, ...depths.values()) + 1;
  const count = Math.min(layers, Math.max(3, Math.ceil(Math.sqrt(names.length * 0.8))));
  const columns: string[][] = Array.from({ length: count }, () => []);
  for (const name of names) columns[Math.floor(((depths.get(name) ?? 0) * count) / layers)]?.push(name);
  const tallest = Math.max(4, Math.ceil(Math.sqrt(names.length * 1.6)));
  return columns.filter(({ length }) => length > 0).flatMap((column) => split(column, tallest));
}

/** Several columns of about equal height instead of one that is too tall. */
function split(names: string[], tallest: number): string[][] {
  const count = Math.ceil(names.length / tallest);
  const size = Math.ceil(names.length / Math.max(1, count));
  return Array.from({ length: count }, (_, at) => names.slice(at * size, (at + 1) * size));
}

/** The longest way to each name; a relation back to a model on the way does not count. */
function depthsOf(names: string[], pairs: Pair[]): Map<string, number> {
  const sources = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const { from, to } of pairs) if (from !== to) sources.get(to)?.push(from);
  const depths = new Map<string, number>();
  const onTheWay = new Set<string>();
  const depthOf = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    onTheWay.add(name);
    const before = (sources.get(name) ?? []).filter((source) => !onTheWay.has(source));
    const depth = Math.max(-1, ...before.map(depthOf)) + 1;
    onTheWay.delete(name);
    depths.set(name, depth);
    return depth;
  };
  names.forEach(depthOf);
  return depths;
}

/** Each column in the order of the mean place of the neighbours, so that fewer lines cross. */
function ordered(columns: string[][], pairs: Pair[]): string[][] {
  const neighbours = new Map<string, string[]>();
  const add = (name: string, other: string) => neighbours.set(name, [...(neighbours.get(name) ?? []), other]);
  for (const { from, to } of pairs) {
    add(from, to);
    add(to, from);
  }
  let current = columns;
  for (let round = 0; round < 8; round++) {
    const places = new Map(current.flatMap((column) => column.map((name, at) => [name, (at + 0.5) / column.length])));
    const wanted = (name: string) => {
      const all = (neighbours.get(name) ?? []).map((other) => places.get(other) ?? 0.5);
      return all.reduce((sum, place) => sum + place, 0) / Math.max(1, all.length);
    };
    current = current.map((column) => [...column].sort((one, other) => wanted(one) - wanted(other)));
  }
  return current;
}

type Box = (name: string) => Pick<Node, "rows" | "height">;

function placed(columns: string[][], box: Box): Node[] {
  const boxes = columns.map((column) => column.map((name) => ({ name, ...box(name) })));
  const heights = boxes.map((column) => column.reduce((sum, { height }) => sum + height + GAP_Y, -GAP_Y));
  const tallest = Math.max(0, ...heights);
  return boxes.flatMap((column, at) => {
    let y = (tallest - (heights[at] ?? 0)) / 2;
    return column.map((one) => {
      const node = { ...one, column: at, x: at * (WIDTH + GAP_X), y };
      y += one.height + GAP_Y;
      return node;
    });
  });
}

/** Models without relations stand in rows below the others. */
function below(names: string[], columns: string[][], box: Box): Node[] {
  const perRow = Math.max(columns.length, Math.min(4, names.length), 1);
  const nodes: Node[] = [];
  let y = Math.max(0, ...placed(columns, box).map((node) => node.y + node.height + 2 * GAP_Y));
  for (let at = 0; at < names.length; at += perRow) {
    const row = names.slice(at, at + perRow).map((name, column) => ({ name, ...box(name), column, x: column * (WIDTH + GAP_X), y }));
    nodes.push(...row);
    y += Math.max(...row.map(({ height }) => height)) + GAP_Y;
  }
  return nodes;
}

function edgesOf(pairs: Pair[], nodes: Node[]): Edge[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const ends: Ends[] = pairs.map((pair) => {
    const from = byName.get(pair.from) as Node;
    const to = byName.get(pair.to) as Node;
    return { pair, from, to, leaves: from.column > to.column ? -1 : 1, arrives: from.column < to.column ? -1 : 1 };
  });
  return ends.map((end, at) => {
    const arriving = ends.filter(({ to, arrives }) => to === end.to && arrives === end.arrives);
    const start: Point = [sideOf(end.from, end.leaves), end.from.y + portOf(end.from, end.pair.name)];
    const stop: Point = [sideOf(end.to, end.arrives), end.to.y + headPort(end, arriving)];
    return { ...end.pair, line: lineOf(end, start, stop, nodes, at), isRound: end.leaves === end.arrives };
  });
}

/** -1 is the left side of a box, 1 the right one. */
type Side = -1 | 1;
type Point = [x: number, y: number];

interface Ends {
  pair: Pair;
  from: Node;
  to: Node;
  leaves: Side;
  arrives: Side;
}

function sideOf(node: Node, side: Side): number {
  return side > 0 ? node.x + WIDTH : node.x;
}

/** How far below a box's top the line of a relation begins: at its row, else at the bottom. */
function portOf({ rows, height }: Node, name: string): number {
  const at = rows.findIndex((row) => row.isLink && row.name === name);
  return at < 0 ? height - ROW / 2 : HEAD + (at + 0.5) * ROW;
}

/** How far below a box's top a line ends: at its name; several in the order of where they come from. */
function headPort(end: Ends, siblings: Ends[]): number {
  const sorted = [...siblings].sort((one, two) => one.from.y - two.from.y);
  return (HEAD * (sorted.indexOf(end) + 1)) / (sorted.length + 1);
}

/** From one box to another; through the gaps of the columns that lie between. */
function lineOf({ from, to, leaves, arrives }: Ends, start: Point, end: Point, nodes: Node[], at: number): string {
  const reach = MOST_REACH - (at % 4) * 6;
  if (leaves === arrives) return roundabout(start, end, reach);
  const path = [`M${point(start)}`];
  let last = start;
  for (let column = from.column + leaves; column !== to.column; column += leaves) {
    const share = (column - from.column) / (to.column - from.column);
    const y = gapIn(column, start[1] + (end[1] - start[1]) * share, nodes) + ((at % 5) - 2) * 3;
    const near = column * (WIDTH + GAP_X) + (leaves > 0 ? 0 : WIDTH);
    path.push(curveTo(last, [near, y]));
    last = [near + leaves * WIDTH, y];
    path.push(`L${point(last)}`);
  }
  return [...path, curveTo(last, end)].join("");
}

/** The middle of the gap of a column that is nearest to a height. */
function gapIn(column: number, y: number, nodes: Node[]): number {
  const boxes = nodes.filter((node) => node.column === column);
  const gaps = [...boxes.map((box) => box.y - GAP_Y / 2), Math.max(...boxes.map((box) => box.y + box.height)) + GAP_Y / 2];
  return gaps.reduce((best, gap) => (Math.abs(gap - y) < Math.abs(best - y) ? gap : best));
}

function curveTo([x1, y1]: Point, [x2, y2]: Point): string {
  const middle = (x1 + x2) / 2;
  return `C${point([middle, y1])} ${point([middle, y2])} ${point([x2, y2])}`;
}

/** Back to the same side, that far out. */
function roundabout(start: Point, end: Point, reach: number): string {
  return `M${point(start)}C${point([start[0] + reach, start[1]])} ${point([end[0] + reach, end[1]])} ${point(end)}`;
}

function point([x, y]: Point): string {
  return `${Math.round(x)} ${Math.round(y)}`;
}

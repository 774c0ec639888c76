/** Where the models stand in the graph: in columns, so that relations mostly lead to the right. */

import type { Catalog } from "../catalog";

export const WIDTH = 168;
export const HEIGHT = 46;
const GAP_X = 132;
const GAP_Y = 26;
/** How far a line goes out that comes back to the same side. */
const MOST_REACH = 70;

export interface Node {
  name: string;
  column: number;
  x: number;
  y: number;
}

/** A relation, from the model that has it to the one it names. */
export interface Edge {
  from: string;
  to: string;
  name: string;
  isMany: boolean;
  /** The `d` of its line. */
  line: string;
  /** Where its name stands: beside the model that has it, at the side where the line leaves. */
  x: number;
  y: number;
  anchor: "start" | "end";
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

export function layoutOf(catalog: Catalog): Layout {
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
  const nodes = [
    ...placed(columns),
    ...below(
      names.filter((name) => !linked.has(name)),
      columns,
    ),
  ];
  const edges = edgesOf(pairs, nodes);
  return {
    nodes,
    edges,
    width:
      Math.max(WIDTH, ...nodes.map(({ x }) => x + WIDTH)) + (edges.some(({ isRound }) => isRound) ? MOST_REACH : 0),
    height: Math.max(HEIGHT, ...nodes.map(({ y }) => y + HEIGHT)),
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

function placed(columns: string[][]): Node[] {
  const tallest = Math.max(0, ...columns.map(({ length }) => length));
  return columns.flatMap((column, at) =>
    column.map((name, row) => ({
      name,
      column: at,
      x: at * (WIDTH + GAP_X),
      y: (row + (tallest - column.length) / 2) * (HEIGHT + GAP_Y),
    })),
  );
}

/** Models without relations stand in rows below the others. */
function below(names: string[], columns: string[][]): Node[] {
  const perRow = Math.max(columns.length, Math.min(4, names.length), 1);
  const tallest = Math.max(0, ...columns.map(({ length }) => length));
  const top = columns.length > 0 ? tallest * (HEIGHT + GAP_Y) + GAP_Y : 0;
  return names.map((name, at) => ({
    name,
    column: at % perRow,
    x: (at % perRow) * (WIDTH + GAP_X),
    y: top + Math.floor(at / perRow) * (HEIGHT + GAP_Y),
  }));
}

function edgesOf(pairs: Pair[], nodes: Node[]): Edge[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const ends: Ends[] = pairs.map((pair) => {
    const from = byName.get(pair.from) as Node;
    const to = byName.get(pair.to) as Node;
    return { pair, from, to, leaves: from.column > to.column ? -1 : 1, arrives: from.column < to.column ? -1 : 1 };
  });
  return ends.map((end, at) => {
    const [y1, label] = portOf(end, leaving(end, ends), ({ to }) => to);
    const [y2] = portOf(
      end,
      ends.filter(({ to, arrives }) => to === end.to && arrives === end.arrives),
      ({ from }) => from,
    );
    const x1 = sideOf(end.from, end.leaves);
    return {
      ...end.pair,
      line: lineOf(end, [x1, end.from.y + y1], [sideOf(end.to, end.arrives), end.to.y + y2], nodes, at),
      x: x1 + 10 * end.leaves,
      y: end.from.y + label,
      anchor: end.leaves > 0 ? "start" : "end",
      isRound: end.leaves === end.arrives,
    };
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

function leaving({ from, leaves }: Ends, ends: Ends[]): Ends[] {
  return ends.filter((other) => other.from === from && other.leaves === leaves);
}

function sideOf(node: Node, side: Side): number {
  return side > 0 ? node.x + WIDTH : node.x;
}

/** How far below a box's top a line begins or ends, and its name stands; in the order of the other ends. */
function portOf(end: Ends, siblings: Ends[], other: (end: Ends) => Node): Point {
  const sorted = [...siblings].sort((one, two) => other(one).y - other(two).y);
  const at = sorted.indexOf(end);
  return [(HEIGHT * (at + 1)) / (sorted.length + 1), HEIGHT / 2 + (at - (sorted.length - 1) / 2) * 14 - 2];
}

/** From one box to another; through the gaps of the columns that lie between. */
function lineOf({ from, to, leaves, arrives }: Ends, start: Point, end: Point, nodes: Node[], at: number): string {
  const reach = MOST_REACH - (at % 4) * 10;
  if (leaves === arrives) return roundabout(start, from === to ? [end[0], start[1] + HEIGHT / 3] : end, reach);
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
  const tops = nodes.filter((node) => node.column === column).map((node) => node.y);
  const gaps = [...tops.map((top) => top - GAP_Y / 2), Math.max(...tops) + HEIGHT + GAP_Y / 2];
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

/** The models and their relations without other fields, small: it leads to the graph. */

import { useMemo } from "preact/hooks";
import type { Catalog } from "../catalog";
import { classes } from "../ui";
import { HEAD, ROW } from "./box";
import { WIDTH, layoutOf } from "./layout";
import "./preview.css";

const MARGIN = 16;
const LONGEST = 15;

export function Preview({ catalog }: { catalog: Catalog }) {
  const { nodes, edges, width, height } = useMemo(() => layoutOf(catalog, 0), [catalog]);
  const seen = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN].join(" ");
  return (
    <svg class="preview" viewBox={seen} aria-hidden="true">
      {edges.map(({ from, name, line }) => (
        <path class="preview-line" key={`${from} ${name}`} d={line} />
      ))}
      {nodes.map((node) => (
        <g key={node.name} transform={`translate(${node.x} ${node.y})`}>
          <rect class="preview-box" width={WIDTH} height={node.height} rx="10" />
          <text class="preview-name" x="14" y="26">
            {shortened(node.name)}
          </text>
          {node.rows.map(({ name, isLink }, at) => (
            <text class={classes("preview-row", isLink && "link")} key={name} x="14" y={HEAD + at * ROW + 16}>
              {shortened(name)}
            </text>
          ))}
        </g>
      ))}
    </svg>
  );
}

function shortened(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name;
}

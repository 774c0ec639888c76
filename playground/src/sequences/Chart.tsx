/** Durations of each step as a line from the best to the worst with a dot at the mean. */

import { duration } from "../library/format";
import { durationsOf, type StepReport } from "./run";

const ROW = 22;
/** Where the lines begin and end, in hundredths of the width. */
const LEFT = 7;
const RIGHT = 80;

export function Chart({ steps }: { steps: StepReport[] }) {
  const rows = steps.map((step, at) => ({ number: at + 1, found: durationsOf(step) }));
  const most = Math.max(...rows.map(({ found }) => found?.worst ?? 0));
  if (!(most > 0)) return null;
  const x = (ms: number) => `${(LEFT + (ms / most) * (RIGHT - LEFT)).toFixed(2)}%`;
  return (
    <figure class="sequences-chart">
      <svg
        height={rows.length * ROW + 8}
        role="img"
        aria-label="Durations of the steps: a line from the best to the worst, a dot at the mean. The table has the numbers."
      >
        {rows.map(({ number, found }, at) => {
          const y = at * ROW + ROW / 2 + 4;
          return (
            <g key={number}>
              <text class="sequences-chart-number" x={`${LEFT - 2.5}%`} y={y + 4}>
                {number}
              </text>
              <line class="sequences-chart-ground" x1={`${LEFT}%`} x2={`${RIGHT}%`} y1={y} y2={y} />
              {found && (
                <>
                  <line class="sequences-chart-range" x1={x(found.best)} x2={x(found.worst)} y1={y} y2={y} />
                  <circle class="sequences-chart-mean" cx={x(found.mean)} cy={y} r="5" />
                  <text class="sequences-chart-value" x={`${RIGHT + 2}%`} y={y + 4}>
                    {duration(found.mean)}
                  </text>
                </>
              )}
            </g>
          );
        })}
      </svg>
      <figcaption class="muted small">From the best to the worst; the dot and the number are the mean.</figcaption>
    </figure>
  );
}

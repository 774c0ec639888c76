/** Lines between panes: they move by pointer and keys, and the browser keeps where they are. */

import { Unreadable, readPlain } from "./library/reading";
import { stored } from "./state/storage";

const PANES = {
  side: { label: "Width of the list", least: 180, most: 480, usual: 240, unit: "px", step: 16 },
  request: { label: "Width of the request", least: 25, most: 75, usual: 53, unit: "%", step: 2 },
} as const;

type Pane = keyof typeof PANES;
type Sizes = Partial<Record<Pane, number>>;

const sizes = stored<Sizes>("panes", {}, readSizes);

function readSizes(value: unknown): Sizes {
  const found = readPlain(value, "panes");
  return Object.fromEntries(
    (Object.keys(PANES) as Pane[]).flatMap((pane) => {
      const size = found[pane];
      if (size === undefined) return [];
      if (typeof size !== "number" || !Number.isFinite(size)) throw new Unreadable("panes: expected numbers");
      return [[pane, within(pane, size)]];
    }),
  );
}

function within(pane: Pane, size: number): number {
  const { least, most } = PANES[pane];
  return Math.min(most, Math.max(least, Math.round(size * 10) / 10));
}

/** The style of the grid whose first column a line moves; nothing as long as nobody has moved it. */
export function paneStyle(pane: Pane): Record<string, string> | undefined {
  const size = sizes.value[pane];
  return size === undefined ? undefined : { [`--${pane}`]: `${size}${PANES[pane].unit}` };
}

/** Stands between the first and the second child of that grid. */
export function Divider({ pane }: { pane: Pane }) {
  const { label, least, most, usual, unit, step } = PANES[pane];
  const put = (size: number | undefined) => {
    const { [pane]: _old, ...rest } = sizes.value;
    sizes.value = size === undefined ? rest : { ...rest, [pane]: within(pane, size) };
  };
  /** The size with the line at that place of the screen. */
  const sizeAt = (line: HTMLElement, x: number) => {
    const { left, width } = (line.parentElement as HTMLElement).getBoundingClientRect();
    return unit === "%" ? (100 * (x - left)) / width : x - left;
  };
  const now = (line: HTMLElement) => {
    const before = line.previousElementSibling as HTMLElement;
    return sizeAt(line, before.getBoundingClientRect().right);
  };
  const keys = (event: KeyboardEvent) => {
    const line = event.currentTarget as HTMLElement;
    if (event.key === "ArrowLeft") put(now(line) - step);
    else if (event.key === "ArrowRight") put(now(line) + step);
    else if (event.key === "Home") put(least);
    else if (event.key === "End") put(most);
    else if (event.key === "Enter") put(undefined);
    else return;
    event.preventDefault();
  };
  return (
    <div
      class="divider"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuemin={least}
      aria-valuemax={most}
      aria-valuenow={Math.round(sizes.value[pane] ?? usual)}
      title="Drag, or arrow keys; Enter puts it back"
      onKeyDown={keys}
      onDblClick={() => put(undefined)}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.focus();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        const line = event.currentTarget;
        if (line.hasPointerCapture(event.pointerId)) put(sizeAt(line, event.clientX));
      }}
    />
  );
}

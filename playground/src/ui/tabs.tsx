import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { classes } from "./button";

export interface TabItem<T extends string> {
  key: T;
  label: ComponentChildren;
}

export interface TabsProps<T extends string> {
  /** What the tabs are of, for screen readers. */
  label: string;
  items: readonly TabItem<T>[];
  value: T;
  onChange: (key: T) => void;
  /** The panel of the chosen tab. */
  children: ComponentChildren;
  class?: string;
  /** Beside the tabs, at the end of their line. */
  aside?: ComponentChildren;
  /** Above the panel, whichever it is. */
  lead?: ComponentChildren;
}

/** Tabs with their panel; arrow keys, Home and End move between them. */
export function Tabs<T extends string>({ label, items, value, onChange, children, class: more, aside, lead }: TabsProps<T>) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  // Each part begins at its top, not where another one was left.
  useLayoutEffect(() => panel.current?.scrollTo(0, 0), [value]);
  const move = (event: KeyboardEvent) => {
    const at = items.findIndex(({ key }) => key === value);
    const next = nextIndex(event.key, at, items.length);
    const item = next === undefined ? undefined : items[next];
    if (!item) return;
    event.preventDefault();
    onChange(item.key);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[next as number]?.focus();
  };
  return (
    <div class={classes("tabs", more)}>
      <div class="tabs-line">
        <div class="tabs-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
          {items.map((item) => (
            <button
              type="button"
              role="tab"
              id={`${id}-${item.key}`}
              key={item.key}
              aria-selected={item.key === value}
              aria-controls={`${id}-panel`}
              tabIndex={item.key === value ? 0 : -1}
              onClick={() => onChange(item.key)}
            >
              {item.label}
            </button>
          ))}
        </div>
        {aside && <div class="tabs-aside">{aside}</div>}
      </div>
      {lead}
      <div class="tabs-panel" role="tabpanel" ref={panel} id={`${id}-panel`} aria-labelledby={`${id}-${value}`}>
        {children}
      </div>
    </div>
  );
}

/** Where an arrow key leads in a row of `count`; undefined for other keys. */
export function nextIndex(key: string, at: number, count: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowDown") return (at + 1) % count;
  if (key === "ArrowLeft" || key === "ArrowUp") return (at - 1 + count) % count;
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : undefined;
}

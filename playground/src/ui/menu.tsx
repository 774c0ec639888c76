import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button, classes, IconButton } from "./button";
import { Icon, type IconName } from "./icons";
import { nextIndex } from "./tabs";

export interface MenuItem {
  label: ComponentChildren;
  icon?: IconName;
  onSelect: () => void;
  disabled?: boolean;
  danger?: boolean;
  /** One of several choices; whether it is the chosen one. */
  checked?: boolean;
  /** Whether a line stands above it. */
  ruled?: boolean;
}

export interface MenuProps {
  /** What the button says, or is called when it shows an icon only. */
  label: string;
  icon?: IconName;
  iconOnly?: boolean;
  /** What the button shows instead of its name. */
  face?: ComponentChildren;
  /** The tooltip of the button. */
  title?: string;
  /** Above the items. */
  head?: ComponentChildren;
  items: readonly MenuItem[];
  small?: boolean;
  look?: "quiet";
}

/** A button with a menu; arrow keys, Home, End, Escape. */
export function Menu({ label, icon, iconOnly, face, title, head, items, small = false, look }: MenuProps) {
  const id = useId();
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const buttons = () => [...(root.current?.querySelectorAll<HTMLButtonElement>(".menu-list button:enabled") ?? [])];
  useLayoutEffect(() => {
    if (!open) return;
    buttons()[0]?.focus();
    const outside = (event: Event) => root.current?.contains(event.target as Node) || setOpen(false);
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLButtonElement>("button")?.focus();
  };
  const keys = (event: KeyboardEvent) => {
    const all = buttons();
    const next = nextIndex(event.key, all.indexOf(document.activeElement as HTMLButtonElement), all.length);
    if (event.key === "Escape") {
      event.stopPropagation();
      event.preventDefault();
      close();
    } else if (event.key === "Tab") setOpen(false);
    else if (next !== undefined) {
      event.preventDefault();
      all[next]?.focus();
    }
  };
  const trigger = {
    "aria-haspopup": "menu" as const,
    "aria-expanded": open,
    "aria-controls": open ? id : undefined,
    onClick: () => setOpen(!open),
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== "ArrowDown") return;
      event.preventDefault();
      setOpen(true);
    },
    small,
  };
  return (
    <div class="menu" ref={root}>
      {iconOnly ? (
        <IconButton icon={icon ?? "down"} label={label} {...trigger} />
      ) : (
        <Button {...(icon && { icon })} after="down" title={title} look={look} aria-label={face ? label : undefined} {...trigger}>
          {face ?? label}
        </Button>
      )}
      {open && (
        <div class="menu-list" role="menu" id={id} aria-label={label} onKeyDown={keys}>
          {head}
          {items.map((item, index) => (
            <button
              type="button"
              key={index}
              role={item.checked === undefined ? "menuitem" : "menuitemradio"}
              aria-checked={item.checked}
              class={classes(item.danger && "danger", item.ruled && "ruled") || undefined}
              disabled={item.disabled ?? false}
              tabIndex={-1}
              onClick={() => {
                close();
                item.onSelect();
              }}
            >
              {item.checked === undefined ? item.icon && <Icon name={item.icon} /> : <CheckMark on={item.checked} />}
              <span>{item.label}</span>
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

function CheckMark({ on }: { on: boolean }) {
  return <span class="menu-check">{on && <Icon name="check" />}</span>;
}

import type { ButtonHTMLAttributes, ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";

type Native = Omit<ButtonHTMLAttributes<HTMLButtonElement>, "icon" | "class" | "type"> & { class?: string | undefined };

export interface ButtonProps extends Native {
  children: ComponentChildren;
  icon?: IconName;
  /** Behind the words, such as the arrow of a menu. */
  after?: IconName;
  /** `primary` once a view; `danger` for what removes; `quiet` has no border. */
  look?: "primary" | "danger" | "quiet" | undefined;
  small?: boolean;
  type?: "button" | "submit";
}

export function Button({ children, icon, after, look, small, class: more, type = "button", ...rest }: ButtonProps) {
  return (
    <button {...rest} type={type} class={classes("button", look, small && "small", more)}>
      {icon && <Icon name={icon} />}
      <span>{children}</span>
      {after && <Icon name={after} />}
    </button>
  );
}

export interface IconButtonProps extends Native {
  icon: IconName;
  /** What it does: its name for screen readers and its tooltip. */
  label: string;
  small?: boolean;
}

export function IconButton({ icon, label, small, class: more, ...rest }: IconButtonProps) {
  return (
    <button
      {...rest}
      type="button"
      class={classes("icon-button", small && "small", more)}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}

/**
 * A handler of clicks that leaves out the second of a double click: by then the button, or what is below the
 * pointer, may be another one.
 */
export function once(handler: (event: MouseEvent) => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.detail < 2) handler(event);
  };
}

/** Class names that are set, joined. */
export function classes(...names: (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

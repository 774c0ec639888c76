/** The frame around the parts of a value: its name, what it is, what the server said of it. */

import type { ComponentChildren } from "preact";
import { WithCode } from "../library/words";
import { classes, Required } from "../ui";
import { useErrors } from "./errors";
import type { ValueProps } from "./value";

export interface GroupProps extends Pick<ValueProps, "kind" | "name" | "path"> {
  /** Beside the name, such as the name of the kind. */
  aside?: string;
  children: ComponentChildren;
}

export function Group({ kind, name, path, aside, children }: GroupProps) {
  const errors = useErrors(path);
  return (
    <fieldset class={classes("group", errors && "wrong")} data-path={path}>
      <legend>
        <span class="value-name">{name}</span>
        {aside !== undefined && kind.presence === "required" && <Required />}
        {aside !== undefined && <span class="muted small"> {aside}</span>}
      </legend>
      {kind.description && <p class="field-hint"><WithCode text={kind.description} /></p>}
      {errors && <p class="field-errors">{errors.join(" ")}</p>}
      <div class="group-body">{children}</div>
    </fieldset>
  );
}

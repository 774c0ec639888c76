import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { classes } from "./button";

export interface FieldIds {
  id: string;
  "aria-describedby": string | undefined;
  "aria-invalid": boolean | undefined;
  "aria-label"?: string;
}

export interface FieldProps {
  label: ComponentChildren;
  /** Below the label, in small. */
  hint?: ComponentChildren;
  errors?: readonly string[] | undefined;
  required?: boolean;
  /** Beside the label, such as the name of the kind. */
  aside?: ComponentChildren;
  /** Gets the attributes that tie the control to its label, hint and errors. */
  children: (ids: FieldIds) => ComponentChildren;
  class?: string;
}

/** A label, its control, a hint and errors, tied together for screen readers. */
export function Field({ label, hint, errors, required, aside, children, class: more }: FieldProps) {
  const id = useId();
  const wrong = errors !== undefined && errors.length > 0;
  const described = [wrong ? `${id}-errors` : "", hint ? `${id}-hint` : "", aside ? `${id}-aside` : ""].filter(Boolean).join(" ");
  return (
    <div class={classes("field", wrong && "wrong", more)}>
      <div class="field-label">
        <label for={id}>
          {label}
          {required && <Required />}
        </label>
        {aside && <span class="field-aside" id={`${id}-aside`}>{aside}</span>}
      </div>
      {children({ id, "aria-describedby": described || undefined, "aria-invalid": wrong || undefined })}
      {hint && (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {wrong && (
        <p class="field-errors" id={`${id}-errors`}>
          {errors.join(" ")}
        </p>
      )}
    </div>
  );
}

/** The mark of what must be given. */
export function Required() {
  return (
    <span class="required" title="required">
      {" *"}
      <span class="sr-only"> (required)</span>
    </span>
  );
}

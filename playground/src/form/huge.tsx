/** A text that is too long for a control, whose drawing would stop the page for seconds: its beginning. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button, type FieldIds } from "../ui";

/** Characters that a control begins with at most. */
const MOST = 50_000;
/** Of those that are more, what is shown. */
const SHOWN = 1_000;

interface Props {
  ids: FieldIds;
  path: string;
  text: string;
  /** The control with all of it, which is there when it is asked for. */
  children: ComponentChildren;
}

export function Huge({ ids, path, text, children }: Props) {
  const [isWhole, setWhole] = useState(text.length <= MOST);
  if (isWhole) return <>{children}</>;
  return (
    <>
      <textarea {...ids} class="mono" data-path={path} rows={4} readOnly value={`${text.slice(0, SHOWN)}…`} />
      <div class="row">
        <span class="muted small">
          The beginning of {text.length.toLocaleString("en")} characters. All of them are sent.
        </span>
        <Button small icon="edit" onClick={() => setWhole(true)}>
          Edit all
        </Button>
      </div>
    </>
  );
}

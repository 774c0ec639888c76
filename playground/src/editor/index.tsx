/** A JSON editor: a plain text area until CodeMirror is loaded, and where it cannot be. */

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Kind } from "../catalog";
import { catalog } from "../state";
import type { Handle, PathError } from "./codemirror";
import "./editor.css";

export interface JsonEditorProps {
  /** Its name for screen readers. */
  label: string;
  value: string;
  onChange?: (text: string) => void;
  /** What the JSON describes: for completion and marks. */
  kind?: Kind | undefined;
  readOnly?: boolean;
  /** Shown at the lines of their paths. */
  errors?: readonly PathError[];
}

export function JsonEditor(props: JsonEditorProps) {
  const { label, value, onChange, kind, readOnly = false, errors = NONE } = props;
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<Handle | null>(null);
  /** What was typed and has not come back as the value: it must not be put over what is typed meanwhile. */
  const typed = useRef<string[]>([]);
  const latest = useRef(props);
  latest.current = props;
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let gone = false;
    void import("./codemirror").then(
      ({ mount }) => {
        if (gone || !host.current) return;
        handle.current = mount(host.current, {
          label,
          text: latest.current.value,
          readOnly,
          catalog: catalog.value,
          kind: () => latest.current.kind,
          errors: () => latest.current.errors ?? NONE,
          onChange: (text) => {
            typed.current.push(text);
            latest.current.onChange?.(text);
          },
        });
        setReady(true);
      },
      () => undefined, // The text area stays.
    );
    return () => {
      gone = true;
      handle.current?.destroy();
      handle.current = null;
    };
  }, []);
  // Before anything can be typed over it.
  useLayoutEffect(() => {
    const at = typed.current.indexOf(value);
    if (at >= 0) typed.current.splice(0, at + 1);
    else {
      typed.current = [];
      handle.current?.setText(value);
    }
  }, [value, ready]);
  useEffect(() => handle.current?.relint(), [kind, errors, ready]);
  return (
    <div class="editor">
      <div class="editor-host" ref={host} hidden={!ready} />
      {!ready && (
        <textarea
          class="mono"
          aria-label={label}
          rows={Math.min(24, value.split("\n").length + 2)}
          spellcheck={false}
          readOnly={readOnly}
          value={value}
          onInput={(event) => onChange?.(event.currentTarget.value)}
        />
      )}
    </div>
  );
}

const NONE: readonly PathError[] = [];

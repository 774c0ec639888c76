/** What a step takes out of its reply for later steps. */

import { useTyped } from "../form/drafts";
import { leaveRow } from "../library/focus";
import { Unreadable } from "../library/reading";
import { Field, IconButton } from "../ui";
import { parsePath } from "./path";
import { likelyPath } from "./shapes";
import { addCapture, changeStep, current, removePart, rename } from "./store";
import type { Capture, SequenceStep } from "./types";
import { problemOfName } from "./variable-names";

export function beginCapture({ id, request }: SequenceStep): void {
  addCapture(id, likelyPath(request));
}

export function Captures({ step: { id, captures } }: { step: SequenceStep }) {
  const put = (changed: string, part: Partial<Capture>) =>
    changeStep(id, { captures: captures.map((one) => (one.id === changed ? { ...one, ...part } : one)) });
  return (
    <>
      {captures.map((capture) => (
        <Row
          key={capture.id}
          capture={capture}
          onRename={(name) => rename(capture.id, name)}
          onChange={(part) => put(capture.id, part)}
          onRemove={() => removePart(id, "captures", capture.id, `Capture ${capture.name}`)}
        />
      ))}
    </>
  );
}

interface RowProps {
  capture: Capture;
  onRename: (name: string) => void;
  onChange: (part: Partial<Capture>) => void;
  onRemove: () => void;
}

function Row({ capture, onRename, onChange, onRemove }: RowProps) {
  const [name, setName] = useTyped(capture.name);
  const [path, setPath] = useTyped(capture.path);
  const wrong = problemOf(path);
  const problemOfNow = (next: string) => problemOfName(next, capture.name, current.value);
  return (
    <div class="sequences-row" role="group" aria-label={`Capture ${capture.name}`}>
      <Field label="Capture as" errors={[problemOfNow(name)].filter(Boolean)}>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            value={name}
            onInput={(event) => {
              const next = event.currentTarget.value;
              const isName = problemOfNow(next) === "";
              setName(next, isName ? next : capture.name);
              if (isName) onRename(next);
            }}
          />
        )}
      </Field>
      <Field label="From" errors={wrong} class="grow">
        {(ids) => (
          <input
            {...ids}
            class="mono"
            value={path}
            placeholder="body.user._id"
            onInput={(event) => {
              const next = event.currentTarget.value;
              setPath(next, problemOf(next).length === 0 ? next : capture.path);
              if (problemOf(next).length === 0) onChange({ path: next });
            }}
          />
        )}
      </Field>
      <IconButton
        icon="remove"
        label={`Remove the capture ${capture.name}`}
        onClick={(event) => {
          leaveRow(event);
          onRemove();
        }}
      />
    </div>
  );
}

export function problemOf(path: string): string[] {
  try {
    parsePath(path);
    return [];
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [`${error.message}.`];
  }
}

/** What a step takes out of its reply for later steps. */

import { useTyped } from "../form/drafts";
import { leaveRow } from "../library/focus";
import { freeName } from "../library/names";
import { Unreadable } from "../library/reading";
import { Field, IconButton } from "../ui";
import { parsePath } from "./path";
import { changeStep, removePart } from "./store";
import { VARIABLE_NAME, newId, type Capture, type SequenceStep } from "./types";

export function beginCapture({ id, captures }: SequenceStep): void {
  const name = freeName(
    "id",
    captures.map((one) => one.name),
    "_",
  );
  changeStep(id, { captures: [...captures, { id: newId(), name, path: "body._id" }] });
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
          onChange={(part) => put(capture.id, part)}
          onRemove={() => removePart(id, "captures", capture.id, `Capture ${capture.name}`)}
        />
      ))}
    </>
  );
}

interface RowProps {
  capture: Capture;
  onChange: (part: Partial<Capture>) => void;
  onRemove: () => void;
}

function Row({ capture, onChange, onRemove }: RowProps) {
  const [name, setName] = useTyped(capture.name);
  const [path, setPath] = useTyped(capture.path);
  const wrong = problemOf(path);
  return (
    <div class="sequences-row" role="group" aria-label={`Capture ${capture.name}`}>
      <Field label="Capture as" errors={VARIABLE_NAME.test(name) ? [] : ["Letters, digits and _ only."]}>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            value={name}
            onInput={(event) => {
              const next = event.currentTarget.value;
              setName(next, VARIABLE_NAME.test(next) ? next : capture.name);
              if (VARIABLE_NAME.test(next)) onChange({ name: next });
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

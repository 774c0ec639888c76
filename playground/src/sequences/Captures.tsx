/** What a step takes out of its reply for later steps. */

import { leaveRow } from "../library/focus";
import { IconButton } from "../ui";
import { problemOfPath } from "./path";
import { pathsOf } from "./paths";
import { missedBy } from "./run";
import { reportOf } from "./runs";
import { likelyPath } from "./shapes";
import { focusPart } from "./showing";
import { addCapture, changeStep, current, removePart, rename } from "./store";
import type { Capture, SequenceStep } from "./types";
import { problemOfName } from "./variable-names";
import { WrittenField } from "./WrittenField";

export function beginCapture({ id, request }: SequenceStep): void {
  addCapture(id, likelyPath(request));
  const made = current.value.steps.find((one) => one.id === id)?.captures.at(-1);
  if (made) focusPart(made.id);
}

export function Captures({ step: { id, captures, request } }: { step: SequenceStep }) {
  const report = reportOf(id);
  const paths = captures.length > 0 ? pathsOf(request, report) : [];
  const put = (changed: string, part: Partial<Capture>) =>
    changeStep(id, { captures: captures.map((one) => (one.id === changed ? { ...one, ...part } : one)) });
  return (
    <>
      {captures.map((capture) => (
        <Row
          key={capture.id}
          capture={capture}
          paths={paths}
          isMissed={missedBy(capture, report) !== undefined}
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
  isMissed: boolean;
  paths: readonly string[];
  onRename: (name: string) => void;
  onChange: (part: Partial<Capture>) => void;
  onRemove: () => void;
}

function Row({ capture, isMissed, paths, onRename, onChange, onRemove }: RowProps) {
  return (
    <div class="sequences-row" role="group" data-part={capture.id} aria-label={`Capture ${capture.name}`}>
      <WrittenField
        id={capture.id}
        field="name"
        label="Capture as"
        input={{ class: "mono" }}
        now={capture.name}
        problemOf={(text) => problemOfName(text, capture.name, current.value)}
        onChange={onRename}
      />
      <WrittenField
        id={capture.id}
        field="path"
        label="From"
        class="grow"
        input={{ class: "mono", placeholder: "body.user._id" }}
        choices={paths}
        now={capture.path}
        error={isMissed ? "The last run found nothing here." : ""}
        problemOf={problemOfPath}
        onChange={(path) => onChange({ path })}
      />
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

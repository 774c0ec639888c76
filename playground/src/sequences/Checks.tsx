/** Values that the reply of a step must have. */

import { useTyped } from "../form/drafts";
import { stringify } from "../json";
import { leaveRow } from "../library/focus";
import { Field, IconButton } from "../ui";
import { problemOfPath } from "./path";
import { missedBy, type StepReport } from "./run";
import { reportOf } from "./runs";
import { likelyPath } from "./shapes";
import { changeStep, removePart } from "./store";
import { newId, type Check, type SequenceStep } from "./types";
import { textOf, valueOf } from "./value-text";
import { WrittenField } from "./WrittenField";

export function beginCheck({ id, request, checks }: SequenceStep): void {
  changeStep(id, { checks: [...checks, { id: newId(), path: likelyPath(request), value: "" }] });
}

export function Checks({ step: { id, checks } }: { step: SequenceStep }) {
  const report = reportOf(id);
  const put = (changed: string, part: Partial<Check>) =>
    changeStep(id, { checks: checks.map((one) => (one.id === changed ? { ...one, ...part } : one)) });
  return (
    <>
      {checks.map((check) => (
        <Row
          key={check.id}
          check={check}
          report={report}
          onChange={(part) => put(check.id, part)}
          onRemove={() => removePart(id, "checks", check.id, `What ${check.path} must be is`)}
        />
      ))}
    </>
  );
}

interface RowProps {
  check: Check;
  report: StepReport | undefined;
  onChange: (part: Partial<Check>) => void;
  onRemove: () => void;
}

function Row({ check, report, onChange, onRemove }: RowProps) {
  const [text, setText] = useTyped(textOf(check.value));
  const missed = missedBy(check, report);
  const got = missed && `The last run got ${missed.found === undefined ? "nothing" : stringify(missed.found)}.`;
  return (
    <div class="sequences-row" role="group" aria-label={`Expected at ${check.path}`}>
      <WrittenField
        id={check.id}
        field="path"
        label="Expect at"
        class="grow"
        input={{ class: "mono" }}
        now={check.path}
        problemOf={problemOfPath}
        onChange={(path) => onChange({ path })}
      />
      <Field label="the value" class="grow" errors={got ? [got] : []}>
        {(ids) => (
          <input
            {...ids}
            class="mono"
            spellcheck={false}
            value={text}
            onInput={(event) => {
              const next = event.currentTarget.value;
              setText(next, textOf(valueOf(next)));
              onChange({ value: valueOf(next) });
            }}
          />
        )}
      </Field>
      <IconButton
        icon="remove"
        label={`Expect nothing at ${check.path}`}
        onClick={(event) => {
          leaveRow(event);
          onRemove();
        }}
      />
    </div>
  );
}

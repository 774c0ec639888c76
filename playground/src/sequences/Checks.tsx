/** Values that the reply of a step must have. */

import { useTyped } from "../form/drafts";
import { stringify } from "../json";
import { leaveRow } from "../library/focus";
import { isSecretName } from "../library/secrets";
import { Button, Field, IconButton } from "../ui";
import { problemOfPath } from "./path";
import { pathsOf } from "./paths";
import { missedBy, type StepReport } from "./run";
import { reportOf } from "./runs";
import { likelyPath } from "./shapes";
import { focusPart } from "./showing";
import { changeStep, current, removePart } from "./store";
import { newId, type Check, type SequenceStep } from "./types";
import { textOf, valueOf } from "./value-text";
import { WrittenField } from "./WrittenField";

export function beginCheck({ id, request, checks }: SequenceStep): void {
  const check = newId();
  changeStep(id, { checks: [...checks, { id: check, path: likelyPath(request), value: "" }] });
  focusPart(check);
}

/** The most variables that are offered. */
const MOST_OFFERS = 6;

/** The variables, and captures of earlier steps, that a value may be compared with. */
function offersOf({ id }: SequenceStep): string[] {
  const { variables, steps } = current.value;
  const before = steps.slice(0, steps.findIndex((one) => one.id === id)).flatMap(({ captures }) => captures);
  const open = [...variables.filter(({ secret }) => !secret), ...before].filter(({ name }) => !isSecretName(name));
  return [...new Set(open.map(({ name }) => `{{${name}}}`))].slice(-MOST_OFFERS);
}

const HINT = 'JSON or text: 123 is a number, "123" a text. May hold {{name}}.';

export function Checks({ step }: { step: SequenceStep }) {
  const { id, checks, request } = step;
  const report = reportOf(id);
  const paths = checks.length > 0 ? pathsOf(request, report) : [];
  const offers = offersOf(step);
  const put = (changed: string, part: Partial<Check>) =>
    changeStep(id, { checks: checks.map((one) => (one.id === changed ? { ...one, ...part } : one)) });
  return (
    <>
      {checks.map((check, at) => (
        <Row
          key={check.id}
          check={check}
          isFirst={at === 0}
          report={report}
          paths={paths}
          offers={offers}
          onChange={(part) => put(check.id, part)}
          onRemove={() => removePart(id, "checks", check.id, `What ${check.path} must be is`)}
        />
      ))}
    </>
  );
}

interface RowProps {
  check: Check;
  isFirst: boolean;
  report: StepReport | undefined;
  paths: readonly string[];
  offers: readonly string[];
  onChange: (part: Partial<Check>) => void;
  onRemove: () => void;
}

function Row({ check, isFirst, report, paths, offers, onChange, onRemove }: RowProps) {
  const [text, setText] = useTyped(textOf(check.value));
  const missed = missedBy(check, report);
  const got = missed && `The last run got ${missed.found === undefined ? "nothing" : stringify(missed.found)}.`;
  return (
    <div class="sequences-row" role="group" data-part={check.id} aria-label={`Expected at ${check.path}`}>
      <WrittenField
        id={check.id}
        field="path"
        label="Expect at"
        class="grow"
        input={{ class: "mono" }}
        choices={paths}
        now={check.path}
        problemOf={problemOfPath}
        onChange={(path) => onChange({ path })}
      />
      <Field label="the value" class="grow" hint={isFirst && HINT} errors={got ? [got] : []}>
        {(ids) => (
          <>
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
            {offers.length > 0 && (
              <div class="row roles">
                {offers.map((one) => (
                  <Button key={one} small aria-pressed={check.value === one} onClick={() => onChange({ value: one })}>
                    {one}
                  </Button>
                ))}
              </div>
            )}
          </>
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

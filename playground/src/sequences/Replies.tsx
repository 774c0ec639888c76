/** How the last run of a step went: in its row, and its requests with their replies below. */

import { useMemo, useState } from "preact/hooks";
import type { Json } from "../catalog";
import { duration, size } from "../library/format";
import { mapSecrets } from "../library/secrets";
import { BODY, JsonTree } from "../reply/tree";
import { bodyOf } from "../state";
import { envelopeOf } from "../state/request";
import { Badge, Button, Icon, notify, once } from "../ui";
import { durationsOf, type Attempt, type StepReport } from "./run";
import { report as whole } from "./runs";
import { parsePath, pathText } from "./path";
import { isKeepable } from "./secrets";
import { addCapture, addCheck } from "./store";
import type { SequenceStep } from "./types";

interface ResultProps {
  report: StepReport;
  number: number;
  isOpen: boolean;
  onToggle: () => void;
}

/** The status, and a bar as long as the mean time beside those of the other steps; a click shows the replies. */
export function Result({ report, number, isOpen, onToggle }: ResultProps) {
  const { attempts, repeat } = report;
  const sent = attempts.filter(({ isSent }) => isSent);
  const failed = sent.filter(({ problem }) => problem);
  const found = durationsOf(report);
  const most = Math.max(1, ...(whole.value?.steps ?? []).map((step) => durationsOf(step)?.mean ?? 0));
  const look = failed.length > 0 ? "bad" : sent.length < attempts.length ? "warn" : "ok";
  const counted = repeat > 1 && (failed.length > 0 || sent.length < repeat) ? `${sent.length} of ${repeat} sent${failed.length > 0 ? `, ${failed.length} failed` : ""}` : "";
  const title = found && repeat > 1 ? `best ${duration(found.best)}, mean ${duration(found.mean)}, worst ${duration(found.worst)}` : undefined;
  return (
    <button
      type="button"
      class="sequences-result"
      aria-expanded={isOpen}
      title={title ?? "Show the reply"}
      onClick={onToggle}
    >
      <span class="sr-only">Replies of step {number}: </span>
      {counted && <span class="library-facts">{counted}</span>}
      <Badge look={look}>{statusOf(attempts)}</Badge>
      {found && (
        <>
          <span class="sequences-time" aria-hidden="true">
            <span style={{ width: `${Math.max(2, (100 * found.mean) / most)}%` }} />
          </span>
          <span class="sequences-mean">{duration(found.mean)}</span>
        </>
      )}
      <span class="sequences-reply">Reply</span>
      <Icon name={isOpen ? "down" : "right"} />
    </button>
  );
}

/** The status of the first that was not as expected, else of the last. */
function statusOf(attempts: readonly Attempt[]): string {
  const told = attempts.find(({ problem }) => problem) ?? attempts.at(-1);
  if (!told?.isSent) return "not sent";
  return told.status ? String(told.status) : "no reply";
}

const PAGE = 20;

export function Replies({ report, step }: { report: StepReport; step: SequenceStep }) {
  const [most, setMost] = useState(PAGE);
  const [only] = report.attempts;
  if (only && report.attempts.length === 1)
    return (
      <div class="sequences-replies">
        <Exchange attempt={only} step={step} />
      </div>
    );
  const sorted = [...report.attempts.filter(({ problem }) => problem), ...report.attempts.filter(({ problem }) => !problem)];
  const found = durationsOf(report);
  return (
    <div class="sequences-replies">
      {found && (
        <p class="library-facts">
          best {duration(found.best)} · mean {duration(found.mean)} · worst {duration(found.worst)}
        </p>
      )}
      <ol class="library-entries">
        {sorted.slice(0, most).map((attempt) => (
          <AttemptRow key={attempt.index} attempt={attempt} step={step} />
        ))}
      </ol>
      {sorted.length > most && (
        <Button small onClick={() => setMost(most + PAGE)}>
          Show more
        </Button>
      )}
    </div>
  );
}

interface AttemptProps {
  attempt: Attempt;
  step: SequenceStep;
}

function AttemptRow({ attempt, step }: AttemptProps) {
  const [open, setOpen] = useState(false);
  const { index, problem, isSent, ms, bytes } = attempt;
  return (
    <li class="library-entry">
      <div class="library-line">
        <button type="button" class="library-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          <Badge look={!isSent ? "warn" : problem ? "bad" : "ok"}>{statusOf([attempt])}</Badge>
          <span>Request {index + 1}</span>
        </button>
        {isSent && (
          <span class="library-facts">
            {duration(ms)} · {size(bytes)}
          </span>
        )}
      </div>
      {problem && <p class="sequences-problem">{problem}</p>}
      {open && <Exchange attempt={attempt} step={step} />}
    </li>
  );
}

function Exchange({ attempt: { problem, request, text, captured }, step }: AttemptProps) {
  const envelope = useMemo(() => envelopeOf(text), [text]);
  return (
    <div class="library-detail">
      <section>
        <h3>Reply</h3>
        {envelope ? (
          <JsonTree
            value={envelope.body as Json}
            root={BODY}
            label="Reply"
            height={420}
            bar={(value, path) => <ValueBar step={step} value={value} path={pathText(path)} />}
            barInRow
            markOf={(path) => markOf(step, pathText(path))}
          />
        ) : (
          <pre>{text || problem || "The reply was not stored."}</pre>
        )}
      </section>
      <section>
        <h3>Request</h3>
        {request ? (
          <JsonTree value={mapSecrets(bodyOf(request), () => "••••••")} label="Request" height={420} />
        ) : (
          <p class="muted">Its placeholders could not be filled in.</p>
        )}
        {!envelope && Object.keys(captured).length > 0 && (
          <>
            <h3>Captured</h3>
            <JsonTree value={captured} label="Captured" height={420} />
          </>
        )}
      </section>
    </div>
  );
}

/** What a step does with a value of its reply. */
function markOf({ captures, checks }: SequenceStep, path: string): string {
  const names = captures.filter((one) => isAt(one, path)).map(({ name }) => `{{${name}}}`);
  return [...names, ...(checks.some((one) => isAt(one, path)) ? ["expected"] : [])].join(" ");
}

/** The button goes; the keyboard stays at its row. */
function toTree({ currentTarget }: Event): void {
  (currentTarget as HTMLElement).closest<HTMLElement>("[role=tree]")?.focus();
}

/** Whether a capture or check is of a path, however that is written. */
function isAt(one: { path: string }, path: string): boolean {
  return pathText(parsePath(one.path)) === path;
}

/** What a value of a reply may become in the step that it answers. */
function ValueBar({ step: { id, captures, checks }, value, path }: { step: SequenceStep; value: Json; path: string }) {
  if (!path.startsWith("body")) return null;
  const capture = (event: Event) => {
    toTree(event);
    notify(`Later steps have it as {{${addCapture(id, path)}}}.`);
  };
  const expect = (event: Event) => {
    toTree(event);
    addCheck(id, path, value);
    notify(`The step expects this at ${path}.`);
  };
  return (
    <>
      {!captures.some((one) => isAt(one, path)) && (
        <Button small icon="add" title={`Let later steps have ${path}`} onClick={once(capture)}>
          Capture
        </Button>
      )}
      {isKeepable({ path, value }) && !checks.some((one) => isAt(one, path)) && (
        <Button small icon="check" title={`Expect this value at ${path}`} onClick={once(expect)}>
          Expect this
        </Button>
      )}
    </>
  );
}

/** How a run went: counts, durations, a chart, and each request with its reply. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { Json } from "../catalog";
import { duration, size } from "../library/format";
import { fileName } from "../library/names";
import { JsonTree } from "../reply/tree";
import { bodyOf } from "../state";
import { envelopeOf } from "../state/request";
import { Badge, Button, Icon, notify, once, Table, saveFile, type Column } from "../ui";
import { Chart } from "./Chart";
import { durationsOf, type Attempt, type Report, type StepReport } from "./run";
import { pathText } from "./path";
import { isKeepable } from "./secrets";
import { addCapture, addCheck, current, writeReport } from "./store";

export function ReportView({ report }: { report: Report }) {
  const section = useRef<HTMLElement>(null);
  useEffect(() => section.current?.scrollIntoView({ block: "nearest" }), [report.state]);
  const passed = report.finished - report.failed;
  const rows = report.steps.map((step, at) => ({ step, number: at + 1 }));
  return (
    <section class="sequences-report" aria-label="Report" ref={section}>
      <div class="row">
        <h3>Report</h3>
        <Badge look={report.failed > 0 ? "bad" : report.state === "done" ? "ok" : "warn"}>
          {report.state === "running"
            ? "running"
            : report.state === "stopped"
              ? "stopped"
              : report.failed > 0
                ? "failed"
                : "passed"}
        </Badge>
        <span class="grow" role="status">
          {report.finished} of {report.total} sent, {passed} as expected, {report.failed} not; {duration(report.ms)}
        </span>
        {report.state !== "running" && (
          <Button
            small
            icon="download"
            onClick={() => saveFile(`${fileName(report.name)}-report.json`, writeReport(report))}
          >
            Save the report
          </Button>
        )}
      </div>
      <progress class={report.failed > 0 ? "bad" : undefined} max={Math.max(1, report.total)} value={report.finished} aria-label="Requests sent" />
      <Table label="Durations of the steps" columns={COLUMNS} rows={rows} rowKey={({ number }) => number} />
      <Chart steps={report.steps} />
      {rows.map(({ step, number }) => (
        <Attempts key={number} step={step} number={number} />
      ))}
    </section>
  );
}

interface NumberedStep {
  step: StepReport;
  number: number;
}

const COLUMNS: readonly Column<NumberedStep>[] = [
  { key: "step", title: "Step", cell: ({ step, number }) => `${number}. ${step.name}` },
  { key: "sent", title: "Sent", numeric: true, cell: ({ step }) => `${step.attempts.length} of ${step.repeat}` },
  {
    key: "failed",
    title: "Failed",
    numeric: true,
    cell: ({ step }) => step.attempts.filter(({ problem }) => problem).length,
  },
  { key: "best", title: "Best", numeric: true, cell: ({ step }) => shown(step, "best") },
  { key: "mean", title: "Mean", numeric: true, cell: ({ step }) => shown(step, "mean") },
  { key: "worst", title: "Worst", numeric: true, cell: ({ step }) => shown(step, "worst") },
];

function shown(step: StepReport, which: "best" | "worst" | "mean"): string {
  const found = durationsOf(step);
  return found ? duration(found[which]) : "–";
}

const PAGE = 20;

function Attempts({ step, number }: NumberedStep) {
  const [open, setOpen] = useState(false);
  const [most, setMost] = useState(PAGE);
  if (step.attempts.length === 0) return null;
  const failed = step.attempts.filter(({ problem }) => problem);
  const sorted = [...failed, ...step.attempts.filter(({ problem }) => !problem)];
  return (
    <div class="sequences-attempts">
      <button type="button" class="library-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        <Badge look={failed.length > 0 ? "bad" : "ok"}>{failed.length > 0 ? `${failed.length} failed` : "ok"}</Badge>
        <span>
          Replies of step {number}: {step.name}
        </span>
      </button>
      {failed[0] && <p class="sequences-problem">{failed[0].problem}</p>}
      {open && (
        <ol class="library-entries">
          {sorted.slice(0, most).map((attempt) => (
            <AttemptRow key={attempt.index} attempt={attempt} step={step.id} />
          ))}
        </ol>
      )}
      {open && sorted.length > most && (
        <Button small onClick={() => setMost(most + PAGE)}>
          Show more
        </Button>
      )}
    </div>
  );
}

/** What a value of a reply may become in the step that it answers. */
function ValueBar({ step, value, path }: { step: string; value: Json; path: string }) {
  if (!current.value.steps.some(({ id }) => id === step)) return <code>{path}</code>;
  const capture = () => notify(`Later steps have it as {{${addCapture(step, path)}}}.`);
  const expect = () => {
    addCheck(step, path, value);
    notify(`The step expects this at ${path}.`);
  };
  return (
    <>
      <code class="grow">{path}</code>
      {isKeepable({ path, value }) && (
        <Button small icon="check" onClick={once(expect)}>
          Expect this
        </Button>
      )}
      <Button small icon="add" onClick={once(capture)}>
        Capture
      </Button>
    </>
  );
}

function AttemptRow({ attempt, step }: { attempt: Attempt; step: string }) {
  const [open, setOpen] = useState(false);
  const { index, problem, status, ms, bytes, request, text, captured } = attempt;
  const envelope = open ? envelopeOf(text) : undefined;
  return (
    <li class="library-entry">
      <div class="library-line">
        <button type="button" class="library-fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? "down" : "right"} />
          <Badge look={problem ? "bad" : "ok"}>{status || "not sent"}</Badge>
          <span>Request {index + 1}</span>
        </button>
        <span class="library-facts">
          {duration(ms)} · {size(bytes)}
        </span>
      </div>
      {open && (
        <div class="library-detail">
          <section>
            <h4>Request</h4>
            {request ? (
              <JsonTree value={bodyOf(request)} label="Request" />
            ) : (
              <p class="muted">Its placeholders could not be filled in.</p>
            )}
          </section>
          <section>
            <h4>Reply</h4>
            {envelope ? (
              <JsonTree
                value={envelope as unknown as Json}
                label="Reply"
                bar={(value, path) => <ValueBar step={step} value={value} path={pathText(path)} />}
              />
            ) : (
              <pre>{text || problem || "The reply was not stored."}</pre>
            )}
          </section>
          {Object.keys(captured).length > 0 && (
            <section>
              <h4>Captured</h4>
              <JsonTree value={captured} label="Captured" />
            </section>
          )}
        </div>
      )}
    </li>
  );
}

/** What a run came to, in one band; and what holds a run back. */

import { showEnvironments, showLogin } from "../account";
import { leaveRow } from "../library/focus";
import { duration } from "../library/format";
import { fileName } from "../library/names";
import { token } from "../state";
import { Badge, Button, IconButton, saveFile } from "../ui";
import type { Blank } from "./blanks";
import { firstProblem, outcomeOf, type Outcome, type Report } from "./run";
import { blanks, heldBack, writeReport } from "./runs";
import { isPublic } from "./shapes";
import { elementOf, showStep } from "./showing";
import { current, meanEmpty, unfold } from "./store";
import "./summary.css";

const LOOKS: Record<Outcome, "ok" | "bad" | "warn"> = { running: "warn", stopped: "warn", failed: "bad", incomplete: "warn", passed: "ok" };

export function Summary({ report }: { report: Report }) {
  const outcome = outcomeOf(report);
  const { sent, total, failed, unsent, ms } = report;
  const first = firstProblem(report);
  const failedStep = current.value.steps.find(({ id }) => id === first?.step.id);
  const isLoggedOut = failedStep?.token === "current" && !token.value && !isPublic(failedStep.request);
  const counts = `${sent} of ${total} sent, ${sent - failed} as expected, ${failed} not${unsent ? `, ${unsent} could not be sent` : ""}`;
  return (
    <section class={`sequences-summary ${LOOKS[outcome]}`} aria-label="Report">
      <Badge look={LOOKS[outcome]}>{outcome}</Badge>
      <div class="grow">
        {first && (
          <p class="sequences-problem">
            <button type="button" onClick={() => showStep(first.step.id)}>
              Step {first.number}, {first.step.name}
            </button>
            : {first.problem}
          </p>
        )}
        {isLoggedOut && (
          <p class="row">
            You are not logged in. <Button small onClick={showLogin}>Log in</Button>
          </p>
        )}
        <p class="small muted" role="status">
          {counts}; {duration(ms)}
        </p>
      </div>
      {report.state !== "running" && (
        <IconButton
          small
          icon="download"
          label="Save the report"
          onClick={() => saveFile(`${fileName(report.name)}-report.json`, writeReport(report))}
        />
      )}
    </section>
  );
}

/** Why it was neither run nor exported, as long as that is so. */
export function HeldBack() {
  const what = heldBack.value;
  const found = what === "export" ? blanks.value.filter(({ isSecret }) => !isSecret) : blanks.value;
  if (!what || found.length === 0) return <div role="alert" class="sequences-held" />;
  return (
    <div role="alert" class="sequences-held">
      <p>
        <b>{what === "run" ? "Not run" : "Not exported"}: a text is empty.</b>
        {found.some(({ isSecret }) => isSecret) && " Passwords and tokens are not kept when the page is reloaded."}
      </p>
      <ul>
        {found.map((one) => (
          <li key={`${one.step} ${one.path} ${one.variable}`}>
            <BlankLine blank={one} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function BlankLine({ blank }: { blank: Blank }) {
  const { step, number, title, path, variable, isGiven } = blank;
  return (
    <div class="row">
      <span class="grow">
        Step {number}, {title}:{" "}
        {variable ? (
          <>
            the variable <code>{variable}</code> {isGiven && "of the environment "}has no value.
          </>
        ) : (
          <>
            <code>{path.replace(/^set\./, "")}</code> is empty.
          </>
        )}
      </span>
      <Button small onClick={() => goTo(blank)}>
        Go there
      </Button>
      {!variable && (
        <Button
          small
          onClick={(event) => {
            leaveRow(event);
            meanEmpty(step, path);
          }}
        >
          Send it empty
        </Button>
      )}
    </div>
  );
}

/** Let the user write what is empty. */
function goTo({ step, path, variable, isGiven }: Blank): void {
  if (isGiven) return showEnvironments();
  const id = current.value.variables.find(({ name }) => name === variable)?.id;
  if (!id) unfold(step);
  requestAnimationFrame(() => {
    const field = id
      ? document.querySelector<HTMLElement>(`[data-variable="${CSS.escape(id)}"]`)
      : elementOf(step)?.querySelector<HTMLElement>(`[data-path="${CSS.escape(path)}"], .cm-content`);
    if (id) field?.closest("details")?.setAttribute("open", "");
    (field ?? elementOf(step))?.scrollIntoView({ block: "center" });
    field?.focus();
  });
}

/** The view of sequences: the list of them, the steps of one, its run. */

import { Fragment } from "preact";
import { useState } from "preact/hooks";
import { NotKept } from "../library/NotKept";
import { fileName } from "../library/names";
import { Divider, paneStyle } from "../panes";
import { Button, Empty, Field, Menu, once, saveFile } from "../ui";
import { Adder } from "./Adder";
import { ExportDialog } from "./ExportDialog";
import { Rail } from "./Rail";
import { Step } from "./Step";
import { HeldBack, Summary } from "./Summary";
import { showBroken } from "./showing";
import { Variables } from "./Variables";
import { writeSequence } from "./files";
import * as runs from "./runs";
import * as store from "./store";
import "../library/library.css";
import "../request/acts.css";
import "./sequences.css";

export function Sequences() {
  const [listed, setListed] = useState(false);
  const [problem, setProblem] = useState("");
  const { id, steps } = store.current.value;
  return (
    <div class={listed ? "acts listed" : "acts"} style={paneStyle("side")}>
      <Rail onOpen={() => setListed(false)} onProblem={setProblem} />
      <Divider pane="side" />
      <div class="acts-main" tabIndex={-1} data-content>
        <div class="acts-bar">
          <Button class="acts-toggle" small icon="menu" aria-expanded={listed} onClick={() => setListed(!listed)}>
            {listed ? "Close the list" : "All sequences"}
          </Button>
        </div>
        <div class="sequences" tabIndex={-1}>
          <h2 class="sr-only">Sequences</h2>
          <Head />
          <Fragment key={id}>
            <p class="library-problem" role="alert">
              {problem || runs.problem.value}
            </p>
            <NotKept exported refusal={store.refusal.value} />
            <HeldBack />
            {runs.report.value && <Summary report={runs.report.value} />}
            <Variables />
            <ol class="library-entries" aria-label={steps.length === 0 ? "New step" : "Steps"}>
              {steps.map((step, at) => (
                <Step key={step.id} step={step} at={at} count={steps.length} />
              ))}
              <Adder />
            </ol>
            {steps.length === 0 && (
              <Empty icon="list" title="No steps yet">
                Add an act, an open tab or a saved request. Values of one reply can go into later requests.
              </Empty>
            )}
          </Fragment>
        </div>
      </div>
    </div>
  );
}

/** The name, and what runs it: it stays in sight. */
function Head() {
  const sequence = store.current.value;
  const isBroken = store.isBroken.value;
  return (
    <div class="sequences-head">
      <Field label={<span class="sr-only">Name</span>} class="grow">
        {(ids) => (
          <input
            {...ids}
            class="sequences-name"
            value={sequence.name}
            maxLength={200}
            onInput={(event) => event.currentTarget.value.trim() && store.change({ name: event.currentTarget.value })}
            onBlur={(event) => event.currentTarget.value.trim() || (event.currentTarget.value = sequence.name)}
          />
        )}
      </Field>
      <label class="library-check">
        <input
          type="checkbox"
          checked={sequence.stopOnFailure}
          onChange={(event) => store.change({ stopOnFailure: event.currentTarget.checked })}
        />
        Stop at the first failure
      </label>
      <div class="sequences-files row">
        <Export />
        <Button small look="quiet" icon="remove" onClick={once(store.removeCurrent)}>
          Remove
        </Button>
      </div>
      {runs.isRunning.value ? (
        <Button look="primary" icon="stop" onClick={once(runs.stop)}>
          Stop
        </Button>
      ) : (
        <Button
          look="primary"
          icon="play"
          disabled={isBroken || sequence.steps.length === 0}
          onClick={once(() => void runs.start().then(showOutcome))}
        >
          Run
        </Button>
      )}
      {isBroken && <Broken />}
    </div>
  );
}

/** What is not valid, and a way there. */
function Broken() {
  const number = store.brokenStep.value;
  return (
    <span class="sequences-problem">
      <button type="button" onClick={showBroken}>
        {number ? `Step ${number} is not valid` : "A variable is not valid"}
      </button>
      : fix it first.
    </span>
  );
}

/** What came of a run is above the steps. */
function showOutcome(): void {
  requestAnimationFrame(() => {
    const band = document.querySelector(runs.heldBack.value ? ".sequences-held" : ".sequences-summary");
    band?.scrollIntoView({ block: "nearest" });
  });
}

function Export() {
  const [asTest, setAsTest] = useState(false);
  const sequence = store.current.value;
  const isBroken = store.isBroken.value;
  const test = () => {
    runs.heldBack.value = runs.blanks.value.some(({ isSecret }) => !isSecret) ? "export" : "";
    if (runs.heldBack.value) showOutcome();
    else setAsTest(true);
  };
  return (
    <>
      <Menu
        label="Export"
        icon="download"
        look="quiet"
        small
        items={[
          {
            label: "Sequence as a file (JSON)",
            disabled: isBroken,
            onSelect: () => saveFile(`${fileName(sequence.name)}.json`, writeSequence(sequence)),
          },
          { label: "Test for pytest (Python)", disabled: sequence.steps.length === 0 || isBroken, onSelect: test },
        ]}
      />
      {asTest && <ExportDialog onClose={() => setAsTest(false)} />}
    </>
  );
}

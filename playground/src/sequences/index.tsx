/** The view of sequences: steps, their run, files. */

import { useState } from "preact/hooks";
import { GATEWAY_URL, allActs, type Catalog } from "../catalog";
import { FileButton } from "../library/FileButton";
import { NotKept } from "../library/NotKept";
import { fileName } from "../library/names";
import { titleOf } from "../library/reading";
import { saved } from "../library/saved";
import { beginningOf, catalog, environmentUrl, reasonNot, tabs, type ActRequest } from "../state";
import { Button, Empty, Field, Menu, notify, once, saveFile } from "../ui";
import { ReportView } from "./ReportView";
import { Step } from "./Step";
import { Variables } from "./Variables";
import { parseSequence, writeSequence } from "./files";
import { pytestCommand, pytestOf } from "./pytest";
import * as store from "./store";
import { MOST_STEPS } from "./types";
import "../library/library.css";
import "./sequences.css";

export function Sequences() {
  const [problem, setProblem] = useState("");
  const { steps } = store.current.value;
  return (
    <div class="page sequences">
      <h2 class="sr-only">Sequences</h2>
      <Chooser />
      <Head onProblem={setProblem} />
      <p class="library-problem" role="alert">
        {problem || store.problem.value}
      </p>
      <NotKept exported refusal={store.refusal.value} />
      <Variables />
      {steps.length === 0 ? (
        <Empty icon="list" title="No steps yet">
          Add an act, an open tab or a saved request. Values of one reply can go into later requests.
        </Empty>
      ) : (
        <ol class="library-entries" aria-label="Steps">
          {steps.map((step, at) => (
            <Step key={step.id} step={step} at={at} count={steps.length} />
          ))}
        </ol>
      )}
      <Adder />
      {store.report.value && <ReportView report={store.report.value} />}
    </div>
  );
}

/** Which of several sequences is shown. */
function Chooser() {
  const all = store.sequences.value;
  if (all.length < 2) return null;
  return (
    <Field label="Sequence" class="sequences-chooser">
      {(ids) => (
        <select {...ids} value={store.current.value.id} onChange={(event) => store.choose(event.currentTarget.value)}>
          {all.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** New ones, and files. */
function Files({ onProblem }: { onProblem: (problem: string) => void }) {
  const sequence = store.current.value;
  const save = (text: string, name: string, type?: string) => saveFile(name, text, type);
  return (
    <div class="sequences-files row">
      <Button small look="quiet" icon="add" onClick={store.begin}>
        New
      </Button>
      <FileButton
        quiet
        onProblem={onProblem}
        onText={(text) => {
          store.addSequence(parseSequence(text));
          notify("Imported.");
        }}
      >
        Import
      </FileButton>
      <Menu
        label="Export"
        icon="download"
        look="quiet"
        small
        items={[
          {
            label: "Sequence as a file (JSON)",
            disabled: store.isBroken.value,
            onSelect: () => save(writeSequence(sequence), `${fileName(sequence.name)}.json`),
          },
          {
            label: "Test for pytest (Python)",
            disabled: sequence.steps.length === 0 || store.isBroken.value,
            onSelect: () => {
              const name = testName(sequence.name);
              save(pytestOf(sequence, environmentUrl() || GATEWAY_URL), name, "text/x-python");
              notify(`Run it with: ${pytestCommand(sequence, name)}`, { lasts: true });
            },
          },
        ]}
      />
      <Button small look="quiet" icon="remove" onClick={once(store.removeCurrent)}>
        Remove
      </Button>
    </div>
  );
}

function testName(name: string): string {
  return `test_${fileName(name, "_").toLowerCase().replace(/-/g, "_")}.py`;
}

/** The name, and what runs it: it stays in sight. */
function Head({ onProblem }: { onProblem: (problem: string) => void }) {
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
          />
        )}
      </Field>
      <Files onProblem={onProblem} />
      <label class="library-check">
        <input
          type="checkbox"
          checked={sequence.stopOnFailure}
          onChange={(event) => store.change({ stopOnFailure: event.currentTarget.checked })}
        />
        Stop at the first failure
      </label>
      {store.isRunning.value ? (
        <Button look="primary" icon="stop" onClick={once(store.stop)}>
          Stop
        </Button>
      ) : (
        <Button
          look="primary"
          icon="play"
          disabled={isBroken || sequence.steps.length === 0}
          onClick={once(() => void store.start().then(showReport))}
        >
          Run
        </Button>
      )}
      {isBroken && <span class="sequences-problem">The JSON of a step is not valid: fix it first.</span>}
    </div>
  );
}

/** Where steps are unfolded, the report would be below what is seen. */
function showReport(): void {
  requestAnimationFrame(() => document.querySelector(".sequences-report")?.scrollIntoView({ block: "nearest" }));
}

/** What a step can be made of, by a key that its option has. */
interface Source {
  group: string;
  name: string;
  make: () => ActRequest;
  /** Why it cannot be one now. */
  problem?: string;
}

function sourcesOf(known: Catalog): Source[] {
  const opened = tabs.value.map(({ request, drafts }) => ({
    group: "Open tabs",
    name: titleOf(request.value),
    make: () => request.value,
    problem: reasonNot(drafts.value) && "not valid",
  }));
  const kept = saved.value.map(({ name, request }) => ({ group: "Saved requests", name, make: () => request }));
  const acts = allActs(known).map((placed) => ({
    group: placed.service === "main" ? `Acts of ${placed.model}` : `${placed.service}: acts of ${placed.model}`,
    name: placed.act,
    make: () => beginningOf(catalog.value, placed),
  }));
  return [...opened, ...kept, ...acts];
}

function Adder() {
  const [chosen, setChosen] = useState(0);
  const sources = sourcesOf(catalog.value as Catalog);
  const groups = [...new Set(sources.map(({ group }) => group))];
  const add = () => {
    const source = sources[chosen];
    const request = source?.problem ? undefined : source?.make();
    if (request) store.addStep(request, titleOf(request));
  };
  return (
    <div class="sequences-adder">
      <Field label="Add a step" class="grow">
        {(ids) => (
          <select {...ids} value={chosen} onChange={(event) => setChosen(Number(event.currentTarget.value))}>
            {groups.map((group) => (
              <optgroup key={group} label={group}>
                {sources.map((source, at) =>
                  source.group === group ? (
                    <option key={at} value={at} disabled={Boolean(source.problem)}>
                      {source.name}
                      {source.problem && ` (${source.problem})`}
                    </option>
                  ) : null,
                )}
              </optgroup>
            ))}
          </select>
        )}
      </Field>
      <Button icon="add" disabled={store.current.value.steps.length >= MOST_STEPS} onClick={add}>
        Add
      </Button>
    </div>
  );
}

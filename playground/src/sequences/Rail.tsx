/** All sequences of this browser, as a list beside the one that is edited. */

import { FileButton } from "../library/FileButton";
import { Button, classes, notify, type IconName, Icon } from "../ui";
import { parseSequence } from "./files";
import { outcomeOf, type Outcome } from "./run";
import { reports } from "./runs";
import * as store from "./store";
import "../request/list.css";
import "./rail.css";

const ICONS: Record<Outcome, IconName> = { running: "play", stopped: "stop", failed: "close", incomplete: "close", passed: "check" };

export function Rail({ onOpen, onProblem }: { onOpen: () => void; onProblem: (problem: string) => void }) {
  const now = store.current.value;
  const hasRun = store.sequences.value.some(({ id }) => reports.value.has(id));
  return (
    <nav class="acts-list sequences-rail" aria-label="Sequences">
      <div class="sequences-rail-head">
        <Button
          small
          look="quiet"
          icon="add"
          onClick={() => {
            store.begin();
            onOpen();
          }}
        >
          New
        </Button>
        <FileButton
          quiet
          onProblem={onProblem}
          onText={(text) => {
            store.addSequence(parseSequence(text));
            notify("Imported.");
            onOpen();
          }}
        >
          Import
        </FileButton>
      </div>
      <div class="acts-groups" tabIndex={-1}>
        <ul>
          {store.sequences.value.map(({ id, name, steps }) => {
            const report = reports.value.get(id);
            return (
              <li key={id}>
                <button
                  type="button"
                  class={classes("acts-act", now.id === id && "now")}
                  aria-current={now.id === id}
                  onClick={() => {
                    store.choose(id);
                    onOpen();
                  }}
                >
                  <span class="sequences-rail-name" title={name}>{name}</span>
                  <span class="acts-count">{steps.length === 1 ? "1 step" : `${steps.length} steps`}</span>
                  {report ? <Mark outcome={outcomeOf(report)} /> : hasRun && <span class="sequences-mark" />}
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </nav>
  );
}

function Mark({ outcome }: { outcome: Outcome }) {
  return (
    <span class={`sequences-mark ${outcome}`} role="img" aria-label={`Last run: ${outcome}`} title={`Last run: ${outcome}`}>
      <Icon name={ICONS[outcome]} />
    </span>
  );
}

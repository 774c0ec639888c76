/** A sequence as a test: what it asks for, how to run it, and what may be refused the second time. */

import { GATEWAY_URL } from "../catalog";
import { leaveRow } from "../library/focus";
import { fileName } from "../library/names";
import { environmentUrl, environmentValues, token } from "../state";
import { Button, CopyButton, Dialog, notify, saveFile } from "../ui";
import { baseOf, neededBy, pytestOf, testCommand } from "./pytest";
import { change, current } from "./store";
import { fixedTexts, withGenerated, type Fixed } from "./unique";
import "./export.css";

export function ExportDialog({ onClose }: { onClose: () => void }) {
  const sequence = current.value;
  const given = environmentValues();
  const url = environmentUrl() || GATEWAY_URL;
  const file = `test_${fileName(sequence.name, "_").toLowerCase().replace(/-/g, "_")}.py`;
  const needed = neededBy(sequence, given);
  const command = testCommand(needed, file);
  const fixed = fixedTexts(sequence);
  const save = () => saveFile(file, pytestOf(sequence, url, given), "text/x-python");
  return (
    <Dialog
      title="Test for pytest"
      wide
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Done</Button>
          <Button look="primary" icon="download" data-focus onClick={save}>
            Download
          </Button>
        </>
      }
    >
      <div class="sequences-export">
        <p>The file needs nothing but Python and pytest, and holds no passwords and tokens. Run it with:</p>
        <div class="sequences-command">
          <pre>
            <code>{command}</code>
          </pre>
          <CopyButton label="Copy the command" text={command} />
          {token.value && needed.some(({ isToken }) => isToken) && (
            <CopyButton label="Copy the command with the token" text={() => testCommand(needed, file, token.value)} />
          )}
        </div>
        <dl class="sequences-needed">
          {needed.map(({ name, what, isToken, isRequired }) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                {what}
                {!isRequired && <span class="muted"> May be left out.</span>}
                {isToken && token.value && <CopyButton label="Copy the token" text={() => token.value} />}
              </dd>
            </div>
          ))}
          <div>
            <dt>
              <code>GATEWAY_URL</code>
            </dt>
            <dd>
              The address of the gateway. <span class="muted">May be left out: then it is {baseOf(url)}.</span>
            </dd>
          </div>
        </dl>
        {fixed.length > 0 && (
          <section class="sequences-warning">
            <h3>These values may have to be unique</h3>
            <p>A second run sends them again, and may be refused.</p>
            <ul>
              {fixed.map((one) => (
                <li key={`${one.number} ${one.field} ${one.text}`} class="row">
                  <span class="grow">
                    Step {one.number}, {one.title}: {one.field} is <code>{one.text}</code>
                  </span>
                  <Button
                    small
                    onClick={(event) => {
                      leaveRow(event);
                      generate(one);
                    }}
                  >
                    Use {one.generated}
                  </Button>
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
    </Dialog>
  );
}

/** Let a value be made anew in each run. */
function generate(one: Fixed): void {
  const before = current.value;
  const { steps, variables } = withGenerated(before, one);
  change({ steps, variables });
  notify(`Each run makes another ${one.field} now.`, { undo: () => change({ steps: before.steps, variables: before.variables }) });
}

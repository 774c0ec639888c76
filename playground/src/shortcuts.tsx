/** A list of what the keyboard does. */

import { Fragment } from "preact";
import { Button, Dialog } from "./ui";
import "./palette.css";

const SHORTCUTS: readonly { title: string; keys: readonly (readonly [keys: string, what: string])[] }[] = [
  {
    title: "Everywhere",
    keys: [
      ["Ctrl K", "find an act, model or view"],
      ["Ctrl V", "open a pasted curl command or body"],
      ["?", "show this list"],
      ["Esc", "close a dialog or menu"],
    ],
  },
  {
    title: "Acts",
    keys: [
      ["/", "filter the acts"],
      ["Ctrl Enter", "send the request"],
      ["Ctrl S", "save the request"],
      ["Enter", "in a password field: send"],
      ["Ctrl click", "on an act: open it in a new tab"],
      ["← →", "on an open request: go to the next or previous"],
    ],
  },
  {
    title: "JSON",
    keys: [
      ["Ctrl Space", "complete"],
      ["Ctrl F", "search"],
      ["Ctrl Z", "undo"],
      ["Esc, Tab", "leave the editor"],
    ],
  },
  {
    title: "Trees and lines between panes",
    keys: [
      ["↑ ↓", "go to the row above or below"],
      ["← →", "fold or unfold; move a line"],
      ["Home End", "go to the first or last row"],
      ["Enter", "fold or unfold; reset a line"],
    ],
  },
];

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="shortcuts">
        {SHORTCUTS.map(({ title, keys }) => (
          <section key={title} aria-label={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <Fragment key={key}>
                  <dt>
                    {key.split(" ").map((one, at) => (at ? [" ", <kbd>{one}</kbd>] : <kbd>{one}</kbd>))}
                  </dt>
                  <dd>{what}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
        <p class="muted small">On a Mac, Command does what Ctrl does.</p>
      </div>
    </Dialog>
  );
}

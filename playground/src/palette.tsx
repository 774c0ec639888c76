/** Everything one can go to, found by a few letters. */

import { useId, useMemo, useRef, useState } from "preact/hooks";
import { allActs } from "./catalog";
import { allCommands, catalog, showAct, type Command } from "./state";
import { ActMark, saidOf } from "./request/mark";
import { Dialog, focusContent } from "./ui";
import "./palette.css";

const MOST = 50;

export function Palette({ onClose }: { onClose: () => void }) {
  const id = useId();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const commands = useMemo(() => [...placeCommands(), ...allCommands()], []);
  const groups = useMemo(() => grouped(matching(commands, words).slice(0, MOST)), [words]);
  const found = groups.flatMap(([, ofGroup]) => ofGroup);
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
    if (command.group) setTimeout(focusContent); // After the dialog has given the focus back.
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(found[chosen]);
    else if (step && found.length) {
      const next = (chosen + step + found.length) % found.length;
      setAt(next);
      const option = list.current?.querySelectorAll("[role=option]")[next];
      // The first of all with the heading above it.
      (next ? option : option?.parentElement)?.scrollIntoView({ block: next ? "nearest" : "start" });
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search" bare onClose={onClose}>
      <input
        type="text"
        class="palette-words"
        role="combobox"
        list={undefined}
        aria-label="Search acts, models and views"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length ? `${id}-${chosen}` : undefined}
        placeholder="Search acts, models and views"
        value={words}
        data-focus
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <div class="palette-list" role="listbox" id={id} aria-label="Found" ref={list}>
        {groups.map(([group, ofGroup]) => (
          <div key={group} role="group" aria-label={group}>
            <div class="palette-group" aria-hidden="true">
              {group}
            </div>
            {ofGroup.map((command) => {
              const index = found.indexOf(command);
              return (
                <div
                  key={index}
                  class="palette-option"
                  id={`${id}-${index}`}
                  role="option"
                  aria-selected={index === chosen}
                  aria-description={command.act && saidOf(command.act)}
                  onClick={() => run(command)}
                >
                  <span class={command.act ? "grow act" : "grow"}>{command.label}</span>
                  {command.act && <ActMark act={command.act} />}
                  {command.hint && <span class="muted small">{command.hint}</span>}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {!found.length && <p class="muted palette-none">No results.</p>}
    </Dialog>
  );
}

function placeCommands(): Command[] {
  if (!catalog.value) return [];
  return [
    ...allActs(catalog.value).map(({ service, model, act }) => ({
      label: `${model}.${act}`,
      group: "Acts" as const,
      act,
      hint: service === "main" ? "" : `act of ${service}`,
      run: () => showAct({ service, model, act }),
    })),
    ...Object.keys(catalog.value.models).map((model) => ({
      label: model,
      group: "Models" as const,
      run: () => void (location.hash = `#/schema/${encodeURIComponent(model)}`),
    })),
  ];
}

/** Under their headings; that of what fits best comes first. */
function grouped(commands: Command[]): [string, Command[]][] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    const { group = "Actions" } = command;
    groups.set(group, [...(groups.get(group) ?? []), command]);
  }
  return [...groups];
}

/** Commands whose label has the letters of all words in order, those with the words themselves first, and before all what is called so. */
export function matching(commands: Command[], words: string): Command[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ label, hint = "" }: Command) => `${label} ${hint}`.toLowerCase();
  const fits = commands.filter((one) => parts.every((part) => hasInOrder(textOf(one), part)));
  const first = parts[0] ?? "";
  const rank = (one: Command) => {
    if (one.label.toLowerCase() === parts.join(" ")) return -1;
    if (!parts.every((part) => textOf(one).includes(part))) return 2;
    return one.label.toLowerCase().split(/\W+/).some((word) => word.startsWith(first)) ? 0 : 1;
  };
  return fits.sort((one, other) => rank(one) - rank(other));
}

function hasInOrder(text: string, letters: string): boolean {
  let at = -1;
  return [...letters].every((letter) => (at = text.indexOf(letter, at + 1)) >= 0);
}

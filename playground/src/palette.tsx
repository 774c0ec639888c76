/** Everything one can go to, found by a few letters. */

import { useId, useMemo, useRef, useState } from "preact/hooks";
import { allActs } from "./catalog";
import { allCommands, catalog, showAct, type Command } from "./state";
import { ActMark } from "./request/mark";
import { Dialog } from "./ui";
import "./palette.css";

const MOST = 50;

export function Palette({ onClose }: { onClose: () => void }) {
  const id = useId();
  const [words, setWords] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const commands = useMemo(() => [...actCommands(), ...allCommands()], []);
  const found = useMemo(() => matching(commands, words).slice(0, MOST), [words]);
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    onClose();
    command.run();
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter") run(found[chosen]);
    else if (step && found.length) {
      const next = (chosen + step + found.length) % found.length;
      setAt(next);
      list.current?.children[next]?.scrollIntoView({ block: "nearest" });
    } else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        list={undefined}
        aria-label="Search acts and views"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={found.length ? `${id}-${chosen}` : undefined}
        placeholder="An act, a model, a view…"
        value={words}
        data-focus
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={keys}
      />
      <ul class="palette-list" role="listbox" id={id} aria-label="Found" ref={list}>
        {found.map((command, index) => (
          <li
            key={index}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => run(command)}
          >
            <span class={command.act ? "grow act" : "grow"}>{command.label}</span>
            {command.act && <ActMark act={command.act} />}
            {command.hint && <span class="muted small">{command.hint}</span>}
          </li>
        ))}
      </ul>
      {!found.length && <p class="muted">No results.</p>}
    </Dialog>
  );
}

function actCommands(): Command[] {
  if (!catalog.value) return [];
  return allActs(catalog.value).map(({ service, model, act }) => ({
    label: `${model}.${act}`,
    act,
    hint: service === "main" ? "" : `act of ${service}`,
    run: () => showAct({ service, model, act }),
  }));
}

/** Commands whose label has the letters of all words in order, those with the words themselves first. */
export function matching(commands: Command[], words: string): Command[] {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const textOf = ({ label, hint = "" }: Command) => `${label} ${hint}`.toLowerCase();
  const fits = commands.filter((one) => parts.every((part) => hasInOrder(textOf(one), part)));
  const first = parts[0] ?? "";
  const rank = (one: Command) => {
    if (!parts.every((part) => textOf(one).includes(part))) return 2;
    return one.label.toLowerCase().split(/\W+/).some((word) => word.startsWith(first)) ? 0 : 1;
  };
  return fits.sort((one, other) => rank(one) - rank(other));
}

function hasInOrder(text: string, letters: string): boolean {
  let at = -1;
  return [...letters].every((letter) => (at = text.indexOf(letter, at + 1)) >= 0);
}

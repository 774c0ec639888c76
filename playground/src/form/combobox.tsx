/** One of many known words: found by a few letters, or with the arrow keys. */

import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { classes, Icon, type FieldIds } from "../ui";
import "./combobox.css";

export interface ComboboxProps {
  ids: FieldIds;
  path: string;
  choices: readonly string[];
  /** The place of the chosen one; -1 for none. */
  at: number;
  /** What stands there where none of them is chosen. */
  placeholder: string;
  /** Whether nothing may be chosen. */
  isOptional: boolean;
  onChoose: (at: number) => void;
}

/** The most that are listed at once. */
const MOST = 200;

export function Combobox({ ids, path, choices, at, placeholder, isOptional, onChoose }: ComboboxProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  /** What is searched for; undefined while the list is shut. */
  const [words, setWords] = useState<string>();
  const [marked, setMarked] = useState(0);
  const isOpen = words !== undefined;
  const found = isOpen ? matching(choices, words) : [];
  const shown = found.slice(0, MOST);
  useLayoutEffect(() => list.current?.querySelector(".marked")?.scrollIntoView({ block: "nearest" }), [marked, isOpen]);
  const open = (text = "") => {
    setWords(text);
    setMarked(text === "" ? Math.min(Math.max(0, at), MOST - 1) : 0);
  };
  const choose = (next: number | undefined) => {
    setWords(undefined);
    if (next !== undefined) onChoose(next);
  };
  const keys = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step && !isOpen) open();
    else if (step) setMarked(Math.max(0, Math.min(shown.length - 1, marked + step)));
    else if (event.key === "Enter" && isOpen && !event.ctrlKey && !event.metaKey) choose(shown[marked]);
    else if (event.key === "Escape" && isOpen) {
      event.stopPropagation();
      setWords(undefined);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="combobox">
      <input
        {...ids}
        type="text"
        role="combobox"
        list={undefined}
        aria-expanded={isOpen}
        aria-controls={isOpen ? `${id}-list` : undefined}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && shown.length ? `${id}-${marked}` : undefined}
        autocomplete="off"
        spellcheck={false}
        data-path={path}
        placeholder={placeholder}
        value={words || (isOpen ? "" : (choices[at] ?? ""))}
        onInput={(event) => {
          const text = event.currentTarget.value;
          if (text === "" && isOptional && !isOpen) onChoose(-1);
          open(text);
        }}
        onClick={() => isOpen || open()}
        onKeyDown={keys}
        onBlur={() => setWords(undefined)}
      />
      <Icon name="down" />
      {isOpen && (
        // The pointer must not take the focus from the input, whose loss shuts the list.
        <ul class="combobox-list" role="listbox" id={`${id}-list`} aria-label="Choices" ref={list} onPointerDown={(event) => event.preventDefault()}>
          {shown.map((place, index) => (
            <li
              key={place}
              id={`${id}-${index}`}
              role="option"
              aria-selected={place === at}
              class={classes(index === marked && "marked")}
              onClick={() => choose(place)}
            >
              {choices[place]}
            </li>
          ))}
          {found.length > MOST && (
            <li class="muted small" role="option" aria-disabled="true" aria-selected="false">
              {found.length - MOST} more: type some letters
            </li>
          )}
          {found.length === 0 && (
            <li class="muted small" role="option" aria-disabled="true" aria-selected="false">
              Nothing matches.
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** The places of the choices that have all words, those that begin with them first. */
function matching(choices: readonly string[], words: string): number[] {
  const wanted = words.toLowerCase().trim();
  const parts = wanted.split(/\s+/);
  const places = [...choices.keys()].filter((place) => parts.every((part) => choices[place]?.toLowerCase().includes(part)));
  const begins = (place: number) => (choices[place]?.toLowerCase().startsWith(wanted) ? 0 : 1);
  return wanted ? places.sort((one, other) => begins(one) - begins(other) || one - other) : places;
}

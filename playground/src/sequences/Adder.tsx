/** The row below the steps that adds one. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { allActs, type Catalog } from "../catalog";
import { titleOf } from "../library/reading";
import { saved } from "../library/saved";
import { ActMark, CallName, GivenName, saidOf } from "../request/mark";
import { beginningOf, catalog, reasonNot, tabs, type ActRequest } from "../state";
import { Icon } from "../ui";
import { addStep, current } from "./store";
import { MOST_STEPS } from "./types";
import "./adder.css";

/** What a step can be made of. */
interface Source {
  group: string;
  name: string;
  act: string;
  /** The name as it is shown. */
  label: ComponentChildren;
  make: () => ActRequest;
  /** What the step is called; else after its act. */
  title?: string;
  /** Why it cannot be one now. */
  problem?: string;
}

function sourcesOf(known: Catalog): Source[] {
  const opened = tabs.value.map(({ request, drafts }) => ({
    group: "Open tabs",
    name: titleOf(request.value),
    label: <CallName {...request.value} />,
    act: request.value.act,
    make: () => request.value,
    problem: reasonNot(drafts.value) && "not valid",
  }));
  const kept = saved.value.map(({ name, request }) => ({ group: "Saved requests", name, label: <GivenName name={name} request={request} />, title: name, act: request.act, make: () => request }));
  const acts = allActs(known).map((placed) => ({
    group: placed.service === "main" ? `Acts of ${placed.model}` : `${placed.service}: acts of ${placed.model}`,
    name: placed.act,
    label: <span class="act">{placed.act}</span>,
    act: placed.act,
    make: () => beginningOf(catalog.value, placed),
  }));
  return [...opened, ...kept, ...acts];
}

export function Adder() {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const isFull = current.value.steps.length >= MOST_STEPS;
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const add = ({ make, title }: Source) => {
    const request = make();
    close();
    addStep(request, title ?? titleOf(request));
    requestAnimationFrame(() => button.current?.closest("li")?.previousElementSibling?.scrollIntoView({ block: "nearest" }));
  };
  return (
    <li class="sequences-adder" onKeyDown={(event) => open && event.key === "Escape" && close()}>
      <button type="button" ref={button} class="sequences-add" aria-expanded={open} disabled={isFull} onClick={() => setOpen(!open)}>
        <Icon name="add" />
        Add a step
      </button>
      {open && <Choices onChoose={add} />}
    </li>
  );
}

function Choices({ onChoose }: { onChoose: (source: Source) => void }) {
  const [words, setWords] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    search.current?.focus({ preventScroll: true });
    search.current?.parentElement?.scrollIntoView({ block: "nearest" });
  }, []);
  const wanted = words.toLowerCase().split(/\s+/);
  const found = sourcesOf(catalog.value as Catalog).filter(({ group, name }) => {
    const text = `${group} ${name}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const groups = [...new Set(found.map(({ group }) => group))];
  const first = found.find(({ problem }) => !problem);
  return (
    <div class="sequences-choices">
      <input
        ref={search}
        type="search"
        aria-label="Search acts and saved requests"
        placeholder="Search acts and saved requests"
        value={words}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.ctrlKey || !words || !first) return;
          event.preventDefault();
          onChoose(first);
        }}
      />
      <div class="sequences-choices-list" tabIndex={-1}>
        {groups.map((group) => (
          <div key={group} role="group" aria-label={group}>
            <p class="sequences-choices-group">{group}</p>
            {found.map((source, at) =>
              source.group === group ? (
                <button type="button" key={at} class="acts-act" aria-description={saidOf(source.act)} disabled={Boolean(source.problem)} onClick={() => onChoose(source)}>
                  <ActMark act={source.act} />
                  <span>
                    {source.label}
                    {source.problem && ` (${source.problem})`}
                  </span>
                </button>
              ) : null,
            )}
          </div>
        ))}
        {found.length === 0 && <p class="muted acts-none">Nothing matches.</p>}
      </div>
    </div>
  );
}

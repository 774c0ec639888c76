/** All acts by service and model, found by a few letters. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { allActs, type Catalog, type PlacedAct } from "../catalog";
import { activeTab, openRequest, showAct } from "../state";
import { classes, Icon, isTyping } from "../ui";
import { plainText } from "../library/words";
import { ActLock, ActMark, ActWord, isLocked, saidOf } from "./mark";
import { SavedList } from "./saved-list";
import "./list.css";

const folded = signal<ReadonlySet<string>>(new Set());
/** Whether only acts are listed that whoever is signed in may call. */
const onlyMine = signal(false);
/** Groups with so many acts in all begin folded. */
const MANY = 120;

export function ActList({ catalog, onOpen }: { catalog: Catalog; onOpen: () => void }) {
  const [words, setWords] = useState("");
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      event.preventDefault();
      search.current?.focus();
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  const acts = useMemo(() => allActs(catalog), [catalog]);
  const locked = acts.filter(({ spec }) => isLocked(spec)).length;
  const isOnlyMine = onlyMine.value && locked > 0;
  const groups = grouped(acts.filter((act) => fits(act, words) && !(isOnlyMine && isLocked(act.spec))));
  const remote = Object.entries(catalog.services).filter(([, service]) => service.remote);
  const now = activeTab.value?.request.value;
  const isFolded = (key: string) => !words && folded.value.has(key) !== acts.length > MANY;
  const toggle = (key: string) => {
    const next = new Set(folded.value);
    if (!next.delete(key)) next.add(key);
    folded.value = next;
  };
  return (
    <nav class="acts-list" aria-label="Acts">
      <div class="acts-search">
        <input
          ref={search}
          type="search"
          aria-label="Filter acts"
          placeholder="Filter acts"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <kbd aria-hidden="true">/</kbd>
      </div>
      {locked > 0 && (
        <label class="acts-mine switch small">
          <input type="checkbox" checked={isOnlyMine} onChange={(event) => void (onlyMine.value = event.currentTarget.checked)} />
          Only what I may call
          <span class="acts-count">{acts.length - locked}</span>
        </label>
      )}
      <div class="acts-groups" tabIndex={-1}>
        <SavedList words={words} isFolded={(key) => !words && folded.value.has(key)} toggle={toggle} onOpen={onOpen} />
        {groups.map(({ key, service, model, acts: ofModel }) => (
          <div key={key}>
            <button type="button" class="acts-group" aria-expanded={!isFolded(key)} onClick={() => toggle(key)}>
              <span>{service === "main" ? model : `${service} / ${model}`}</span>
              <span class="acts-count">{ofModel.length}</span>
              <Icon name={isFolded(key) ? "right" : "down"} />
            </button>
            {!isFolded(key) && (
              <ul>
                {ofModel.map(({ act, spec }) => {
                  const isNow = now?.act === act && now.model === model && now.service === service;
                  return (
                    <li key={act}>
                      <button
                        type="button"
                        class={classes("acts-act", isNow && "now")}
                        aria-label={act}
                        aria-current={isNow || undefined}
                        title={plainText(spec.description)}
                        aria-description={saidOf(act, spec)}
                        onClick={(event) => {
                          const isNew = event.ctrlKey || event.metaKey;
                          (isNew ? openRequest : showAct)({ service, model, act });
                          onOpen();
                        }}
                      >
                        <span class="act">
                          <ActWord act={act} />
                        </span>
                        <ActLock spec={spec} />
                        <ActMark act={act} />
                      </button>
                    </li>
                  );
                })}
              </ul>
            )}
          </div>
        ))}
        {!groups.length && <p class="muted acts-none">No acts match.</p>}
        {remote.map(([name]) => (
          <p class="muted small acts-none" key={name}>
            {name} is a remote service. See its own playground for its acts.
          </p>
        ))}
      </div>
    </nav>
  );
}

function fits({ service, model, act, spec }: PlacedAct, words: string): boolean {
  const text = `${service} ${model} ${act} ${spec.description ?? ""}`.toLowerCase();
  return words.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

interface Group {
  key: string;
  service: string;
  model: string;
  acts: PlacedAct[];
}

function grouped(acts: PlacedAct[]): Group[] {
  const groups = new Map<string, Group>();
  for (const act of acts) {
    const key = `${act.service}/${act.model}`;
    const group = groups.get(key) ?? { key, service: act.service, model: act.model, acts: [] };
    group.acts.push(act);
    groups.set(key, group);
  }
  return [...groups.values()];
}

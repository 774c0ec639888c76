/** A tree of boxes for what a `get` shows. */

import type { ComponentChildren } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { levelOf, linksOf, type Catalog, type JsonObject, type Json, type Level, type Selection } from "../catalog";
import { useErrors } from "../form/errors";
import { WhoContext } from "../form/who";
import { isObject, own } from "../json";
import { catalog, specOf, activeTab, hiddenIn, rightsOf, roleOf, type RoleName } from "../state";
import { Button, classes, Icon } from "../ui";
import {
  all,
  isShown,
  leaves,
  shortest,
  tickedOf,
  toggleField,
  whole,
  withLink,
  type Ticked,
} from "./state";
import "./projection.css";

/** The part of an act's limit of names from which the count is shown. */
const NEAR = 0.8;

/** The counter of a document's changes: any `get` may name it at the top. */
const REVISION = "_rev";

export interface ProjectionProps {
  selection: Selection;
  label: string;
  /** In the place of the label. */
  heading?: ComponentChildren;
  /** Within the request: `get` or `get.user`. */
  path: string;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
}

export function ProjectionTree({ selection, label, heading, path, value, onChange }: ProjectionProps) {
  const id = useId();
  const found = catalog.value;
  const role = useRole();
  if (!found) return null;
  const level = levelOf(found, selection);
  const most = activeTab.value && specOf(activeTab.value.request.value)?.maxGetLeaves;
  const count = leaves(value);
  const hidden = hiddenIn(found, selection.model, role);
  return (
    <section class="projection" aria-labelledby={id}>
      <div class={heading ? "part-head" : "projection-head"}>
        <div id={id}>
          {heading ?? (
            <h4>
              {label} <span class="muted">of {selection.model}</span>
            </h4>
          )}
        </div>
        <span class="muted small" title="Fields and relations that are returned">
          {countOf(found, level, value)}
        </span>
        {most !== undefined && count > most * NEAR && (
          <span class={classes("small", count > most ? "field-errors" : "muted")}>
            {count} of at most {most} names
          </span>
        )}
        <div class="row">
          <Button small look="quiet" onClick={() => onChange(without(all(found, level), hidden))}>
            All
          </Button>
          <Button small look="quiet" onClick={() => onChange({})}>
            None
          </Button>
        </div>
      </div>
      <div onKeyDown={walk}>
        <LevelBoxes selection={selection} level={level} path={path} part={value} isTop onChange={onChange} />
      </div>
    </section>
  );
}

function without(part: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(part).filter(([name]) => !names.includes(name)));
}

/** In which role it is sent, what is edited. */
function useRole(): RoleName {
  const who = useContext(WhoContext);
  const request = activeTab.value?.request.value;
  return roleOf(who, request, request && specOf(request));
}

/** What is said of names that whoever sends the request does not see, or only in documents of their own; of others nothing. */
function useMarks(model: string): (name: string) => ComponentChildren {
  const role = useRole();
  const hidden = hiddenIn(catalog.value, model, role);
  const own = rightsOf(catalog.value, model, role)?.own ?? [];
  return (name) => (hidden.includes(name) ? <Hidden text="hidden" /> : own.includes(name) && <Hidden text="own only" />);
}

function Hidden({ text }: { text: "hidden" | "own only" }) {
  return (
    <span class="projection-hidden small" title={text === "hidden" ? "Hidden from you by a policy" : "A policy shows you this in your own documents only"}>
      <Icon name="lock" /> <span class="sr-only">, </span>
      {text}
    </span>
  );
}

/** `9 of 13`: what is returned of what is shown here, without what is below. */
function countOf(found: Catalog, level: Level, part: JsonObject): string {
  const fields = [...level.fields.map((name) => isShown(name, part, level, true)), part[REVISION] === 1];
  const links = Object.entries(level.links).map(([name, below]) => tickedOf(own(part, name), levelOf(found, below)) !== "none");
  const all = [...fields, ...links];
  return `${all.filter(Boolean).length} of ${all.length}`;
}

/** Arrow keys lead from box to box; left and right fold and unfold. */
function walk(event: KeyboardEvent): void {
  const here = event.target as HTMLElement;
  const boxes = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) boxes[boxes.indexOf(here as HTMLInputElement) + step]?.focus();
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
    const fold = here.closest("li")?.querySelector<HTMLButtonElement>(":scope > .projection-row > button");
    if (fold && fold.ariaExpanded === String(event.key === "ArrowLeft")) fold.click();
  } else return;
  event.preventDefault();
}

interface LevelProps {
  selection: Selection;
  level: Level;
  path: string;
  part: JsonObject | 1;
  isTop?: boolean;
  onChange: (part: JsonObject) => void;
}

function LevelBoxes({ level, path, part, isTop = false, onChange }: LevelProps) {
  const markOf = useMarks(level.model);
  const known = [...level.fields, ...Object.keys(level.links), ...(isTop ? [REVISION] : [])];
  const more = part === 1 ? [] : Object.keys(part).filter((name) => !known.includes(name));
  return (
    <ul class="projection-list">
      {level.fields.map((name) => (
        <FieldBox
          key={name}
          name={name}
          path={`${path}.${name}`}
          checked={isShown(name, part, level, isTop)}
          mark={markOf(name)}
          onToggle={() => onChange(toggleField(name, part, level, isTop))}
        />
      ))}
      {isTop && part !== 1 && (
        <FieldBox
          name={REVISION}
          path={`${path}.${REVISION}`}
          checked={part[REVISION] === 1}
          onToggle={() => onChange(withLink(REVISION, part[REVISION] === 1 ? undefined : 1, part, level))}
        />
      )}
      {Object.entries(level.links).map(([name, below]) => (
        <LinkBox
          key={name}
          name={name}
          path={`${path}.${name}`}
          model={level.model}
          selection={below}
          mark={markOf(name)}
          value={part === 1 ? undefined : own(part, name)}
          onChange={(value) => onChange(withLink(name, value, part, level))}
        />
      ))}
      {more.map((name) => (
        <FieldBox
          key={name}
          name={name}
          path={`${path}.${name}`}
          checked
          isUnknown
          onToggle={() => onChange(withLink(name, undefined, part, level))}
        />
      ))}
    </ul>
  );
}

interface FieldBoxProps {
  name: string;
  path: string;
  checked: boolean;
  isUnknown?: boolean;
  mark?: ComponentChildren;
  onToggle: () => void;
}

function FieldBox({ name, path, checked, isUnknown, mark, onToggle }: FieldBoxProps) {
  const errors = useErrors(path) ?? (isUnknown ? ["This act does not allow this name."] : undefined);
  return (
    <li class="projection-field">
      <label class="projection-row">
        <input type="checkbox" data-path={path} checked={checked} onChange={onToggle} />
        <span class="value-name">{name}</span>
        {mark}
        {errors && <span class="field-errors">{errors.join(" ")}</span>}
      </label>
    </li>
  );
}

interface LinkBoxProps {
  name: string;
  path: string;
  /** That has the link. */
  model: string;
  selection: Selection;
  mark: ComponentChildren;
  value: Json | undefined;
  onChange: (value: Json | undefined) => void;
}

/** Which links are unfolded, by tab and path: the tree is made anew when another part was shown. */
const unfolded = new Map<string, boolean>();

function LinkBox({ name, path, model, selection, mark, value, onChange }: LinkBoxProps) {
  const found = catalog.value;
  const key = `${activeTab.value?.id ?? 0} ${path}`;
  const [open, setOpen] = useState(unfolded.get(key) ?? isObject(value));
  const fold = () => {
    unfolded.set(key, !open);
    setOpen(!open);
  };
  const errors = useErrors(path);
  const isClosed = hiddenIn(found, selection.model, useRole()).includes("_id");
  if (!found) return null;
  const level = levelOf(found, selection);
  const ticked = tickedOf(value, level);
  const isList = own(linksOf(found, model), name)?.type === "multiple";
  return (
    <li class="projection-link">
      <div class="projection-row">
        <label>
          <Box
            path={path}
            ticked={ticked}
            onToggle={() => onChange(ticked === "all" ? undefined : whole(found, selection))}
          />
          <span class="value-name">{name}</span>
        </label>
        {isClosed ? <Hidden text="hidden" /> : mark}
        <span class="muted small">{isList ? `list of ${selection.model}` : selection.model}</span>
        <button type="button" class="projection-fold" aria-expanded={open} aria-label={`Fields of ${name}`} onClick={fold}>
          <Icon name={open ? "down" : "right"} />
        </button>
        {errors && <span class="field-errors">{errors.join(" ")}</span>}
      </div>
      {open && (
        <LevelBoxes
          selection={selection}
          level={level}
          path={path}
          part={value === 1 ? 1 : isObject(value) ? value : { _id: 0 }}
          onChange={(part) => onChange(pruned(part, value, () => shortest(found, selection, part)))}
        />
      )}
    </li>
  );
}

/** What a link becomes: when nothing was asked of it, the first tick leaves no `_id: 0` behind. */
function pruned(part: JsonObject, before: Json | undefined, short: () => Json): Json | undefined {
  const { _id, ...rest } = part;
  if (Object.keys(rest).length === 0 && _id !== 1) return undefined;
  return isObject(before) || before === 1 || _id === 1 ? short() : rest;
}

function Box({ path, ticked, onToggle }: { path: string; ticked: Ticked; onToggle: () => void }) {
  const box = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (box.current) box.current.indeterminate = ticked === "some";
  });
  return <input type="checkbox" ref={box} data-path={path} checked={ticked === "all"} onChange={onToggle} />;
}

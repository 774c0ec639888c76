/** Lists: add, remove, move. */

import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ArrayKind, EnumKind, IdKind, Json } from "../catalog";
import { isSame } from "../json";
import { emptyValue, moveDrafts } from "../state";
import { Button, IconButton } from "../ui";
import { DraftsContext } from "./drafts";
import { Group } from "./group";
import { UndoContext } from "./undo";
import { Combobox, Picker } from "./finding";
import { canPick } from "./sources";
import { MANY, nameOfKind, type Parts, type ValueProps } from "./value";

type ArrayProps = Omit<ValueProps<ArrayKind>, "value"> & { value: Json[] | undefined; parts: Parts };

export function ArrayField(props: ArrayProps) {
  const { kind, name, path } = props;
  const value = props.value ?? [];
  const isChoice = kind.items.kind === "enums" && areChoices(kind.items, value);
  return (
    <Group kind={kind} name={name} path={path} aside={nameOfKind(kind)}>
      {isChoice ? <Choices {...props} value={value} /> : <Items {...props} value={value} />}
    </Group>
  );
}

function areChoices(items: EnumKind, value: Json[]): boolean {
  const known = value.every((item) => items.choices.some((choice) => isSame(choice, item)));
  return known && new Set(value).size === value.length;
}

/** A list of known words, each at most once: a box for each, or the chosen ones where many are known. */
function Choices(props: ArrayProps & { value: Json[] }) {
  const { kind, value, onChange } = props;
  const { choices } = kind.items as EnumKind;
  if (choices.length > MANY) return <ManyChoices {...props} choices={choices} />;
  return (
    <div class="choices">
      {choices.map((choice) => (
        <label class="switch" key={String(choice)}>
          <input
            type="checkbox"
            checked={value.includes(choice)}
            onChange={(event) => {
              const isOn = event.currentTarget.checked;
              onChange(choices.filter((other) => (other === choice ? isOn : value.includes(other))));
            }}
          />
          <span>{String(choice)}</span>
        </label>
      ))}
    </div>
  );
}

function ManyChoices({ name, path, value, choices, onChange }: ArrayProps & { value: Json[]; choices: EnumKind["choices"] }) {
  const id = useId();
  const rest = choices.filter((choice) => !value.includes(choice));
  return (
    <>
      {value.length > 0 && (
        <div class="row">
          {value.map((choice) => (
            <Button key={String(choice)} small after="close" aria-label={`Remove ${String(choice)} from ${name}`} onClick={() => onChange(value.filter((other) => other !== choice))}>
              {String(choice)}
            </Button>
          ))}
        </div>
      )}
      <Combobox
        key={value.length}
        ids={{ id, "aria-describedby": undefined, "aria-invalid": undefined, "aria-label": `Add to ${name}` }}
        path={path}
        choices={rest.map(String)}
        at={-1}
        placeholder={`Add one of ${rest.length}`}
        isOptional
        onChoose={(at) => onChange(choices.filter((choice) => value.includes(choice) || choice === rest[at]))}
      />
    </>
  );
}

/** Items that are there at once: thousands would take seconds at each key. */
const PAGE = 100;

/** The first item of the last page. */
function lastPage(count: number): number {
  return Math.max(0, Math.ceil(count / PAGE) - 1) * PAGE;
}

function Items({ kind, name, path, value, onChange, parts }: ArrayProps & { value: Json[] }) {
  const root = useRef<HTMLDivElement>(null);
  const isAdded = useRef(false);
  useLayoutEffect(() => {
    const items = root.current?.querySelectorAll(":scope > .array-item > .grow");
    if (isAdded.current) items?.[items.length - 1]?.querySelector<HTMLElement>("input, textarea, select, button")?.focus();
    isAdded.current = false;
  }, [value.length]);
  const drafts = useContext(DraftsContext);
  const undoable = useContext(UndoContext);
  const [picking, setPicking] = useState(false);
  const [first, setFirst] = useState(0);
  const from = Math.min(first, lastPage(value.length));
  const isFull = kind.maxItems !== undefined && value.length >= kind.maxItems;
  const of = kind.items.kind === "object_id" ? (kind.items as IdKind).of : undefined;
  const put = (at: number, item: Json | undefined) =>
    onChange(value.map((other, index) => (index === at ? (item ?? null) : other)));
  const arrange = (order: number[]) => {
    moveDrafts(drafts, path, order);
    onChange(order.map((index) => value[index] as Json));
  };
  const add = () => {
    isAdded.current = true;
    setFirst(lastPage(value.length + 1));
    onChange([...value, emptyValue({ ...kind.items, nullable: false })]);
  };
  const move = (at: number, to: number) => {
    const order = [...value.keys()];
    order.splice(to, 0, ...order.splice(at, 1));
    arrange(order);
  };
  const remove = (at: number) => {
    undoable(`${name} ${at + 1} removed.`);
    arrange([...value.keys()].filter((index) => index !== at));
    root.current?.querySelector<HTMLButtonElement>(".array-add button")?.focus();
  };
  return (
    <div class="array" ref={root}>
      {value.length > PAGE && (
        <div class="row" role="group" aria-label={`Pages of ${name}`}>
          <Button small disabled={from === 0} onClick={() => setFirst(from - PAGE)}>
            Previous
          </Button>
          <Button small disabled={from === lastPage(value.length)} onClick={() => setFirst(from + PAGE)}>
            Next
          </Button>
          <span class="muted small" role="status">
            {(from + 1).toLocaleString("en")}–{Math.min(from + PAGE, value.length).toLocaleString("en")} of {value.length.toLocaleString("en")}
          </span>
        </div>
      )}
      {value.slice(from, from + PAGE).map((item, at) => [item, from + at] as const).map(([item, index]) => (
        <div class="array-item" key={index}>
          <div class="grow">
            <parts.Value
              kind={{ ...kind.items, presence: "required" }}
              name={`${name} ${index + 1}`}
              path={`${path}.${index}`}
              value={item}
              onChange={(next) => put(index, next)}
            />
          </div>
          <div class="array-buttons">
            <IconButton
              small
              icon="up"
              label={`Move ${name} ${index + 1} up`}
              disabled={index === 0}
              onClick={() => move(index, index - 1)}
            />
            <IconButton
              small
              icon="down"
              label={`Move ${name} ${index + 1} down`}
              disabled={index === value.length - 1}
              onClick={() => move(index, index + 1)}
            />
            <IconButton small icon="remove" label={`Remove ${name} ${index + 1}`} onClick={() => remove(index)} />
          </div>
        </div>
      ))}
      <div class="array-add row">
        <Button small icon="add" disabled={isFull} onClick={add}>
          Add {name}
        </Button>
        {of !== undefined && canPick(of) && (
          <Button small icon="search" disabled={isFull} aria-label={`Find ${name} to add`} onClick={() => setPicking(true)}>
            Find
          </Button>
        )}
        {value.length === 0 && <span class="muted small">none</span>}
      </div>
      {picking && (
        <Picker
          parts={parts}
          of={of}
          taken={value}
          onClose={() => setPicking(false)}
          onPick={(id) => onChange(value.includes(id) ? value.filter((other) => other !== id) : [...value, id])}
        />
      )}
    </div>
  );
}

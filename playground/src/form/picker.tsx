/** Finds the id of a document through an act that returns a list of them. */

import { useSignal } from "@preact/signals";
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { levelOf, manyOf, type Json, type JsonObject, type Kind, type PlacedAct } from "../catalog";
import { isObject, stringify } from "../json";
import { beginningOf, catalog, learnTitles, send, textsOf, titleOf, tokenOf, type Drafts } from "../state";
import { Button, Dialog, Empty, Field, Icon } from "../ui";
import { DraftsContext } from "./drafts";
import { ErrorsContext, type Errors } from "./errors";
import { sources } from "./sources";
import type { Parts } from "./value";
import { WhoContext } from "./who";

export interface PickerProps {
  parts: Parts;
  /** The model; undefined where nobody said: any. */
  of: string | undefined;
  /** Ids that are chosen already. */
  taken?: readonly Json[];
  onPick: (id: string) => void;
  onClose: () => void;
}

export function Picker({ parts: { Fields }, of, taken = [], onPick, onClose }: PickerProps) {
  const acts = useMemo(() => sources(of), [of]);
  const [at, setAt] = useState(0);
  const who = useContext(WhoContext);
  const act = acts[at] as PlacedAct;
  const drafts = useSignal<Drafts>(new Map());
  const [set, setSet] = useState<JsonObject>(() => setOf(act, who));
  const [words, setWords] = useState("");
  const [state, setState] = useState<{ rows: JsonObject[]; error: string; errors: Errors; busy: boolean }>(NOTHING);
  const search = async (chosen: PlacedAct, given: JsonObject) => {
    setState({ ...NOTHING, busy: true });
    const { service, model, act: name } = chosen;
    const reply = await send({ service, model, act: name, set: given, get: getOf(chosen) }, undefined, tokenOf(who));
    const { envelope } = reply;
    if (envelope?.success) {
      learnTitles(envelope.body);
      setState({ ...NOTHING, rows: rowsOf(envelope.body) });
    } else {
      const body = envelope?.body;
      setState({ ...NOTHING, error: body?.message ?? reply.error ?? "", errors: body?.errors ?? {} });
    }
  };
  useEffect(() => {
    const given = setOf(act, who);
    drafts.value = new Map();
    setSet(given);
    void search(act, given);
  }, [at]);
  const fits = state.rows.filter((row) => stringify(row).toLowerCase().includes(words.toLowerCase()));
  return (
    <Dialog title={of ? `Find in ${of}` : "Find a document"} onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="stack picker">
        {acts.length > 1 && (
          <Field label="Search with">
            {(ids) => (
              <select {...ids} class="mono" value={String(at)} onChange={(event) => setAt(Number(event.currentTarget.value))}>
                {acts.map(({ model, act: name }, index) => (
                  <option key={index} value={String(index)}>
                    {model}.{name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <details>
          <summary>What {act.act} is asked</summary>
          <ErrorsContext.Provider value={state.errors}>
            <DraftsContext.Provider value={drafts}>
              {act.spec.set.kind === "object" && (
                <Fields kind={act.spec.set} path="set" value={set} onChange={setSet} />
              )}
            </DraftsContext.Provider>
          </ErrorsContext.Provider>
          <Button small icon="search" disabled={drafts.value.size > 0} onClick={() => void search(act, set)}>
            Ask again
          </Button>
        </details>
        <input
          type="search"
          aria-label="Filter what was found"
          placeholder="Filter…"
          data-focus
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <div role="status" class="small muted">
          {state.busy ? "Searching…" : state.error ? "" : `${fits.length} of ${state.rows.length} found`}
          {taken.length > 0 && <strong class="picker-chosen">{taken.length} chosen</strong>}
        </div>
        {state.error && (
          <Empty title="The search failed">
            {state.error}
            {Object.entries(state.errors).map(([path, texts]) => (
              <p key={path}>
                <code>{path}</code> {texts.join(" ")}
              </p>
            ))}
          </Empty>
        )}
        <ul class="picker-list">
          {fits.map((row) => {
            const id = String(row._id);
            const isTaken = taken.includes(id);
            return (
              <li key={id}>
                <button type="button" aria-pressed={isTaken} title={id} onClick={() => onPick(id)}>
                  <span class="picker-check">{isTaken && <Icon name="check" />}</span>
                  <Named row={row} id={id} />
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </Dialog>
  );
}

/** A document by its name, and what else its texts say; by its id where it has none. */
function Named({ row, id }: { row: JsonObject; id: string }) {
  const title = titleOf(row);
  if (!title) return <code>{id}</code>;
  const more = textsOf(row).filter((text) => !title.split(" · ").includes(text));
  return (
    <>
      <span class="picker-name">{title}</span>
      <span class="muted small">{more.slice(0, 3).join(" · ")}</span>
    </>
  );
}

const NOTHING = { rows: [] as JsonObject[], error: "", errors: {}, busy: false };

/** What the act is asked at first: what is required, with its defaults, in a role of whoever asks. */
function setOf(placed: PlacedAct, who: string): JsonObject {
  return beginningOf(catalog.value, placed, who).set;
}

/** The pure fields of the list's documents. */
function getOf({ spec }: PlacedAct): JsonObject {
  const many = manyOf(spec.returns);
  const names = many?.get ?? [];
  const part = names.reduce<Kind | undefined>(
    (kind, name) => (kind?.kind === "object" ? kind.fields?.[name] : undefined),
    spec.get,
  );
  const fields = part?.kind === "selection" && catalog.value ? levelOf(catalog.value, part).fields : [];
  const chosen: JsonObject = Object.fromEntries(fields.map((name) => [name, 1]));
  return names.reduceRight<JsonObject>((inner, name) => ({ [name]: inner }), chosen);
}

/** The documents in a body: itself or the first list of objects in it. */
function rowsOf(body: Json): JsonObject[] {
  const list = Array.isArray(body) ? body : isObject(body) ? Object.values(body).find(Array.isArray) : undefined;
  return (list ?? []).filter((row): row is JsonObject => isObject(row) && typeof row._id === "string");
}

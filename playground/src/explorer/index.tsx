/** The view of the schema: models, fields and relations. */

import { useEffect, useMemo, useState } from "preact/hooks";
import type { Catalog, Link } from "../catalog";
import { catalog, showAct } from "../state";
import { Empty, Table, Tabs, type Column } from "../ui";
import { Divider, paneStyle } from "../panes";
import { Detail, Jump } from "./Detail";
import { Graph } from "./Graph";
import { follow, looked, show } from "./place";
import { search, type Hit } from "./search";
import "./explorer.css";

/** Go to a model in the schema. */
export function showModel(name: string): void {
  show(name);
}

type Drawn = "graph" | "list";

export function Explorer() {
  const [drawn, setDrawn] = useState<Drawn>("graph");
  useEffect(follow, []);
  const known = catalog.value as Catalog;
  const names = Object.keys(known.models);
  const first = useMemo(() => mostLinked(known), [known]);
  if (first === undefined) return <Empty icon="graph" title="There are no models" />;
  const current = Object.hasOwn(known.models, looked.value.model) ? looked.value : { model: first, link: "" };
  return (
    <div class="explorer" style={paneStyle("side")}>
      <aside class="explorer-side" aria-label="Models">
        <Finder catalog={known} names={names} selected={current.model} />
      </aside>
      <Divider pane="side" />
      <div class="explorer-main" tabIndex={-1} data-content>
        <h2 class="sr-only">Schema</h2>
        <Tabs
          label="Relations"
          items={[
            { key: "graph", label: "Graph" },
            { key: "list", label: "All relations" },
          ]}
          value={drawn}
          onChange={setDrawn}
        >
          {drawn === "graph" ? (
            <Graph catalog={known} selected={current.model} onSelect={show} />
          ) : (
            <Relations catalog={known} />
          )}
        </Tabs>
        <Detail key={current.model} catalog={known} looked={current} />
      </div>
    </div>
  );
}

/** The model where the graph opens: most others are near it. */
function mostLinked({ models }: Catalog): string | undefined {
  const counted = Object.entries(models).map(([name, { links }]) => ({ name, count: Object.keys(links).length }));
  return counted.reduce<(typeof counted)[number] | undefined>((most, one) => (most && most.count >= one.count ? most : one), undefined)?.name;
}

function Finder({ catalog: known, names, selected }: { catalog: Catalog; names: string[]; selected: string }) {
  const [words, setWords] = useState("");
  const hits = useMemo(() => search(known, words), [known, words]);
  return (
    <>
      <div class="explorer-search">
        <input
          type="search"
          aria-label="Search models, fields, relations and acts"
          placeholder="Search the schema"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter" && hits[0]) open(hits[0]);
          }}
        />
      </div>
      <p class="sr-only" role="status">
        {words.trim() ? `${hits.length} found` : ""}
      </p>
      {words.trim() ? (
        <ul class="explorer-list" aria-label="Found">
          {hits.map((hit) => (
            <li key={`${hit.what} ${hit.name}`}>
              <button type="button" onClick={() => open(hit)}>
                <span class="explorer-hit">{hit.name}</span>
                <span class="muted small">{hit.what}</span>
              </button>
            </li>
          ))}
          {hits.length === 0 && <li class="muted explorer-none">No results.</li>}
        </ul>
      ) : (
        <ul class="explorer-list explorer-models" aria-label="Models">
          {names.map((name) => (
            <li key={name}>
              <button type="button" aria-current={name === selected || undefined} onClick={() => show(name)}>
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function open({ model, link, act }: Hit): void {
  if (act) showAct({ service: act.service, model: act.model, act: act.act });
  else show(model, link);
}

interface Relation {
  from: string;
  name: string;
  link: Link;
}

const RELATIONS: readonly Column<Relation>[] = [
  { key: "from", title: "Relation", cell: ({ from, name }) => <Jump model={from} link={name} /> },
  {
    key: "to",
    title: "To",
    cell: ({ link }) => (
      <span>
        <Jump model={link.model} />{" "}
        <span class="muted small">
          {link.type === "multiple" ? "many" : "one"}
          {link.frozen ? ", frozen" : ""}
        </span>
      </span>
    ),
  },
  {
    key: "reverses",
    title: "Reverse relations",
    cell: ({ link }) => (
      <span class="explorer-notes">
        {link.reverses?.length ? (
          link.reverses.map((name) => <Jump key={name} model={link.model} link={name} />)
        ) : (
          <span class="muted">none</span>
        )}
      </span>
    ),
  },
];

function Relations({ catalog: known }: { catalog: Catalog }) {
  const all = Object.entries(known.models).flatMap(([from, { links }]) =>
    Object.entries(links)
      .filter(([, link]) => link.of === undefined)
      .map(([name, link]) => ({ from, name, link })),
  );
  if (all.length === 0) return <Empty icon="link" title="There are no relations" />;
  return (
    <div class="explorer-relations">
      <Table label="All relations" columns={RELATIONS} rows={all} rowKey={({ from, name }) => `${from} ${name}`} />
    </div>
  );
}

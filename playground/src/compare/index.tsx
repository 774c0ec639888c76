/** Two replies side by side: what was added, removed and changed, by path. */

import { useMemo, useState } from "preact/hooks";
import { isObject, stringify, type Json } from "../json";
import { summary } from "../reply/rows";
import { Scalar } from "../reply/tree";
import { pathText } from "../sequences/path";
import { Badge, Button, Dialog, Empty, Field, Table, type Column } from "../ui";
import { differences, type Difference } from "./differences";
import { earlierThan, keptReplies, type KeptReply } from "./replies";
import "../form/form.css";
import "./compare.css";

/** Differences that are shown at once. */
const PAGE = 200;
const LONGEST = 200;
const LOOKS = { added: "ok", removed: "bad", changed: "warn", reordered: undefined } as const;
/** Told without colours, too. */
const SIGNS = { added: "+", removed: "−", changed: "~", reordered: "↕" } as const;

/** `at` is when the newer reply was asked for. */
export function Compare({ at, onClose }: { at: number; onClose: () => void }) {
  const [all] = useState(keptReplies);
  const [newer, setNewer] = useState(at);
  const [older, setOlder] = useState(earlierThan(at, all)?.at ?? at);
  return (
    <Dialog title="Compare two replies" wide onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="stack">
        <Choice label="Before" all={all} value={older} onChange={setOlder} />
        <Choice label="After" all={all} value={newer} onChange={setNewer} />
        <Found key={`${older} ${newer}`} before={valueOf(all, older)} after={valueOf(all, newer)} />
      </div>
    </Dialog>
  );
}

function valueOf(all: readonly KeptReply[], at: number): Json | undefined {
  return all.find((one) => one.at === at)?.value();
}

interface ChoiceProps {
  label: string;
  all: readonly KeptReply[];
  value: number;
  onChange: (at: number) => void;
}

function Choice({ label, all, value, onChange }: ChoiceProps) {
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} class="mono" value={String(value)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
          {all.map((one) => (
            <option key={one.at} value={String(one.at)}>
              {one.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const COLUMNS: readonly Column<Difference>[] = [
  { key: "what", title: "What", cell: ({ what }) => <Mark what={what} /> },
  { key: "path", title: "Path", cell: ({ path }) => <code class="compare-path">{pathText(path) || "all of it"}</code> },
  { key: "before", title: "Before", cell: ({ before }) => <Value value={before} /> },
  { key: "after", title: "After", cell: ({ after }) => <Value value={after} /> },
];

function Mark({ what }: Pick<Difference, "what">) {
  return (
    <Badge look={LOOKS[what]}>
      <span>
        <span class="compare-sign" aria-hidden="true">
          {SIGNS[what]}
        </span>{" "}
        {what}
      </span>
    </Badge>
  );
}

function Found({ before, after }: { before: Json | undefined; after: Json | undefined }) {
  const [most, setMost] = useState(PAGE);
  const found = useMemo(() => (before === undefined || after === undefined ? undefined : differences(before, after)), []);
  if (!found) return <Empty title="One reply is incomplete">A reply too long for the history can be compared only while its tab shows it.</Empty>;
  const counts = Object.keys(LOOKS).map((what) => `${found.filter((one) => one.what === what).length} ${what}`);
  const rows = found.slice(0, most);
  return (
    <>
      <p role="status">{found.length ? counts.filter((count) => !count.startsWith("0 ")).join(", ") : "The replies are the same."}</p>
      {rows.length > 0 && <Table label="Differences" columns={COLUMNS} rows={rows} rowKey={({ what, path }) => `${what} ${pathText(path)}`} />}
      {found.length > most && (
        <div>
          <Button small onClick={() => setMost(most + PAGE)}>
            Show more of {found.length}
          </Button>
        </div>
      )}
    </>
  );
}

/** As replies draw it. */
function Value({ value }: { value: Json | undefined }) {
  if (value === undefined) return null;
  const isLarge = isObject(value) || Array.isArray(value);
  return <span class="compare-value">{isLarge ? <span class="json-mark">{textOf(value)}</span> : <Scalar value={value} />}</span>;
}

/** Of an object or list: its text where that is short. */
function textOf(value: Json): string {
  const text = stringify(value);
  if (text.length <= LONGEST) return text;
  return Array.isArray(value) ? `[ ${summary(value)} ]` : `{ ${summary(value)} }`;
}

/** Who may call and see what: those who are signed in, side by side. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { showLogin } from "../account";
import { allActs, type Catalog, type Rights } from "../catalog";
import { titleOf } from "../library/reading";
import { CallName } from "../request/mark";
import { catalog, identities, mayCall, rightsOf, showAct, type RoleName } from "../state";
import { Button, Dialog, Icon, Table, Tabs, type Column } from "../ui";
import "./rights.css";

/** Somebody in one of their roles. */
interface Caller {
  key: string;
  who: string;
  role: RoleName;
}

function callers(): Caller[] {
  const signedIn = identities.value.flatMap(({ id, session: { who, roles } }): Caller[] => {
    const name = who || "Somebody";
    return roles.length ? roles.map((role) => ({ key: `${id} ${role.id}`, who: name, role: role.name })) : [{ key: id, who: name, role: undefined }];
  });
  return [...signedIn, { key: "", who: "Nobody", role: null }];
}

/** A row, and what is said of it to each caller. */
interface Line {
  key: string;
  name: ComponentChildren;
  said: Said[];
}
interface Said {
  look: "yes" | "no" | "part" | "unknown";
  text: string;
}

type Shown = "acts" | "models";

export function RightsDialog({ onClose }: { onClose: () => void }) {
  const [shown, setShown] = useState<Shown>("acts");
  const [onlyDifferent, setOnlyDifferent] = useState(false);
  const known = catalog.value as Catalog;
  const all = callers();
  const lines = (shown === "acts" ? actLines(known, all, onClose) : modelLines(known, all)).filter(
    ({ said }) => !onlyDifferent || new Set(said.map(({ text }) => text)).size > 1,
  );
  const columns: Column<Line>[] = [
    { key: "name", title: shown === "acts" ? "Act" : "Model", cell: ({ name }) => name },
    ...all.map((caller, at) => ({ key: caller.key, title: <Head {...caller} />, cell: ({ said }: Line) => <Cell {...(said[at] as Said)} /> })),
  ];
  const hasRights = Object.values(known.models).some(({ rights }) => rights);
  return (
    <Dialog title="Who may do what" wide onClose={onClose} actions={<Button onClick={onClose}>Done</Button>}>
      <div class="rights">
        <div class="row">
          <label class="switch grow">
            <input type="checkbox" data-focus checked={onlyDifferent} onChange={(event) => setOnlyDifferent(event.currentTarget.checked)} />
            Only where they differ
          </label>
          <Button small icon="key" onClick={showLogin}>
            {all.length > 1 ? "Log in as another user" : "Log in to compare"}
          </Button>
        </div>
        <Tabs
          label="What is compared"
          items={[
            { key: "acts", label: "Acts" },
            { key: "models", label: "Models" },
          ]}
          value={shown}
          onChange={setShown}
        >
          {shown === "models" && !hasRights ? (
            <p class="muted rights-none">This service has no policies: every act decides what it shows.</p>
          ) : (
            <Table label={shown === "acts" ? "Acts by user" : "Models by user"} columns={columns} rows={lines} rowKey={({ key }) => key} />
          )}
        </Tabs>
      </div>
    </Dialog>
  );
}

function Head({ who, role }: Caller) {
  return (
    <span class="rights-who">
      {who}
      <span>{role === undefined ? "role unknown" : (role ?? "not signed in")}</span>
    </span>
  );
}

const ICONS = { yes: "check", no: "lock", part: "check", unknown: "more" } as const;

function Cell({ look, text }: Said) {
  return (
    <span class={`rights-said ${look}`}>
      <Icon name={ICONS[look]} /> {text}
    </span>
  );
}

function actLines(known: Catalog, all: readonly Caller[], onClose: () => void): Line[] {
  return allActs(known).map(({ spec, ...place }) => ({
    key: titleOf(place),
    name: (
      <button
        type="button"
        class="rights-act"
        onClick={() => {
          onClose();
          showAct(place);
        }}
      >
        <CallName {...place} />
      </button>
    ),
    said: all.map(({ role }): Said => {
      const may = mayCall(spec, role);
      if (may === undefined) return { look: "unknown", text: "depends on the role" };
      return may ? { look: "yes", text: "may call" } : { look: "no", text: role === null ? "has to log in" : "may not" };
    }),
  }));
}

function modelLines(known: Catalog, all: readonly Caller[]): Line[] {
  return Object.keys(known.models).map((model) => ({
    key: model,
    name: <code>{model}</code>,
    said: all.map(({ role }): Said => {
      if (role === undefined) return { look: "unknown", text: "depends on the role" };
      const rights = rightsOf(known, model, role);
      return { look: lookOf(rights), text: rightsText(rights) };
    }),
  }));
}

function lookOf(rights: Rights | undefined): Said["look"] {
  if (rights?.sees === false) return "no";
  return rights && (rights.rows || !rights.writes || rights.hidden.length || rights.fixed.length) ? "part" : "yes";
}

function rightsText(rights: Rights | undefined): string {
  if (!rights) return "everything";
  if (!rights.sees) return "nothing";
  const { rows, writes, own, fixed } = rights;
  const hidden = rights.hidden.filter((name) => !own.includes(name));
  const parts = [
    rows ? "some documents" : "all documents",
    hidden.length > 0 && `without ${hidden.join(", ")}`,
    own.length > 0 && `${own.join(", ")} in their own only`,
    !writes && "read only",
    writes && fixed.length > 0 && `may not change ${fixed.join(", ")}`,
  ];
  return parts.filter(Boolean).join("; ");
}

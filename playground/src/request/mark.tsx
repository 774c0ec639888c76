/** What an act seems to do, judged by its name, and whether it may be called. */

import { Fragment } from "preact";
import type { Act, Place } from "../catalog";
import { titleOf } from "../library/reading";
import { plainText } from "../library/words";
import { identity, mayCall, token } from "../state";
import { Icon } from "../ui";

const MARKS = [
  { word: "read", verb: /^(get|list|find|count|search|read)(?![a-z])/ },
  { word: "delete", verb: /^(remove|delete|purge|clear)(?![a-z])/ },
  { word: "write", verb: /^(add|create|update|set|put|save|move|import)(?![a-z])/ },
] as const;

function wordOf(act: string): string | undefined {
  return MARKS.find(({ verb }) => verb.test(act))?.word;
}

/** What the marks say, for the `aria-description` of the button that they are in: its name is that of the act alone. */
export function saidOf(act: string, spec?: Act): string | undefined {
  const said = [wordOf(act), spec && lockText(spec), plainText(spec?.description)];
  return said.filter(Boolean).join(". ") || undefined;
}

/** For the eye only: other names have no mark, and `saidOf` says it to those who listen. */
export function ActMark({ act }: { act: string }) {
  const word = wordOf(act);
  return word ? <span class={`act-mark ${word}`} data-word={word} title="Judged by its name" aria-hidden="true" /> : null;
}

/** Whether whoever is signed in cannot call an act, as far as the page knows: the service decides. */
export function isLocked(spec: Act): boolean {
  const own = identity.value?.session.roles ?? [];
  if (!token.value) return mayCall(spec, null) === false;
  return own.length > 0 && own.every(({ name }) => mayCall(spec, name) === false);
}

/** Why an act is locked; empty where it is not. */
function lockText(spec: Act): string {
  if (!isLocked(spec)) return "";
  return token.value ? "Not for your role" : "Log in to call it";
}

/** Only where it is locked: what is open to those who look needs no mark. */
export function ActLock({ spec }: { spec: Act }) {
  const why = lockText(spec);
  if (!why) return null;
  return (
    <span class="act-lock" aria-hidden="true" title={why}>
      <Icon name="lock" />
    </span>
  );
}

/** The name of an act with its model, and with its service where that is another one: as `titleOf` says it. */
export function CallName({ service, model, act }: Place) {
  return (
    <>
      {service !== "main" && <span class="act muted">{service}: </span>}
      <ActName model={model} act={act} />
    </>
  );
}

/** The name that was given to a request, as that of its act where it is the same. */
export function GivenName({ name, request }: { name: string; request: Place }) {
  return name === titleOf(request) ? <CallName {...request} /> : <>{name}</>;
}

/** A name that narrow places break between its words. Read out it would be several: what it is in needs a name. */
export function ActWord({ act }: { act: string }) {
  const words = act.split(/(?<=[a-z\d])(?=[A-Z])/);
  return (
    <>
      {words.map((word, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {word}
        </Fragment>
      ))}
    </>
  );
}

/** The name of an act with its model: `user.getUsers`. */
export function ActName({ model, act }: { model: string; act: string }) {
  return (
    <span class="act">
      <span class="muted">{model}.</span>
      {act}
    </span>
  );
}

/** Named sets of variables, such as local and staging: `{{name}}` in a request stands for the value of the chosen one. */

import { computed, effect, signal } from "@preact/signals";
import type { Json } from "../json";
import { Unreadable, readList, readPlain, readText } from "../library/reading";
import { isSecretName } from "../library/secrets";
import { notify } from "../ui/notice";
import { collection } from "./collection";
import { fill, hex, type Values } from "./fill";
import type { ActRequest } from "./request";
import { keep, load } from "./storage";

export interface EnvironmentVariable {
  id: string;
  name: string;
  value: string;
}
export interface Environment {
  id: string;
  /** When it was made, in milliseconds since 1970: their order. */
  created: number;
  name: string;
  /** Of the gateway there, in code and exported tests; empty for the one of this page. */
  url: string;
  variables: EnvironmentVariable[];
}

const MOST_VARIABLES = 100;
const LONGEST_URL = 2_000;
const LONGEST_VALUE = 100_000;

const kept = collection<Environment>("environment", {
  read: (value, id) => readEnvironment(value, id),
  // What is a secret by its name is nowhere but in this page.
  write: (one) => ({ ...one, variables: one.variables.map((each) => (isSecretName(each.name) ? { ...each, value: "" } : each)) }),
  merge,
  list: { name: "environments", idOf: ({ id }) => id },
});
export const environmentsRefusal = kept.refusal;
export const environments = computed(() =>
  [...kept.entries.value.values()].sort((one, other) => one.created - other.created || (one.id < other.id ? -1 : 1)),
);
const chosenId = signal(load("environment", (value) => readText(value, "environment"), "session") ?? "");
/** The one of this browser tab. */
export const environment = computed(() => kept.entries.value.get(chosenId.value));

effect(() => {
  keep("environment", chosenId.value || undefined, "session");
});

function readEnvironment(value: unknown, id: string): Environment {
  const given = readPlain(value, "environment");
  return {
    id,
    created: typeof given.created === "number" ? given.created : 0,
    name: readText(given.name, "name"),
    url: typeof given.url === "string" ? given.url.slice(0, LONGEST_URL) : "",
    variables: readList(given.variables, "variables", MOST_VARIABLES).map((one) => {
      const { id, name, value } = readPlain(one, "variables");
      if (typeof name !== "string" || typeof value !== "string") throw new Unreadable("variables: expected texts");
      return { id: readText(id, "id"), name, value: value.slice(0, LONGEST_VALUE) };
    }),
  };
}

/** What another tab has written, with our secrets: those are not kept, so it has none. */
function merge(ours: Environment, theirs: Environment): Environment {
  const valueOf = (one: EnvironmentVariable) => {
    const before = ours.variables.find(({ id }) => id === one.id);
    return before && isSecretName(one.name) && !one.value ? before.value : one.value;
  };
  return { ...theirs, variables: theirs.variables.map((one) => ({ ...one, value: valueOf(one) })) };
}

/** Use another one in this browser tab; "" for none. */
export function chooseEnvironment(id: string): void {
  chosenId.value = id;
}

export function putEnvironment(one: Environment): void {
  kept.put(one.id, one);
}

/** Add an empty one and use it. */
export function addEnvironment(name: string): void {
  const id = hex(8);
  kept.put(id, { id, created: Date.now(), name, url: "", variables: [] });
  chosenId.value = id;
}

/** Remove one; it can be had back for some seconds. */
export function removeEnvironment(gone: Environment): void {
  const was = chosenId.value;
  kept.remove(gone.id);
  const undo = () => {
    kept.put(gone.id, gone);
    chosenId.value = was;
  };
  notify(`“${gone.name}” removed.`, { undo });
}

/** Remove a variable; it can be had back for some seconds. */
export function removeEnvironmentVariable({ id, variables }: Environment, gone: EnvironmentVariable): void {
  const at = variables.indexOf(gone);
  const change = (edit: (all: EnvironmentVariable[]) => EnvironmentVariable[]) => {
    const now = kept.entries.value.get(id);
    if (now) kept.put(id, { ...now, variables: edit(now.variables) });
  };
  change((all) => all.filter((one) => one.id !== gone.id));
  notify(`${gone.name || "Variable"} removed.`, { undo: () => change((all) => [...all.slice(0, at), gone, ...all.slice(at)]) });
}

/** Where the gateway of the chosen one is, for code and exported tests; empty where that is not said. */
export function environmentUrl(): string {
  return environment.value?.url.trim() ?? "";
}

/** The values of the chosen one, by name. */
export function environmentValues(): Values {
  return new Map((environment.value?.variables ?? []).map(({ name, value }): [string, Json] => [name, value]));
}

/**
 * Return a value as it is sent: with generated values and the variables of the chosen environment filled in.
 *
 * Throws `Unreadable` for a variable that it does not have; where none is chosen, for any.
 */
export function fillIn<T extends Json>(value: T): T {
  return fill(value, environmentValues()) as T;
}

/** Return a request as it is sent. Throws `Unreadable`. */
export function filledIn(request: ActRequest): ActRequest {
  return { ...request, set: fillIn(request.set), get: fillIn(request.get) };
}

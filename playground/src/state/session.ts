/** Who is signed in: what the reply of a log-in said, kept beside its token. */

import { computed, effect, signal } from "@preact/signals";
import { allActs, type Catalog, type PlacedAct } from "../catalog";
import { isObject, parse, type Json, type JsonObject } from "../json";
import { Unreadable, readList, readPlain, readText } from "../library/reading";
import { isSecretName } from "../library/secrets";
import { givesToken } from "./empty";
import { keepToken, token } from "./settings";
import { keep, load } from "./storage";

export interface Role {
  id: string;
  name: string;
}
interface Session {
  /** As they named themselves to log in; empty where that is not known. */
  who: string;
  roles: Role[];
}

const MOST_ROLES = 100;
/** With the token that came with it: another token is another session. */
const last = signal({ token: token.value, session: load("session", readSession, "session") });

/** Of the token that is sent; undefined where it was not got by a log-in here. */
export const session = computed<Session | undefined>(() =>
  token.value && last.value.token === token.value ? last.value.session : undefined,
);

effect(() => {
  keep("session", keepToken.value ? session.value : undefined, "session");
});

function readSession(value: unknown): Session {
  const { who, roles } = readPlain(value, "session");
  if (typeof who !== "string") throw new Unreadable("session.who: expected a text");
  return { who, roles: readList(roles, "session.roles", MOST_ROLES).map(readRole) };
}

function readRole(value: unknown, at: number): Role {
  const { id, name } = readPlain(value, `session.roles.${at}`);
  return { id: readText(id, "id"), name: readText(name, "name") };
}

/** Send the token of a reply with every later call, if it has one; `set` is what was sent for it. */
export function signIn(set: JsonObject, body: Json): boolean {
  const found = tokenIn(body);
  if (!found) return false;
  const names = Object.entries(set).filter(([name, value]) => typeof value === "string" && !isSecretName(name));
  last.value = { token: found, session: { who: String(names[0]?.[1] ?? ""), roles: rolesIn(body) } };
  token.value = found;
  return true;
}

/** The text under `token` in a body, at most three levels down. */
export function tokenIn(body: Json): string | undefined {
  return findIn(body, (inner) => (typeof inner.token === "string" && inner.token ? inner.token : undefined));
}

/** The roles in a body whose ids an act may be told. */
function rolesIn(body: Json): Role[] {
  const found = findIn(body, ({ roles }) => (Array.isArray(roles) ? roles : undefined)) ?? [];
  return found.slice(0, MOST_ROLES).flatMap((role) => {
    if (!isObject(role) || typeof role.roleId !== "string" || !role.roleId) return [];
    return [{ id: role.roleId, name: typeof role.name === "string" && role.name ? role.name : role.roleId }];
  });
}

function findIn<T>(body: Json, find: (part: JsonObject) => T | undefined, levels = 3): T | undefined {
  if (!isObject(body) || levels === 0) return undefined;
  const parts = () => Object.values(body).map((inner) => findIn(inner, find, levels - 1));
  return find(body) ?? parts().find((one) => one !== undefined);
}

/** When the token expires, where it says so as a JSON Web Token. */
export function expiryOf(given: string): Date | undefined {
  try {
    const payload = given.split(".")[1] ?? "";
    const bytes = Uint8Array.from(atob(payload.replace(/-/g, "+").replace(/_/g, "/")), (one) => one.charCodeAt(0));
    const claims = parse(new TextDecoder().decode(bytes));
    const exp = isObject(claims) ? Number(claims.exp) : NaN;
    return Number.isFinite(exp) && exp > 0 && exp < 8.64e12 ? new Date(exp * 1000) : undefined;
  } catch {
    return undefined;
  }
}

/** The act that one logs in with: of several, the one whose name says so. */
export function loginOf(catalog: Catalog): PlacedAct | undefined {
  const found = allActs(catalog).filter(({ spec }) => givesToken(spec.returns) && spec.access !== "rule");
  return found.find(({ act }) => /log_?in|sign_?in/i.test(act)) ?? found[0];
}

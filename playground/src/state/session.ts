/** Who is signed in, maybe several side by side: their tokens, and what the replies of their log-ins said. */

import { batch, computed, effect, signal } from "@preact/signals";
import { allActs, type Catalog, type PlacedAct } from "../catalog";
import { isObject, parse, type Json, type JsonObject } from "../json";
import { Unreadable, readList, readPlain, readText } from "../library/reading";
import { isSecretName } from "../library/secrets";
import { givesToken } from "./empty";
import { hex } from "./fill";
import { keepToken, token } from "./settings";
import { keep, load } from "./storage";
import { textsOf, titleOfId } from "./titles";

export interface Role {
  id: string;
  name: string;
  /** What else the role says of itself, such as where it holds: words and ids. */
  more?: string[];
}
interface Session {
  /** As they named themselves to log in; empty where that is not known. */
  who: string;
  roles: Role[];
}
/** Somebody who has logged in here. */
export interface Identity {
  id: string;
  token: string;
  session: Session;
}

/** The name by which acts are told in which role they are called. */
export const ROLE = "activeRoleId";
const MOST_ROLES = 100;
/** Of a role, beside its name. */
const MOST_TEXTS = 4;
const MOST_IDENTITIES = 20;
/** Of a tab that sends no token, whoever is signed in. */
export const NOBODY = "nobody";

/** Who is signed in, in the order of their log-ins; like the token they are nowhere but in this browser tab. */
export const identities = signal<Identity[]>(load("identities", readIdentities, "session") ?? []);
/** Whose token is sent by tabs that name nobody; undefined where it was not got by a log-in here. */
export const identity = computed(() => identities.value.find((one) => one.token === token.value));

effect(() => {
  keep("identities", keepToken.value && identities.value.length ? identities.value : undefined, "session");
});

function readIdentities(value: unknown): Identity[] {
  return readList(value, "identities", MOST_IDENTITIES).map((one, at) => {
    const { id, token, session } = readPlain(one, `identities.${at}`);
    if (typeof token !== "string") throw new Unreadable(`identities.${at}.token: expected a text`);
    return { id: readText(id, `identities.${at}.id`), token, session: readSession(session) };
  });
}

function readSession(value: unknown): Session {
  const { who, roles } = readPlain(value, "session");
  if (typeof who !== "string") throw new Unreadable("session.who: expected a text");
  return { who, roles: readList(roles, "session.roles", MOST_ROLES).map(readRole) };
}

function readRole(value: unknown, at: number): Role {
  const { id, name, more } = readPlain(value, `session.roles.${at}`);
  const texts = Array.isArray(more) ? more.filter((one) => typeof one === "string") : [];
  return { id: readText(id, "id"), name: readText(name, "name"), ...(texts.length && { more: texts }) };
}

/** Send the token of a reply with every later call, if it has one; `set` is what was sent for it. */
export function signIn(set: JsonObject, body: Json): boolean {
  const found = tokenIn(body);
  if (!found) return false;
  const names = Object.entries(set).filter(([name, value]) => typeof value === "string" && !isSecretName(name));
  const who = String(names[0]?.[1] ?? "");
  const before = identities.value.find((one) => one.token === found || (who && one.session.who === who));
  const roles = rolesIn(body);
  const session = { who, roles: roles.length ? roles : (before?.session.roles ?? []) };
  const rest = identities.value.filter((one) => one !== before);
  batch(() => {
    identities.value = [...rest, { id: before?.id ?? hex(4), token: found, session }].slice(-MOST_IDENTITIES);
    token.value = found;
  });
  return true;
}

/** Send another one's token from now on. */
export function switchTo(one: Identity): void {
  token.value = one.token;
}

/** Forget somebody; where theirs is the token that is sent, it is the one of the latest other log-in then. */
export function logOut(gone: Identity): void {
  const rest = identities.value.filter((one) => one !== gone);
  batch(() => {
    identities.value = rest;
    if (token.value === gone.token) token.value = rest.at(-1)?.token ?? "";
  });
}

/** Whose token a tab sends, by its `as`: "" is the one that is signed in; undefined for nobody, or nobody who is known. */
export function identityOf(as: string): Identity | undefined {
  return as ? identities.value.find(({ id }) => id === as) : identity.value;
}

/** Where a role holds, as far as that has a name: `organization Harbour Works`. */
export function whereOf({ more = [] }: Role): string {
  return more.map((text) => titleOfId(text) ?? (/^[0-9a-f]{24}$/i.test(text) ? "" : text)).filter(Boolean).join(" ");
}

/** The token that a tab sends: undefined where it names somebody who is not signed in any more. */
export function tokenOf(as: string): string | undefined {
  if (as === NOBODY) return "";
  return as ? identityOf(as)?.token : token.value;
}

/** How somebody is called in lists: by their name and roles. */
export function nameOf({ session: { who, roles } }: Identity): string {
  const named = roles.map(({ name }) => name).join(", ");
  return named ? `${who || "Somebody"} (${named})` : who || "Somebody";
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
    const { roleId, name, ...rest } = role;
    const more = textsOf(rest).slice(0, MOST_TEXTS);
    return [{ id: roleId, name: typeof name === "string" && name ? name : roleId, ...(more.length && { more }) }];
  });
}

function findIn<T>(body: Json, find: (part: JsonObject) => T | undefined, levels = 3): T | undefined {
  if (!isObject(body) || levels === 0) return undefined;
  const parts = () => Object.values(body).map((inner) => findIn(inner, find, levels - 1));
  return find(body) ?? parts().find((one) => one !== undefined);
}

/** When a token expires, where it says so as a JSON Web Token. */
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

/** Reading requests from outside: files, links and what the browser kept. */

import { isObject, parse, type JsonObject } from "../json";
import type { ActRequest } from "../state/request";

/** What was read is not what was expected; the message says where and what. */
export class Unreadable extends Error {}

/** Most characters of a name that is shown. */
const LONGEST_NAME = 200;
/** The server takes no deeper bodies, and readers here recurse. */
const DEEPEST = 64;

export type Plain = Record<string, unknown>;

/** Return a request that was read from outside, with the keys of one and no other. Throws `Unreadable`. */
export function readRequest(value: unknown, where: string): ActRequest {
  const given = readPlain(value, where);
  return {
    service: given.service === undefined ? "main" : readText(given.service, `${where}.service`),
    model: readText(given.model, `${where}.model`),
    act: readText(given.act, `${where}.act`),
    set: readDetails(given.set, `${where}.set`),
    get: readDetails(given.get, `${where}.get`),
  };
}

/** Return an object. Throws `Unreadable`. */
export function readPlain(value: unknown, where: string): Plain {
  if (!isObject(value)) throw new Unreadable(`${where}: expected an object`);
  return value;
}

/** Return a text that is not empty and not too long. Throws `Unreadable`. */
export function readText(value: unknown, where: string, longest = LONGEST_NAME): string {
  if (typeof value !== "string" || value === "") throw new Unreadable(`${where}: expected a text that is not empty`);
  if (value.length > longest) throw new Unreadable(`${where}: longer than ${longest} characters`);
  return value;
}

/** Return a list of at most so many. Throws `Unreadable`. */
export function readList(value: unknown, where: string, most: number): unknown[] {
  if (!Array.isArray(value)) throw new Unreadable(`${where}: expected a list`);
  if (value.length > most) throw new Unreadable(`${where}: more than ${most}`);
  return value;
}

/** Return what a JSON text says. Throws `Unreadable`. */
export function readJson(text: string, what: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    throw new Unreadable(`${what} is not JSON: ${error instanceof Error ? error.message : "unreadable"}`);
  }
}

function readDetails(value: unknown, where: string): JsonObject {
  if (value === undefined) return {};
  const given = readPlain(value, where);
  if (!isShallow(given, DEEPEST)) throw new Unreadable(`${where}: more than ${DEEPEST} levels deep`);
  return given as JsonObject;
}

function isShallow(value: unknown, levels: number): boolean {
  if (!isObject(value) && !Array.isArray(value)) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

/** Return how a call is named where it has no name of its own. */
export function titleOf(call: { service: string; model: string; act: string }): string {
  return call.service === "main" ? `${call.model}.${call.act}` : `${call.service}: ${call.model}.${call.act}`;
}

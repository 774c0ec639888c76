/** The requests in a text: curl commands, or bodies as they are sent. */

import { GATEWAY_URL } from "../catalog";
import { isObject, parse, problemIn } from "../json";
import { readList, readPlain, readRequest, Unreadable } from "../library/reading";
import { actOf } from "../catalog";
import { catalog, MOST_TABS, tokenHeaders, type ActRequest } from "../state";
import { sentBy, type Sent } from "./curl";
import { commandsIn, FILLED } from "./words";

export interface Pasted {
  requests: ActRequest[];
  /** The `Idempotency-Key`; empty for none. */
  key: string;
  /** Where commands have one: the first. */
  token: string;
  /** Those that a browser does not set by itself. */
  headers: [name: string, value: string][];
  /** In words: what is left aside or otherwise. */
  notes: string[];
  /** In words: why something of it cannot be read. */
  problems: string[];
}

/** Return what a text asks for. Throws `Unreadable`, with a sentence. */
export function readPasted(text: string): Pasted {
  if (/^\s*[{[]/.test(text)) return { requests: requestsIn(text), key: "", token: "", headers: [], notes: [], problems: [] };
  if (/^\s*(Invoke-WebRequest|Invoke-RestMethod|\$session)/i.test(text)) throw new Unreadable("This is a command for PowerShell. Copy it as cURL, for bash or cmd");
  const commands = commandsIn(text).flatMap(sentBy);
  if (commands.length === 0) throw new Unreadable("This is neither a curl command nor the body of a request");
  const all = commands.map(ofCommand);
  return {
    requests: all.flatMap(({ requests }) => requests).slice(0, MOST_TABS),
    key: all.length === 1 ? (all[0]?.key ?? "") : "",
    token: all.find(({ token }) => token)?.token ?? "",
    headers: [...new Map(all.flatMap(({ headers }) => headers)).entries()],
    notes: [...new Set(all.flatMap(({ notes }) => notes))],
    problems: all.flatMap(({ problems }, at) => problems.map((one) => (all.length > 1 ? `Command ${at + 1}: ${one}` : one))),
  };
}

/** Headers that a browser sets by itself, or this page. */
const OWN = /^(accept.*|cache-control|connection|content-.*|cookie|dnt|host|idempotency-key|origin|pragma|priority|referer|sec-.*|te|upgrade-insecure-requests|user-agent|x-gateway(-detail)?|x-requested-with|postman-token)$/i;

/** What a shell would fill in. */
const VARIABLE = new RegExp(`${FILLED}(\\$(?:\\w+|\\{[^}]*\\}|\\(.*?\\)))`, "gu");

function asWritten(text: string): string {
  return text.replaceAll(FILLED, "");
}

function ofCommand(sent: Sent): Pasted {
  const { body, headers, notes, method, url } = sent;
  const given = headers.filter(([, value]) => !value.includes(FILLED));
  const places = tokenHeaders().map(({ name, before }) => ({ name: name.toLowerCase(), before }));
  const placeOf = ([name]: [string, string]) => places.find((one) => one.name === name.toLowerCase());
  const tokens = given.map((one) => tokenOf(one[1], placeOf(one)?.before));
  const host = hostOf(asWritten(url));
  const filled = [...new Set(Array.from(body.matchAll(VARIABLE), ([, name]) => name))];
  const [requests, problem] = body || notes.length === 0 ? attempt(asWritten(body), filled) : [[], ""];
  return {
    requests,
    problems: problem ? [problem] : [],
    key: given.find(([name]) => name.toLowerCase() === "idempotency-key")?.[1] ?? "",
    token: tokens.find(Boolean) ?? "",
    headers: given.filter((one) => !placeOf(one) && !OWN.test(one[0])),
    notes: [
      ...(host ? [`It calls ${host}; this page calls ${GATEWAY_URL}.`] : []),
      ...(method && method !== "POST" ? [`It uses ${method}; acts are called with POST.`] : []),
      ...(headers.length > given.length ? ["Headers with variables of the shell are left out."] : []),
      ...(given.some(([name]) => /^cookie$/i.test(name)) && !tokens.some(Boolean) ? ["Cookies are left out: the browser sends its own."] : []),
      ...(filled.length && !problem ? [`The shell would fill in ${filled.join(", ")}: write the values yourself.`] : []),
      ...notes.map(asWritten),
    ],
  };
}

/** The requests of a body, or why there are none: perhaps the shell would fill in `filled`. */
function attempt(body: string, filled: readonly (string | undefined)[]): [ActRequest[], string] {
  try {
    return [requestsIn(body), ""];
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [[], filled.length ? `The shell would fill in ${filled.join(", ")}: paste what that gives in its place.` : sentence(error)];
  }
}

/** What an error says, with its full stop. */
export function sentence({ message }: Error): string {
  return /[.!?]$/.test(message) ? message : `${message}.`;
}

/** The token in a header of one place, behind what stands before it; among cookies that of its name. */
function tokenOf(value: string, before: string | undefined): string {
  if (before === undefined) return "";
  const found = before.endsWith("=") ? value.split(/;\s*/).find((one) => one.startsWith(before)) : value;
  return found?.toLowerCase().startsWith(before.toLowerCase()) ? found.slice(before.length).trim() : "";
}

/** Where a command calls, where that is another place than this page's. */
function hostOf(url: string): string {
  const full = /^https?:\/\//i.test(url) ? url : `http://${url}`;
  if (!url || url.includes("{{") || /^\$/.test(url) || !URL.canParse(full)) return url.includes("{{") || !url ? "" : url;
  const { origin, pathname } = new URL(full);
  return `${origin}${pathname.replace(/\/$/, "")}` === GATEWAY_URL ? "" : `${origin}${pathname}`;
}

/** The requests of a body: one, or those of a batch. */
function requestsIn(text: string): ActRequest[] {
  if (!text.trim()) throw new Unreadable("The command sends no body, so it calls no act");
  const problem = problemIn(text);
  if (problem) throw new Unreadable(`The body is no JSON. ${problem}`);
  const body = parse(text);
  const items = isObject(body) && body.batch !== undefined ? readList(body.batch, "batch", MOST_TABS) : Array.isArray(body) ? body : [body];
  return items.map((one) => {
    const { details = {}, ...place } = readPlain(one, "body");
    if (!isObject(one) || one.act === undefined || one.model === undefined) throw new Unreadable("The body has no model and act");
    return readRequest({ ...place, ...readPlain(details, "details") }, "body");
  });
}

/** The places of requests whose acts this service does not have. */
export function unknownIn(requests: readonly ActRequest[]): ActRequest[] {
  return requests.filter((one) => catalog.value && !actOf(catalog.value, one));
}

/** What a curl command sends, as far as its words say so. Pure. */

import type { Command } from "./words";

export interface Sent {
  url: string;
  /** POST unless the command says otherwise. */
  method: string;
  headers: [name: string, value: string][];
  body: string;
  /** In words: what of the command is left aside. */
  notes: string[];
  /** What the command reads as its input. */
  input: string | undefined;
}

/** Options with a value that says nothing of what is sent; the letters are short ones. */
const ASIDE =
  /^(user-agent|referer|output|max-time|connect-timeout|proxy|cookie-jar|upload-file|write-out|retry(-delay|-max-time)?|cert|key|cacert|capath|resolve|interface|limit-rate|config|continue-at|range|max-redirs|ciphers|dump-header|user|proxy-user|noproxy|proxy-header|cert-type|key-type|pass|unix-socket|connect-to|output-dir|stderr|trace(-ascii)?|speed-(limit|time)|keepalive-time|url-query|netrc-file)$/;
const LETTERS: Readonly<Record<string, string>> = { X: "request", H: "header", d: "data", F: "form", b: "cookie", G: "get", u: "user" };
const ASIDE_LETTERS = "AeomxcTwECrKDUyYzQPt";
const WITH_VALUE = /^(request|header|data(-raw|-binary|-ascii|-urlencode)?|json|form(-string)?|cookie|oauth2-bearer|url)$/;

/** Read a command, which may send several requests; nothing where it is none of curl. */
export function sentBy({ words, input }: Command): Sent[] {
  const start = words.findIndex((word) => /^(.*[/\\])?curl(\.exe)?$/.test(word));
  if (start < 0 || words.slice(0, start).some((word) => !/^(\$|%|>|sudo|time|\w+=.*)$/.test(word))) return [];
  const next = words.findIndex((word, at) => at > start && /^(--next|-:)$/.test(word));
  if (next > 0) return [...sentBy({ words: words.slice(0, next), input }), ...sentBy({ words: ["curl", ...words.slice(next + 1)], input })];
  const sent: Sent = { url: "", method: "", headers: [], body: "", notes: [], input };
  const rest = words.slice(start + 1);
  while (rest.length > 0) {
    const word = rest.shift() as string;
    if (word.startsWith("--")) long(sent, word.slice(2), rest);
    else if (/^-./.test(word)) short(sent, word.slice(1), rest);
    else sent.url ||= word;
  }
  return [sent];
}

function long(sent: Sent, name: string, rest: string[]): void {
  const takes = WITH_VALUE.test(name) || ASIDE.test(name);
  take(sent, name, takes ? (rest.shift() ?? "") : "");
}

/** Letters in one word; the last one may have its value behind it or in the next word. */
function short(sent: Sent, letters: string, rest: string[]): void {
  const [letter = ""] = letters;
  const name = LETTERS[letter] ?? "";
  if (WITH_VALUE.test(name) || ASIDE.test(name) || ASIDE_LETTERS.includes(letter)) return take(sent, name, letters.slice(1) || (rest.shift() ?? ""));
  take(sent, name, "");
  if (letters.length > 1) short(sent, letters.slice(1), rest);
}

/** The part of a form that is the JSON. */
const BODY_PART = "gateway-body";

function take(sent: Sent, name: string, value: string): void {
  if (name === "request") sent.method = value.toUpperCase();
  else if (name === "get") sent.method = "GET";
  else if (name === "url") sent.url ||= value;
  else if (name === "cookie") sent.headers.push(["Cookie", value]);
  else if (name === "oauth2-bearer") sent.headers.push(["Authorization", `Bearer ${value}`]);
  else if (name === "user") sent.notes.push("The user and password of -u are left out.");
  else if (name === "header") takeHeader(sent, value);
  else if (name.startsWith("form")) takePart(sent, value, name === "form");
  else if (name === "json" || name.startsWith("data")) takeData(sent, value, name !== "data-raw");
}

function takeHeader(sent: Sent, text: string): void {
  const [, name = "", value = ""] = /^([^:;]+)[:;](.*)$/s.exec(text) ?? [];
  if (name.trim() && value.trim()) sent.headers.push([name.trim(), value.trim()]);
}

function takeData(sent: Sent, text: string, isFile: boolean): void {
  if (isFile && text.startsWith("@")) takeFile(sent, text.slice(1));
  else sent.body += (sent.body && "&") + text;
}

/** A body that is not in the command: what the command reads may be there. */
function takeFile(sent: Sent, name: string): void {
  const isInput = name === "-" || name === "/dev/stdin";
  if (isInput && sent.input !== undefined) sent.body += (sent.body && "&") + sent.input;
  else sent.notes.push(isInput ? "The body is what the command reads, which is not in this text: paste that." : `The body is in the file ${name}: paste what that has.`);
}

function takePart(sent: Sent, text: string, isFile: boolean): void {
  const [, name = "", value = ""] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
  const file = /^[@<]"?([^";]*)/.exec(value)?.[1];
  if (name === BODY_PART && !(isFile && file !== undefined)) sent.body = isFile ? partText(value) : value;
  else if (name === BODY_PART) takeFile(sent, file ?? "");
  else if (isFile && file !== undefined) sent.notes.push(`${name} is the file ${file}: choose it in the form.`);
  else sent.notes.push(`The part ${name} of the form is left out.`);
}

/** The text of a part without its type; it may be quoted, as Postman does. */
function partText(value: string): string {
  const quoted = /^"((?:\\["\\]|[^"])*)"/.exec(value)?.[1];
  return quoted?.replace(/\\(["\\])/g, "$1") ?? value.replace(/;type=[\w/+.-]*$/, "");
}

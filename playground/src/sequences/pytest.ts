/** A sequence as a test file: pytest runs it, with Python's own library only. */

import type { Json } from "../catalog";
import { isObject } from "../json";
import { isSecretName } from "../library/secrets";
import { literal, python, shellWord } from "../snippets/literals";
import { tokenHeaders } from "../state/carriers";
import { bodyOf } from "../state/request";
import { NAMES, PLACEHOLDER, type Values } from "../state/fill";
import { parsePath } from "./path";
import { withRolesApart, type RoleVariable } from "./roles";
import { withSecretsApart } from "./secrets";
import { isPublic } from "./shapes";
import type { Capture, Check, Sequence, SequenceStep, Variable } from "./types";
import { namesOf, usedIn } from "./variable-names";

/**
 * Return the text of the file; `url` is the endpoint it calls unless GATEWAY_URL says another one, `given` the values
 * of the environment. No password or token is in it.
 */
export function pytestOf(sequence: Sequence, url: string, given: Values = new Map()): string {
  const [{ name, variables, steps }, roles] = complete(sequence, given);
  const lines = [
    "    body: Any\n    values: dict[str, Any] = {}\n",
    ...variables.map(variableLine),
    ...roles.map(roleLine),
    ...steps.map((step, at) => stepLines(step, at + 1)),
  ];
  const needed = neededBy(sequence, given).map(({ name, what, isRequired, isToken }) => `${name}: ${what}${isRequired || isToken ? "" : " May be left out."}\n`);
  return `"""Requests to a gateway in an order, made with its playground; a wrong reply fails the test.

It reads these variables of the environment:

GATEWAY_URL: The address of the gateway, with or without /gateway at its end. May be left out.
${needed.join("")}"""

from __future__ import annotations

import json
import os
import re
import secrets
import urllib.error
import urllib.request
import uuid
from datetime import datetime, timezone
from typing import Any

URL = os.environ.get("GATEWAY_URL", ${literal(baseOf(url))}).rstrip("/").removesuffix("/gateway") + "/gateway"


def ${functionName(name)}() -> None:
    ${literal(name)}
${lines.join("")}

${RUNTIME.replace('{"token": token}', tokenHeaderOf)}`;
}

/** An address as all generated clients take it: the part before /gateway. */
export function baseOf(url: string): string {
  return url.replace(/\/+$/, "").replace(/\/gateway$/, "");
}

/** A variable of the environment that the file reads. */
export interface Needed {
  name: string;
  /** Whose value it is, in a sentence. */
  what: string;
  isToken: boolean;
  isRequired: boolean;
}

/** Return what the file of a sequence reads from the environment, its address apart. */
export function neededBy(sequence: Sequence, given: Values = new Map()): Needed[] {
  const [{ steps, variables }, roles] = complete(sequence, given);
  const own = steps.flatMap((step, at) => (step.token === "current" ? [{ number: at + 1, isRequired: needsToken(step) }] : []));
  const numbers = own.map(({ number }) => number).join(", ");
  const what = `The token that ${own.length > 1 ? `steps ${numbers} send` : `step ${numbers} sends`}.`;
  const isRequired = own.some((one) => one.isRequired);
  return [
    ...(own.length > 0 ? [{ name: "GATEWAY_TOKEN", what, isToken: true, isRequired }] : []),
    ...variables
      .filter(({ secret }) => secret)
      .map(({ name }) => ({ name: environmentName(name), what: useOf(name, steps), isToken: false, isRequired: true })),
    ...roles.map(({ name, numbers }) => {
      const what = `The id of the role in which ${numbers.length > 1 ? `steps ${numbers.join(", ")} are` : `step ${numbers[0]} is`} sent.`;
      return { name: environmentName(name), what, isToken: false, isRequired: false };
    }),
  ];
}

/** Return the command that runs the file, without the values of what it must have; those but a token that is given. */
export function testCommand(needed: readonly Needed[], file: string, token = ""): string {
  const wanted = needed.filter(({ isRequired, isToken }) => isRequired || (isToken && token));
  const values = wanted.map(({ name, isToken }) => `${name}=${isToken && token ? shellWord(token) : "..."}`);
  return [...values, "pytest", file].join(" ");
}

/** A sequence whose secrets and roles are variables, with those of the environment that it uses; and the roles. */
function complete(sequence: Sequence, given: Values): [Sequence, RoleVariable[]] {
  const [apart, roles] = withRolesApart(withSecretsApart(sequence));
  const taken = [...namesOf(apart), ...roles.map(({ name }) => name)];
  const used = new Set(usedIn([...apart.variables, ...apart.steps].map((one) => ("request" in one ? textsOf(one) : one.value))));
  const added = [...given].filter(([name]) => used.has(name) && !taken.includes(name));
  const variables = added.map(([name, value]) => ({ id: name, name, value, secret: isSecretName(name) }));
  return [{ ...apart, variables: [...variables, ...apart.variables] }, roles];
}

function textsOf({ request, token, checks }: SequenceStep): Json {
  return [request.set, request.get, token, ...checks.map(({ value }) => value)];
}

/** Whose value a secret variable is. */
function useOf(name: string, steps: readonly SequenceStep[]): string {
  const at = steps.findIndex((step) => usedIn(textsOf(step)).includes(name));
  const step = steps[at];
  if (!step) return `The variable ${name}.`;
  const [path] = pathsOf(step.request.set, "", name);
  return path ? `The ${oneLine(path)} of step ${at + 1}, ${oneLine(step.name)}.` : `The variable ${name}, for step ${at + 1}, ${oneLine(step.name)}.`;
}

/** The paths below `set` at which a variable stands. */
function pathsOf(value: Json, path: string, name: string): string[] {
  if (typeof value === "string") return usedIn(value).includes(name) ? [path] : [];
  if (!isObject(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, path ? `${path}.${key}` : key, name));
}

/** A name that may stand in a comment. */
function oneLine(name: string): string {
  return name.replace(/[\s"\\\x00-\x1f]+/g, " ").trim();
}

/** Whether a step is refused where it sends no token. */
function needsToken({ request, expect }: SequenceStep): boolean {
  return expect.success && !isPublic(request);
}

/** Return the dictionary of Python with the headers that carry the token. */
function tokenHeaderOf(): string {
  const sent = tokenHeaders().map(({ name, before }) => `${literal(name)}: ${before ? `f"${before}{token}"` : "token"}`);
  return `{${sent.join(", ")}}`;
}

const TAKEN = ["GATEWAY_URL", "GATEWAY_TOKEN"];

/** Return the environment variable that holds a secret variable of a sequence. */
export function environmentName(variable: string): string {
  const name = `GATEWAY_${variable.toUpperCase()}`;
  return TAKEN.includes(name) ? `${name}_VALUE` : name;
}

function functionName(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return `test_${words.slice(0, 60) || "sequence"}`;
}

function variableLine({ name, value, secret }: Variable): string {
  const found = secret ? `secret(${literal(environmentName(name))})` : `fill(${python(value, "    ")}, values)`;
  return `    values[${literal(name)}] = ${found}\n`;
}

function roleLine({ name, value }: RoleVariable): string {
  return `    values[${literal(name)}] = os.environ.get(${literal(environmentName(name))}, ${literal(value)})\n`;
}

function stepLines(step: SequenceStep, number: number): string {
  const indent = step.repeat > 1 ? "        " : "    ";
  const counted = step.repeat > 1 ? "index" : "0";
  const loop = step.repeat > 1 ? `    for index in range(${step.repeat}):\n` : "";
  const reply = step.captures.length + step.checks.length > 0 ? "reply = " : "";
  const more = [
    `token=${tokenOf(step)}`,
    ...(step.expect.success ? [] : ["success=False"]),
    ...(step.expect.status === null ? [] : [`status=${step.expect.status}`]),
  ];
  return `
${loop}${indent}values["$index"] = ${counted}
${indent}body = ${python(bodyOf(step.request) as Json, indent)}
${indent}${reply}call(${literal(`${number}. ${step.name}`)}, fill(body, values), ${more.join(", ")})
${step.checks.map((check) => checkLine(check, indent)).join("")}${step.captures.map((capture) => captureLine(capture, indent)).join("")}`;
}

function tokenOf(step: SequenceStep): string {
  const { token } = step;
  if (token === "current") return needsToken(step) ? 'secret("GATEWAY_TOKEN")' : 'os.environ.get("GATEWAY_TOKEN", "")';
  return token === "none" ? '""' : `fill(${literal(token)}, values)`;
}

function captureLine({ name, path }: Capture, indent: string): string {
  return `${indent}values[${literal(name)}] = at(reply, ${stepsOf(path)})\n`;
}

function checkLine({ path, value }: Check, indent: string): string {
  return `${indent}check(at(reply, ${stepsOf(path)}), fill(${python(value, indent)}, values), ${literal(path)})\n`;
}

function stepsOf(path: string): string {
  return parsePath(path).map((step) => (typeof step === "number" ? String(step) : literal(step))).join(", ");
}

const RUNTIME = `
def secret(name: str) -> str:
    """Return the value of an environment variable, which must have one."""
    if not os.environ.get(name):
        raise AssertionError(f"set the environment variable {name}: this file holds no passwords and tokens")
    return os.environ[name]


def call(name: str, body: Any, *, token: Any, success: bool = True, status: int | None = None) -> dict[str, Any]:
    """Send a request and return the envelope, which is what was expected."""
    headers = {"Content-Type": "application/json", "X-Gateway-Detail": "1", **({"token": token} if token else {})}
    request = urllib.request.Request(URL, as_json(body).encode("utf-8", "backslashreplace"), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as reply:
            got, envelope = reply.status, read(reply)
    except urllib.error.HTTPError as refused:
        got, envelope = refused.code, read(refused)
    message = "" if envelope["success"] else ": " + as_message(envelope["body"])
    if envelope["success"] is not success:
        raise AssertionError(f"{name}: expected {'success' if success else 'a refusal'}, got status {got}{message}")
    if status is not None and got != status:
        raise AssertionError(f"{name}: expected status {status}, got {got}{message}")
    return envelope  # type: ignore[no-any-return]  # JSON


def as_message(body: Any) -> str:
    """Return what a refusal says, with its errors by path."""
    more = [f"{path}: {' '.join(texts)}" for path, texts in body.get("errors", {}).items()]
    return "; ".join([body["message"], *(one for one in more if one not in body["message"])])


class Number(str):
    """A number with the digits that it is written with; a float would not keep them."""


def read(reply: Any) -> Any:
    return json.load(reply, parse_int=Number, parse_float=Number)


def as_json(value: Any) -> str:
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(name, ensure_ascii=False)}:{as_json(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def at(reply: Any, *steps: str | int) -> Any:
    """Return what is in a reply at a path."""
    found = reply
    for step in steps:
        is_there = step in found if isinstance(found, dict) else isinstance(found, list) and step in range(len(found))
        if not is_there:
            raise AssertionError(f"there is nothing at {steps}")
        found = found[step]
    return found


def check(found: Any, expected: Any, path: str) -> None:
    """Fail unless a value of a reply is what was expected, digit by digit."""
    if as_json(found) != as_json(expected):
        raise AssertionError(f"expected {as_json(expected)} at {path}, got {as_json(found)}")


PLACEHOLDER = re.compile(r"${PLACEHOLDER}")


def fill(value: Any, values: dict[str, Any]) -> Any:
    """Return a value with its placeholders filled in; a text that is one becomes the value itself."""
    if isinstance(value, dict):
        return {name: fill(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [fill(inner, values) for inner in value]
    if isinstance(value, Number) or not isinstance(value, str):
        return value
    if alone := PLACEHOLDER.fullmatch(value):
        return value_of(alone[1], values)
    return PLACEHOLDER.sub(lambda found: as_text(value_of(found[1], values)), value)


def as_text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def value_of(text: str, values: dict[str, Any]) -> Any:
    name, *bounds = text.split()
    if name in GENERATED:
        return GENERATED[name](*map(int, bounds))
    if text not in values:
        raise AssertionError("{{" + text + "}} has no value")
    return values[text]


NAMES = ${python([...NAMES])}
GENERATED: dict[str, Any] = {
    "$uuid": lambda: str(uuid.uuid4()),
    "$int": lambda least, most: least + secrets.randbelow(most - least + 1),
    "$name": lambda: secrets.choice(NAMES),
    "$email": lambda: f"user-{secrets.token_hex(6)}@example.com",
    "$now": lambda: datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
    "$objectId": lambda: secrets.token_hex(12),
}
`.slice(1);

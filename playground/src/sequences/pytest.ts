/** A sequence as a test file: pytest runs it, with Python's own library only. */

import { type Json } from "../catalog";
import { literal, python } from "../snippets/literals";
import { tokenHeaders } from "../state/carriers";
import { bodyOf } from "../state/request";
import { NAMES, PLACEHOLDER } from "../state/fill";
import { parsePath } from "./path";
import { withSecretsApart } from "./secrets";
import type { Capture, Check, Sequence, SequenceStep, Variable } from "./types";

/**
 * Return the text of the file; `url` is the endpoint it calls unless GATEWAY_URL says another one.
 * No password or token is in it.
 */
export function pytestOf(given: Sequence, url: string): string {
  const sequence = withSecretsApart(given);
  const secrets = sequence.variables.filter(({ secret }) => secret);
  const lines = [
    "    body: Any\n    values: dict[str, Any] = {}\n",
    ...sequence.variables.map(variableLine),
    ...sequence.steps.map((step, at) => stepLines(step, at + 1)),
  ];
  return `"""Requests to a gateway in an order, made with its playground; a wrong reply fails the test.

GATEWAY_URL is the endpoint. GATEWAY_TOKEN is the token of the calls with \`token=TOKEN\`.
${secrets.map(({ name }) => `${environmentName(name)} is the variable ${name}; it must be set.\n`).join("")}"""

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

URL = os.environ.get("GATEWAY_URL", ${literal(url)})
TOKEN = os.environ.get("GATEWAY_TOKEN", "")


def ${functionName(sequence.name)}() -> None:
    ${literal(sequence.name)}
${lines.join("")}

${RUNTIME.replace('{"token": token}', tokenHeaderOf)}`;
}

/** Return the command that runs the file, without the values of what it needs. */
export function pytestCommand(given: Sequence, file: string): string {
  const { steps, variables } = withSecretsApart(given);
  const needed = [
    ...(steps.some(({ token }) => token === "current") ? ["GATEWAY_TOKEN"] : []),
    ...variables.filter(({ secret }) => secret).map(({ name }) => environmentName(name)),
  ];
  return [...needed.map((name) => `${name}=...`), "pytest", file].join(" ");
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

function tokenOf({ token }: SequenceStep): string {
  if (token === "current") return "TOKEN";
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
    message = "" if envelope["success"] else ": " + envelope["body"]["message"]
    if envelope["success"] is not success:
        raise AssertionError(f"{name}: expected {'success' if success else 'a refusal'}, got status {got}{message}")
    if status is not None and got != status:
        raise AssertionError(f"{name}: expected status {status}, got {got}{message}")
    return envelope  # type: ignore[no-any-return]  # JSON


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

"""The cases of the corpus, and the requests they describe; `corpus.json` says how it is written."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hostile.people import PEOPLE

CORPUS = Path(__file__).with_name("corpus.json")
KEYS = {"name", "act", "service", "set", "get", "body", "text", "base64", "method", "path", "headers", "as", "token"}
KEYS |= {"hang_up", "want", "at", "says", "reply"}


@dataclass(frozen=True)
class Request:
    """What is sent; ``headers`` are pairs, and with ``hang_up`` the client stops sending then."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    hang_up: bool = False


def load():
    """Return the cases of each topic."""
    return json.loads(CORPUS.read_text())["cases"]


def request_of(case, key):
    """Return the request of a case; ``key`` is what the server signs tokens with."""
    body = _body(case)
    method = case.get("method", "POST")
    headers = [(name, _text(value)) for name, value in case.get("headers", [])]
    given = {name.lower() for name, _ in headers}
    if "content-type" not in given and method == "POST":
        headers.append(("Content-Type", "application/json"))
    if not given & {"content-length", "transfer-encoding"} and (body or method == "POST"):
        headers.append(("Content-Length", str(len(body))))
    token = {"payload": {"_id": PEOPLE[case["as"]]}} if "as" in case else case.get("token")
    for one in token if isinstance(token, list) else [token] if token is not None else []:
        headers.append(("token", one if isinstance(one, str) else forged(one, key)))
    sent = [(name, value) for name, value in headers if value is not None]
    return Request(method, _text(case.get("path", "/gateway")), tuple(sent), body, case.get("hang_up", False))


def asks_for_detail(request):
    """Whether the request asks for more than a message."""
    return ("X-Gateway-Detail", "1") in request.headers


def forged(description, key):
    """Return a token: ``header`` and ``payload`` as they are described, signed by ``key`` unless another is given."""
    header = description.get("header", {"alg": "HS256", "typ": "JWT"})
    message = b".".join(_part(part) for part in (header, description["payload"]))
    digest = description.get("hmac", "sha256")
    secret = _text(description.get("key", key)).encode()
    signature = hmac.new(secret, message, getattr(hashlib, digest)).digest() if digest else b""
    token = (message + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()
    cut = description.get("cut", 0)
    return description.get("prefix", "") + token[: len(token) - cut] + description.get("suffix", "")


def _part(part):
    return base64.urlsafe_b64encode(_dumps(part)).rstrip(b"=")


def _body(case):
    if "base64" in case:
        return base64.b64decode(case["base64"])
    if "text" in case:
        return _text(case["text"]).encode()
    if "body" in case:
        return _dumps(case["body"])
    if "act" not in case:
        return b""
    model, act = case["act"].split(".")
    service = {"service": case["service"]} if "service" in case else {}
    details = {"set": case.get("set", {}), "get": case.get("get", {"_id": 1})}
    return _dumps({**service, "model": model, "act": act, "details": details})


def _dumps(value):
    """Return JSON in which every ``{"raw": text}`` stands as its text."""
    raws: list[str] = []
    text = json.dumps(_expanded(value, raws))
    for number, raw in enumerate(raws):
        text = text.replace(f'"@raw {number}@"', raw)
    return text.encode()


def _expanded(value: Any, raws: list[str]) -> Any:
    """Return a value with what its generators describe in their place."""
    if isinstance(value, list):
        return [_expanded(item, raws) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"raw"}:
        raws.append(_text(value["raw"]))
        return f"@raw {len(raws) - 1}@"
    if value.keys() == {"repeat", "times"}:
        return value["repeat"] * value["times"]
    if value.keys() == {"ids"}:
        return [f"{number:024x}" for number in range(1, value["ids"] + 1)]
    if value.keys() == {"keys", "times", "value"}:
        return {f"{value['keys']}{number}": value["value"] for number in range(value["times"])}
    if value.keys() == {"nest", "times", "inner"}:
        inner = value["inner"]
        for _ in range(value["times"]):
            inner = {value["nest"]: inner}
        return inner
    return {key: _expanded(item, raws) for key, item in value.items()}


def _text(value):
    """Return a text: itself, one that is repeated, or several joined."""
    if isinstance(value, list):
        return "".join(map(_text, value))
    return value["repeat"] * value["times"] if isinstance(value, dict) else value

"""What must hold of every answer: no 5xx, an exact envelope, and nothing of the request or the inside in it."""

from __future__ import annotations

import http.client
import json
import re

from tests.faults.serving import KEY
from tests.hostile.case import asks_for_detail, request_of
from tests.hostile.people import HASH, PEOPLE
from tests.hostile.serving import SECRET

#: Stands in the hostile values of the corpus; no reply and no log may hold it.
MARK = "mArK5eNt"
#: Of somebody who calls in no case, so that nothing can be left from the case before.
_ORDINARY = request_of({"act": "user.getMe", "as": "other"}, KEY)
_INTERNAL = re.compile(
    r"traceback|mongo|bson|marshmallow|werkzeug|gunicorn|flask|gatewayfw|sample_service|site-packages"
    r"|/usr/|/home/|/tmp/|\.py\b|0x[0-9a-f]{6}|[A-Za-z](Error|Exception)\b",
    re.IGNORECASE,
)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
#: What a log may not hold: secrets, a traceback, and what servers say when a worker died.
_LOGGED = ("Traceback", "[ERROR]", "[CRITICAL]", "Booting worker", "Spawning worker")


#: What nginx 1.22 itself refuses: paths out of the root or with NUL, and empty hosts; and what it does otherwise.
_REFUSED = {"want": [400, "bad_request"], "says": "bad request"}
NGINX = {
    **dict.fromkeys(("path with 1,000 segments up", "path with a bad escape", "path with an encoded NUL"), _REFUSED),
    **dict.fromkeys(("path with an encoded NUL and an end", "host with a space", "host with empty"), _REFUSED),
    **dict.fromkeys(("file: NUL after a dotfile", "file: NUL in a name", "file: a file and a segment up"), _REFUSED),
    **dict.fromkeys(("file: a segment up", "file: a segment up in the middle", "file: an encoded slash"), _REFUSED),
    **dict.fromkeys(("file: an encoded segment up", "file: encoded dots and slash"), _REFUSED),
    "file: the system's passwords": _REFUSED,
    "method TRACE": {"says": "method not allowed"},
    "two request ids": {"headers": []},  # it keeps the first, which is plain
}


def judge(served, case, most_seconds):
    """Send a case and return what was wrong, as lines of text."""
    if served.has_proxy:
        case = {**case, **NGINX.get(case["name"], {})}
    request = request_of(case, served.key)
    # Who hangs up gets no answer of a server that waits for the rest, or one in its own words.
    is_awaited = not (request.hang_up and served.receives_all)
    found = []
    try:
        reply = served.send(request)
    except (OSError, http.client.HTTPException) as error:
        if is_awaited:
            return [f"no answer: {error!r}"]
    else:
        served.slowest = max(served.slowest, (reply.seconds, case["name"]))
        if is_awaited:
            found += _of_reply(case, request, reply)
        elif reply.status != case["want"][0]:
            found.append(f"{reply.status}, wanted {case['want'][0]}")
        if reply.seconds > most_seconds:
            found.append(f"took {reply.seconds:.3f} s")
    if served.has_changed():
        found.append("the database changed")
    logged = served.logged()
    found += [f"in the log: {text}" for text in [*_hidden(logged), *(one for one in _LOGGED if one in logged)]]
    return [*found, *of_ordinary(served)]


def of_ordinary(served):
    """Send an ordinary request and return what is wrong with its reply."""
    reply = served.send(_ORDINARY)
    wanted = (200, {"body": {"_id": PEOPLE["other"]}, "success": True})
    return [] if (reply.status, _parsed(reply.data)) == wanted else [f"an ordinary request: {reply.status}"]


def _of_reply(case, request, reply):
    status, code = (*case["want"], None)[:2]
    found = _of_headers(reply)
    if (reply.status, reply.headers["X-Error-Code"]) != (status, code):
        found.append(f"{reply.status} {reply.headers['X-Error-Code']}, wanted {status} {code}")
    if status >= 400 and request.method != "HEAD":
        found += _of_refusal(case, request, reply)
    elif "reply" in case and _parsed(reply.data) != {"body": case["reply"], "success": True}:
        found.append(f"wanted {case['reply']}")
    return [*found, f"the reply: {reply.data[:500]!r}"] if found else []


def _of_headers(reply):
    found = [f"holds {text}" for text in _hidden("\n".join([*reply.headers.values(), reply.data.decode()]))]
    ids = reply.headers.get_all("X-Request-Id", [])
    types = reply.headers.get_all("Content-Type", [])
    if reply.status >= 400 and types != ["application/json"]:
        found.append(f"content type: {types}")
    if reply.status >= 400 and (len(ids) != 1 or not _REQUEST_ID.fullmatch(ids[0])):
        found.append(f"request id: {ids}")
    if len(reply.data) > 64 * 1024:
        found.append(f"{len(reply.data)} bytes")
    return found


def _of_refusal(case, request, reply):
    envelope = _parsed(reply.data)
    if not isinstance(envelope, dict) or envelope.keys() != {"body", "success"} or envelope["success"] is not False:
        return ["no envelope"]
    body, found = envelope["body"], []
    wanted = {"message", "code", "errors", "details", "requestId"} if asks_for_detail(request) else {"message"}
    if not isinstance(body, dict) or body.keys() != wanted or not isinstance(body["message"], str):
        return [f"the body does not have exactly {sorted(wanted)}"]
    message = body["message"]
    if "says" in case and message != case["says"]:
        found.append(f"wanted the message {case['says']!r}")
    if "at" in case and not message.startswith(f"validation error: {case['at']}: "):
        found.append(f"wanted a validation error at {case['at']!r}")
    if leak := _INTERNAL.search(message):
        found.append(f"internal: {leak.group()!r}")
    if _CONTROL.search(message):
        found.append("control characters")
    return found


def _hidden(text):
    """Return what must be in no reply and no log, and is."""
    found = [secret for secret in (MARK, HASH, KEY, SECRET) if secret in text]
    return found + [repr(control) for control in _CONTROL.findall(text) if control != "\n"]


def _parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None

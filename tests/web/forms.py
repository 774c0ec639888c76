"""Bodies of requests with files, written by hand: honest ones and others."""

from __future__ import annotations

import json

BOUNDARY = "xYz"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + b"\0" * 20
JSON = "application/json"


def part(name, content, filename=None, *heads):
    """One part as bytes; ``heads`` are further lines of its head."""
    names = f'name="{name}"' + ("" if filename is None else f'; filename="{filename}"')
    lines = [f"Content-Disposition: form-data; {names}", *heads]
    return b"\r\n".join([*(line.encode() for line in lines), b"", content])


def body_part(set_=None, *heads, model="user", act="setAvatar", get=None):
    """The first part, with the JSON of an act."""
    body = {"model": model, "act": act, "details": {"set": set_ or {}, "get": get or {}}}
    return part("gateway-body", json.dumps(body).encode(), None, *heads)


def form(*parts, boundary=BOUNDARY):
    """A whole body of these parts."""
    start = b"--" + boundary.encode()
    return b"".join(start + b"\r\n" + one + b"\r\n" for one in parts) + start + b"--\r\n"


def headers(boundary=BOUNDARY, **more):
    """The headers of a request with files."""
    return {"Content-Type": f"multipart/form-data; boundary={boundary}", "X-Gateway": "1", **more}

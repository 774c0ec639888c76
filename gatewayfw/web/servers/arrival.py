"""How much of a request has arrived, told from its first bytes.

Nothing here judges a request: gunicorn's parser does. A request is whole when the parser can read all of it without
waiting; where the bytes do not tell plainly whether it can, the answer is `UNSURE`.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

#: Most bytes of a body that are waited for outside of a thread; so many have `max_body_bytes` by default.
MOST_BODY = 1024 * 1024
#: Most bytes of a request line, and of a head, that are waited for. gunicorn may take longer heads.
_MOST_LINE = 8192
_MOST_HEAD = 65536
_MOST_CHUNK_LINE = 1024

_BARE_FEED = re.compile(rb"(?<!\r)\n")
_LINE = re.compile(rb"(?:\r\n)?[!-~]+ [!-~]+ HTTP/1\.[01]\r\n")
#: The fields that say where a body ends or whether it comes, and what follows their names.
_FIELD = re.compile(rb"\r\n(content-length|transfer-encoding|expect)([^\r]*)")
_LENGTH = re.compile(rb":[ \t]*([0-9]{1,15})[ \t]*")
_CHUNKED = re.compile(rb":[ \t]*chunked[ \t]*")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,8})(?:[ \t]*;[^\r\n]*)?\r\n")
#: The first bytes of the PROXY protocol, version 1 and 2, and the length of what they begin.
_PROXY_1, _PROXY_1_MOST = b"PROXY ", 107
_PROXY_2, _PROXY_2_HEAD = b"\r\n\r\n\x00\r\nQUIT\n", 16


class Sight(NamedTuple):
    """What a look at the bytes of a request showed."""

    #: The part that the last of these bytes belong to. ``unsure``: only gunicorn's parser can tell.
    part: Literal["proxy", "head", "chunks", "body", "unsure"]
    #: Bytes that need not be looked at again.
    seen: int = 0
    #: Bytes that the request has at least; all of it in the part ``body``.
    least: int = 1
    #: Where the body begins.
    body: int = 0
    #: Bytes of the body, as announced; None where it is not, but there may be many.
    length: int | None = 0


#: Before the first look: at a request, and at one behind a header of the PROXY protocol.
START, START_OF_PROXY = Sight("head"), Sight("proxy")


def is_whole(data: bytes | bytearray, sight: Sight) -> bool:
    """Tell whether the parser can read the whole request without waiting.

    ``sight`` is what `look` showed of these bytes.
    """
    return sight.part == "body" and len(data) >= sight.least


def look(data: bytes | bytearray, sight: Sight = START) -> Sight:
    """Return what the bytes of a request show.

    ``sight`` is what an earlier look at fewer of them showed.
    Each byte is looked at a few times at most, however small the steps are in which they arrive.
    """
    if sight.part == "proxy" and len(data) >= sight.least:
        sight = _look_at_proxy(data)
    if sight.part == "head" and len(data) >= sight.least:
        sight = _look_at_head(data, sight)
    if sight.part == "chunks":
        sight = _look_at_chunks(data, sight)
    return sight


def _look_at_proxy(data: bytes | bytearray) -> Sight:
    """Skip a header of the PROXY protocol, as gunicorn finds its end.

    Source: https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt.
    """
    if len(data) < len(_PROXY_2):  # gunicorn waits for that many, too
        return Sight("proxy", least=len(_PROXY_2))
    end = 0
    if data.startswith(_PROXY_2):
        if len(data) < _PROXY_2_HEAD:
            return Sight("proxy", least=_PROXY_2_HEAD)
        end = _PROXY_2_HEAD + int.from_bytes(data[14:16], "big")
    elif data.startswith(_PROXY_1):
        end = data.find(b"\r\n") + 2
        if end < 2:
            return Sight("proxy", least=len(data) + 1) if len(data) < _PROXY_1_MOST else Sight("unsure")
    return Sight("head", seen=end, least=end + 1, body=end)


def _look_at_head(data: bytes | bytearray, sight: Sight) -> Sight:
    """Find the end of the head.

    Until then ``sight.body`` is where the head begins.
    """
    begin, seen = sight.body, sight.seen
    end = data.find(b"\r\n\r\n", max(begin, seen - 3)) + 4
    if end >= 4:
        return _look_at_fields(data[begin:end].lower(), end)
    if len(data) - begin > _MOST_HEAD or _is_refused(data, begin, seen):
        return Sight("unsure")
    return Sight("head", seen=len(data), least=len(data) + 1, body=begin)


def _is_refused(data: bytes | bytearray, begin: int, seen: int) -> bool:
    """Tell whether gunicorn may refuse a head before its end.

    It does so for the first line, and for a line feed without a return.
    """
    if _BARE_FEED.search(data, seen):
        return True
    line = begin + 2 * data.startswith(b"\r\n", begin)
    if data.find(b"\r\n", line, begin + _MOST_LINE) < 0:
        return len(data) - begin > _MOST_LINE
    return _LINE.match(data, begin) is None


def _look_at_fields(head: bytes | bytearray, end: int) -> Sight:
    """Find out from a head, in lower case, where its body ends."""
    found = _FIELD.findall(head)
    if not found:
        return Sight("body", end, end, end)
    if len(found) == 1:
        ((name, value),) = found
        if name == b"content-length" and (number := _LENGTH.fullmatch(value)):
            length = int(number[1])
            if length <= MOST_BODY:
                return Sight("body", end, end + length, end, length)
        elif name == b"transfer-encoding" and _CHUNKED.fullmatch(value):
            return Sight("chunks", seen=end, least=end + 3, body=end)
    return Sight("unsure", length=_announced(dict(found)))


def _announced(fields: dict[bytes, bytes]) -> int | None:
    """Return the bytes that a body is said to have; None where nothing says it."""
    number = _LENGTH.fullmatch(fields.get(b"content-length", b""))
    return int(number[1]) if number else None if b"transfer-encoding" in fields else 0


def _look_at_chunks(data: bytes | bytearray, sight: Sight) -> Sight:
    """Find the end of a body in chunks, from the first chunk that is not seen."""
    at = sight.seen
    while len(data) >= sight.least:
        match = _CHUNK.match(data, at)
        if match is None:
            if data.find(b"\r\n", at) >= 0 or len(data) - at > _MOST_CHUNK_LINE:
                return Sight("unsure", length=None)
            return sight._replace(least=len(data) + 1)
        size = int(match[1], 16)
        at = match.end() + size + 2
        if at - sight.body > MOST_BODY:
            return Sight("unsure", length=None)
        if len(data) < at:
            # Not before all of the chunk is there is its line looked at again.
            return sight._replace(least=at)
        if data[at - 2 : at] != b"\r\n":  # or, behind the last chunk, a trailer
            return Sight("unsure", length=None)
        if not size:
            return Sight("body", seen=at, least=at, body=sight.body)
        sight = sight._replace(seen=at, least=at + 3)
    return sight

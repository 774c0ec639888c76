"""What the first bytes of a request tell, and that gunicorn's parser does not wait for what they call whole."""

from __future__ import annotations

import itertools

import pytest
from gunicorn.config import Config
from gunicorn.http.message import Request
from gunicorn.http.unreader import Unreader
from hypothesis import example, given
from hypothesis import strategies as st

from gatewayfw.web.servers.arrival import MOST_BODY, START, START_OF_PROXY, is_whole, look

LINE = b"POST /gateway HTTP/1.1\r\n"
V1 = b"PROXY TCP4 1.2.3.4 5.6.7.8 1 2\r\n"
V2 = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + bytes(12)


def length(text, body=b""):
    return LINE + b"Host: x\r\nContent-Length: " + text + b"\r\n\r\n" + body


def chunked(body, *fields):
    return LINE + b"".join(field + b"\r\n" for field in (b"Transfer-Encoding: chunked", *fields)) + b"\r\n" + body


WHOLE = {
    "no field": b"GET / HTTP/1.1\r\n\r\n",
    "no body": b"GET / HTTP/1.0\r\nHost: x\r\n\r\n",
    "an empty line before": b"\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "body": length(b"3", b"abc"),
    "name in capitals": LINE + b"CONTENT-LENGTH:3 \r\n\r\nabc",
    "another request behind": length(b"3", b"abcPOST"),
    "other fields that name a length": LINE + b"X: 1\r\nX-Content-Length: 9\r\n\r\n",
    "chunks": chunked(b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n"),
    "no chunk": chunked(b"0\r\n\r\n"),
    "largest body": length(b"%d" % MOST_BODY, bytes(MOST_BODY)),
    "malformed, but with an end": b"x\r\n\r\n",
}
MISSING = {
    "nothing": (b"", 1),
    "line": (LINE[:9], 10),
    "head": (LINE + b"Host: x\r\n", len(LINE) + 10),
    "head but for a byte": (LINE + b"Host: x\r\n\r", len(LINE) + 11),
    "body": (length(b"1000"), len(length(b"1000")) + 1000),
    "rest of the body": (length(b"3", b"a"), len(length(b"3")) + 3),
    "first chunk": (chunked(b""), len(chunked(b"")) + 3),
    "size of a chunk": (chunked(b"1"), len(chunked(b"")) + 3),
    "rest of a chunk": (chunked(b"a\r\nx"), len(chunked(b"")) + 15),
    "end of the last chunk": (chunked(b"0\r\n\r"), len(chunked(b"")) + 5),
}
UNSURE = {
    "line that is none": (b"x\r\n", 0),
    "line of HTTP/2": (b"PRI * HTTP/2.0\r\n", 0),
    "line that is too long": (b"GET /" + b"x" * 9000, 0),
    "line feed without a return": (LINE + b"Host: x\n", 0),
    "head that is too long": (LINE + b"X: " + b"x" * 70_000, 0),
    "length that is none": (length(b"x"), 0),
    "length in capitals of another alphabet": (length(b"\xb2"), 0),
    "two lengths": (LINE + b"Content-Length: 1\r\ncontent-length: 2\r\n\r\n", 2),
    "large body": (length(b"%d" % (MOST_BODY + 1)), MOST_BODY + 1),
    "client that waits to be told": (LINE + b"Expect: 100-continue\r\nContent-Length: 9\r\n\r\n", 9),
    "chunks and length": (chunked(b"", b"Content-Length: 1"), 1),
    "another coding": (LINE + b"Transfer-Encoding: gzip, chunked\r\n\r\n", None),
    "chunk size that is none": (chunked(b"x\r\n"), None),
    "chunk that is longer than it says": (chunked(b"1\r\nabc"), None),
    "large chunk": (chunked(b"ffffff\r\n"), None),
    "endless size of a chunk": (chunked(b"1;" + b"x" * 2000), None),
    "trailer": (chunked(b"0\r\nX: 1\r\n"), None),
}


@pytest.mark.parametrize("data", WHOLE.values(), ids=WHOLE)
def test_request_is_whole(data):
    assert is_whole(data, look(data))


@pytest.mark.parametrize(("data", "least"), MISSING.values(), ids=MISSING)
def test_least_that_a_request_has(data, least):
    sight = look(data)
    assert (sight.part != "unsure", sight.least, is_whole(data, sight)) == (True, least, False)


@pytest.mark.parametrize(("data", "announced"), UNSURE.values(), ids=UNSURE)
def test_only_the_parser_can_tell(data, announced):
    sight = look(data)
    assert (sight.part, sight.length) == ("unsure", announced)


@pytest.mark.parametrize("head", [V1, V2, b""], ids=["version 1", "version 2", "none"])
def test_proxy_protocol_comes_before_the_head(head):
    data = head + length(b"3", b"abc")
    told = [is_whole(data[:end], look(data[:end], START_OF_PROXY)) for end in range(len(data) + 1)]
    assert told == [False] * len(data) + [True]


def test_head_of_the_proxy_protocol_that_never_ends():
    assert look(b"PROXY " + b"x" * 200, START_OF_PROXY).part == "unsure"


@pytest.mark.parametrize("data", [WHOLE["body"], WHOLE["chunks"]], ids=["length", "chunks"])
def test_each_byte_alone_tells_the_same(data):
    sight, told = START, []
    for end in range(1, len(data) + 1):
        sight = look(bytearray(data[:end]), sight)
        told.append(is_whole(data[:end], sight))
    assert told == [False] * (len(data) - 1) + [True]


def test_chunks_are_looked_at_once():
    data, sight, looks = chunked(b"1\r\nx\r\n" * 1000), START, []
    for end in range(1, len(data) + 1):
        sight = look(data[:end], sight)
        looks.append(sight.seen)
    assert (looks[-1], looks == sorted(looks)) == (len(data), True)


def head(size):
    """Return so many bytes of a head without an end."""
    data = LINE + b"X: 1\r\n" * (size // 6)
    return data[: size - 1] + b"x"


def line(size):
    """Return so many bytes of a request line without an end."""
    return b"GET /".ljust(size, b"x")


def chunk_line(size):
    """Return so many bytes of the line of a chunk, behind a head of 54 bytes."""
    return chunked(b"1;".ljust(size, b"x"))


#: What is seen of bytes: part, bytes that need not be looked at again, least, begin and length of the body.
SEEN = {
    "no body": (WHOLE["no body"], ("body", 27, 27, 27, 0)),
    "an empty line before": (WHOLE["an empty line before"], ("body", 29, 29, 29, 0)),
    "body": (WHOLE["body"], ("body", 54, 57, 54, 3)),
    "largest body": (length(b"1048576"), ("body", 60, 60 + 1_048_576, 60, 1_048_576)),
    "too large a body": (length(b"1048577"), ("unsure", 0, 1, 0, 1_048_577)),
    "length of 15 digits": (length(b"9" * 15), ("unsure", 0, 1, 0, 10**15 - 1)),
    "length of 16 digits": (length(b"9" * 16), ("unsure", 0, 1, 0, 0)),
    "chunks": (WHOLE["chunks"], ("body", 86, 86, 54, 0)),
    "no chunk": (WHOLE["no chunk"], ("body", 59, 59, 54, 0)),
    "nothing": (b"", ("head", 0, 1, 0, 0)),
    "half of a line": (LINE[:9], ("head", 9, 10, 0, 0)),
    "longest line": (line(8192), ("head", 8192, 8193, 0, 0)),
    "longest line with an end": (line(8190 - 9) + b" HTTP/1.1\r\n", ("head", 8192, 8193, 0, 0)),
    "longest line behind an empty one": (b"\r\n" + line(8190), ("head", 8192, 8193, 0, 0)),
    "too long a line": (line(8193), ("unsure", 0, 1, 0, 0)),
    "too long a line with an end": (line(8191 - 9) + b" HTTP/1.1\r\n", ("unsure", 0, 1, 0, 0)),
    "longest head": (head(65_536), ("head", 65_536, 65_537, 0, 0)),
    "too long a head": (head(65_537), ("unsure", 0, 1, 0, 0)),
    "line feed without a return": (LINE + b"Host: x\n", ("unsure", 0, 1, 0, 0)),
    "line that is none": (b"x\r\n", ("unsure", 0, 1, 0, 0)),
    "first chunk": (chunked(b""), ("chunks", 54, 57, 54, 0)),
    "rest of a chunk": (chunked(b"a\r\nx"), ("chunks", 54, 69, 54, 0)),
    "longest line of a chunk": (chunk_line(1024), ("chunks", 54, 54 + 1025, 54, 0)),
    "too long a line of a chunk": (chunk_line(1025), ("unsure", 0, 1, 0, None)),
    "size in letters": (chunked(b"aFf ;x\r\n"), ("chunks", 54, 54 + 8 + 0xAFF + 2, 54, 0)),
    "most bytes in chunks": (chunked(b"ffff7\r\n"), ("chunks", 54, 54 + 7 + 0xFFFF7 + 2, 54, 0)),
    "too many bytes in chunks": (chunked(b"ffff8\r\n"), ("unsure", 0, 1, 0, None)),
    "chunk without an end of line": (chunked(b"1\r\nxyz"), ("unsure", 0, 1, 0, None)),
    "chunk size that is none": (chunked(b"x\r\n"), ("unsure", 0, 1, 0, None)),
    "another coding": (LINE + b"Transfer-Encoding: gzip, chunked\r\n\r\n", ("unsure", 0, 1, 0, None)),
    "two lengths": (LINE + b"Content-Length: 1\r\ncontent-length: 2\r\n\r\n", ("unsure", 0, 1, 0, 2)),
}


@pytest.mark.parametrize(("data", "seen"), SEEN.values(), ids=SEEN)
def test_what_is_seen_of_a_request(data, seen):
    assert look(data) == seen


SEEN_OF_PROXY = {
    "nothing": (b"", ("proxy", 0, 1, 0, 0)),
    "a byte": (b"P", ("proxy", 0, 12, 0, 0)),
    "too few bytes for either": (V1[:11], ("proxy", 0, 12, 0, 0)),
    "half of version 1": (V1[:20], ("proxy", 0, 21, 0, 0)),
    "longest version 1": (b"PROXY ".ljust(106, b"x"), ("proxy", 0, 107, 0, 0)),
    "too long a version 1": (b"PROXY ".ljust(107, b"x"), ("unsure", 0, 1, 0, 0)),
    "version 1": (V1, ("head", 32, 33, 32, 0)),
    "half of version 2": (V2[:12], ("proxy", 0, 16, 0, 0)),
    "version 2 but for a byte": (V2[:15], ("proxy", 0, 16, 0, 0)),
    "head of version 2": (V2[:16], ("head", 28, 29, 28, 0)),
    "version 2 of many bytes": (V2[:14] + b"\x01\x02", ("head", 16 + 258, 16 + 259, 16 + 258, 0)),
    "neither": (b"GET / HTTP/1", ("head", 12, 13, 0, 0)),
}


@pytest.mark.parametrize(("data", "seen"), SEEN_OF_PROXY.values(), ids=SEEN_OF_PROXY)
def test_what_is_seen_of_a_header_of_the_proxy_protocol(data, seen):
    assert look(data, START_OF_PROXY) == seen


def test_a_look_begins_where_the_last_one_ended():
    """Also where the end of the head is in both, and behind a header of the PROXY protocol."""
    data = V1 + length(b"3", b"abc")
    sight, seen = START_OF_PROXY, []
    for end in (20, 40, len(data) - 5, len(data) - 3, len(data)):
        sight = look(data[:end], sight)
        seen.append(tuple(sight))
    whole = ("body", 86, 89, 86, 3)
    assert seen == [("proxy", 0, 21, 0, 0), ("head", 40, 41, 32, 0), ("head", 84, 85, 32, 0), whole, whole]
    assert (START, START_OF_PROXY) == (("head", 0, 1, 0, 0), ("proxy", 0, 1, 0, 0))


class Bytes(Unreader):
    """Bytes that came, behind which a parser would have to wait."""

    def __init__(self, data):
        super().__init__()
        self.unread(data)

    def chunk(self, size_hint=None):
        raise Waited


class Waited(Exception):
    """The parser wanted more bytes."""


def parser_waits(data, config):
    """Whether gunicorn's parser wants more than these bytes to read a request or to refuse it."""
    try:
        Request(config, Bytes(data), ("127.0.0.1", 1)).body.read()
    except Waited:
        return True
    except Exception:  # its refusals have no class in common
        return False
    return False


#: Pieces of which requests are made: most are right alone, few together.
PIECES = (
    *(LINE, b"GET / HTTP/1.0\r\n", b"x\r\n", b"\r\n", b"\n", b"\r", b" ", b":", V1, V2),
    *(b"Content-Length: 5\r\n", b"content-length:0\r\n", b"Content-Length : 5\r\n", b"Content-Length: 1\r\n 2\r\n"),
    *(b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", b"Expect: 100-continue\r\n", b"X: 1\r\n"),
    *(b"0\r\n\r\n", b"5\r\nabcde\r\n", b"5;a\r\nabcde\r\n", b"1\r\n", b"abcde", b"0\r\nX: 1\r\n\r\n", b"\0"),
)
REQUESTS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=12).map(b"".join)
LIKELY = st.tuples(
    st.sampled_from(PIECES[:2]),
    st.lists(st.sampled_from(PIECES[10:18]), max_size=2).map(b"".join),
    st.lists(st.sampled_from(PIECES[18:]), max_size=4).map(b"".join),
).map(lambda parts: parts[0] + parts[1] + b"\r\n" + parts[2])


@given(data=REQUESTS | LIKELY, ends=st.lists(st.integers(0, 300)), proxy=st.booleans(), folded=st.booleans())
@example(data=b"\r\n\r\nGET / HTTP/1.1\r\n\r\n", ends=[], proxy=False, folded=False)
def test_parser_reads_what_is_called_whole_without_waiting(data, ends, proxy, folded):
    config = Config()
    config.set("proxy_protocol", "auto" if proxy else "off")
    for name in ("permit_obsolete_folding", "strip_header_spaces"):
        config.set(name, folded)
    sight = START_OF_PROXY if proxy else START
    for end in [*sorted(ends), len(data)]:
        sight = look(data[:end], sight)
        if is_whole(data[:end], sight):
            assert not parser_waits(data[:end], config)
            break


@given(bodies=st.lists(st.binary(max_size=50), min_size=1), in_chunks=st.booleans())
def test_what_is_right_is_called_whole_at_its_last_byte(bodies, in_chunks):
    pieces = [b"%x\r\n%b\r\n" % (len(body), body) for body in bodies if body]
    whole = b"".join(bodies)
    data = chunked(b"".join(pieces) + b"0\r\n\r\n") if in_chunks else length(b"%d" % len(whole), whole)
    sight, ends = START, itertools.count(1)
    end = next(end for end in ends if is_whole(data[:end], sight := look(data[:end], sight)))
    assert end == len(data)

"""Scripts of hostile remote services: what each sends, and what a gateway says of it.

``BAD`` answers can be read and are refused, ``BROKEN`` ones cannot be read, ``SLOW`` ones do not end.
"""

from __future__ import annotations

import gzip
import json
import socket
import struct
import time

from gatewayfw.wire.posting import ENVELOPE_BYTES

#: Stands in every hostile answer; no client may ever see it.
SECRET = "upstream-secret"
BODY = {"service": "far", "model": "user", "act": "addUser", "details": {"set": {"name": "آنا"}, "get": {"name": 1}}}
OK = b'{"body": {"name" : "\xd8\xa2"}, "success": true}'
#: Most bytes of an answer's body in these tests.
MOST = 1000
#: Seconds between two pieces of a slow answer; a gateway waits a few times as long for the whole.
PAUSE = 0.05

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Secret: upstream-secret\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
MEGABYTE = b"x" * 1024 * 1024


def answer(data=OK, status=200, content_type="application/json", **headers):
    """Return a script that sends one answer."""

    def script(handler):
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(status, SECRET)
        handler.send_header("Content-Type", content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)

    return script


def raw(*pieces, pause=0.0):
    """Return a script that writes bytes as they are, with a pause in seconds before each, and closes."""

    def script(handler):
        handler.close_connection = True
        for piece in pieces:
            time.sleep(pause)
            try:
                handler.wfile.write(piece)
            except OSError:
                return

    return script


def endless(start, piece, sent=None):
    """Return a script that repeats a piece until the gateway leaves, and adds how much it ``sent`` to a list."""

    def script(handler):
        handler.close_connection = True
        total = 0
        try:
            handler.wfile.write(start)
            while True:
                handler.wfile.write(piece)
                total += len(piece)
        except OSError:
            if sent is not None:
                sent.append(total)

    return script


def reset(start):
    """Return a script that writes bytes and resets the connection."""

    def script(handler):
        handler.close_connection = True
        handler.wfile.write(start)
        time.sleep(PAUSE)
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()

    return script


def error(status, **body):
    """Return a script that sends an error envelope with this body."""
    return answer(json.dumps({"body": body, "success": False}).encode(), status)


def sized(length):
    """Return an envelope of so many bytes."""
    start, end = b'{"success":true,"body":"', b'"}'
    return start + b"x" * (length - len(start) - len(end)) + end


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


NOT_JSON = "its answer is not application/json"
NO_ENVELOPE = "its answer is not an envelope"
CONTRADICTION = "the status of its answer contradicts its envelope"
REDIRECT = "it answered with a redirect or an unknown status"
TOO_LARGE = "its answer is too large"
COMPRESSED = "its answer is compressed"
HTML = b"<html>upstream-secret</html>"

BAD = {
    "html": (answer(HTML, content_type="text/html"), NOT_JSON),
    "html as an error": (answer(HTML, 502, content_type="text/html"), NOT_JSON),
    "html as json": (answer(HTML), NO_ENVELOPE),
    "json as text": (answer(content_type="text/plain"), NOT_JSON),
    "problem json": (answer(content_type="application/problem+json"), NOT_JSON),
    "no content type": (raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), NOT_JSON),
    "two content types": (raw(HEAD + b"Content-Type: text/html\r\n\r\n", OK), NOT_JSON),
    "compressed": (answer(Content_Encoding="gzip"), COMPRESSED),
    "compressed bomb": (answer(gzip.compress(MEGABYTE * 10), Content_Encoding="gzip"), COMPRESSED),
    "compressed twice": (answer(Content_Encoding="identity, br"), COMPRESSED),
    "compressed on the way": (raw(HEAD + b"Transfer-Encoding: gzip\r\n\r\n", gzip.compress(OK)), NO_ENVELOPE),
    "invalid json": (answer(b'{"body":"upstream-secret'), NO_ENVELOPE),
    "two envelopes": (answer(OK + OK), NO_ENVELOPE),
    "length too small": (raw(HEAD + b"Content-Length: 5\r\n\r\n", OK), NO_ENVELOPE),
    "empty": (answer(b""), NO_ENVELOPE),
    "cut in the head": (raw(HEAD), NO_ENVELOPE),
    "byte order mark": (answer(b"\xef\xbb\xbf" + OK), NO_ENVELOPE),
    "utf-16": (answer('{"body":1,"success":true}'.encode("utf-16")), NO_ENVELOPE),
    "not utf-8": (answer(b'{"body":"\xff","success":true}'), NO_ENVELOPE),
    "nan": (answer(b'{"body":NaN,"success":true}'), NO_ENVELOPE),
    "long number": (answer(b'{"success":true,"body":' + b"1" * 900 + b"e999x}"), NO_ENVELOPE),
    "list": (answer(b"[]"), NO_ENVELOPE),
    "more keys": (answer(b'{"body":1,"success":true,"x":"upstream-secret"}'), NO_ENVELOPE),
    "no body": (answer(b'{"success":true}'), NO_ENVELOPE),
    "no success": (answer(b'{"body":1}'), NO_ENVELOPE),
    "success no boolean": (answer(b'{"body":1,"success":1}'), NO_ENVELOPE),
    "success a text": (answer(b'{"body":1,"success":"true"}'), NO_ENVELOPE),
    "error without a body": (answer(b'{"body":null,"success":false}', 400), NO_ENVELOPE),
    "error without a message": (error(400, code="upstream-secret"), NO_ENVELOPE),
    "error whose message is no text": (error(400, message={"a": "upstream-secret"}), NO_ENVELOPE),
    "success with status 400": (answer(OK, 400), CONTRADICTION),
    "success with status 500": (answer(OK, 500), CONTRADICTION),
    "failure with status 200": (error(200, message=SECRET), CONTRADICTION),
    "no content": (answer(b"", 204), NO_ENVELOPE),
    "switching protocols": (raw(b"HTTP/1.1 101 upstream-secret\r\nUpgrade: x\r\n\r\n"), REDIRECT),
    "early hints": (raw(b"HTTP/1.1 103 Early Hints\r\n\r\n", HEAD + b"\r\n", OK), REDIRECT),
    "several choices": (answer(OK, 300), REDIRECT),
    "redirect": (answer(OK, 302, Location="http://127.0.0.1:1/"), REDIRECT),
    "redirect that keeps the method": (answer(OK, 307, Location="/gateway"), REDIRECT),
    "redirect for ever": (answer(OK, 308, Location="/gateway"), REDIRECT),
    "not modified": (answer(OK, 304), REDIRECT),
    "status 600": (answer(OK, 600), REDIRECT),
    "status 999": (answer(OK, 999), REDIRECT),
    "too large, announced": (answer(sized(MOST + ENVELOPE_BYTES + 1)), TOO_LARGE),
    "100 MB, announced": (endless(HEAD + b"Content-Length: 104857600\r\n\r\n", MEGABYTE), TOO_LARGE),
    "100 MB, announced and not sent": (raw(HEAD + b"Content-Length: 104857600\r\n\r\n", b"x"), TOO_LARGE),
    "too large, chunked": (raw(CHUNKED, *[chunk(b"x" * 100)] * 20), TOO_LARGE),
    "endless chunks": (endless(CHUNKED, chunk(MEGABYTE)), TOO_LARGE),
    "endless small chunks": (endless(CHUNKED, chunk(b"x") * 1000), TOO_LARGE),
    "one chunk of 16 EB": (endless(CHUNKED + b"ffffffffffffffff\r\n", MEGABYTE), TOO_LARGE),
    "too large, until closed": (raw(HEAD + b"\r\n", b"x" * 2000), TOO_LARGE),
    "endless, until closed": (endless(HEAD + b"\r\n", MEGABYTE), TOO_LARGE),
    "endless chunk of the size -1": (endless(CHUNKED + b"-1\r\n", MEGABYTE), TOO_LARGE),
    "length no number": (endless(HEAD + b"Content-Length: many\r\n\r\n", MEGABYTE), TOO_LARGE),
    "length below zero": (endless(HEAD + b"Content-Length: -1\r\n\r\n", MEGABYTE), TOO_LARGE),
}

BROKEN = {
    "closed at once": raw(),
    "no http": raw(b"hello upstream-secret\r\n\r\n"),
    "http 0.9": raw(OK),
    "status no number": raw(b"HTTP/1.1 abc upstream-secret\r\n\r\n"),
    "status 99": raw(b"HTTP/1.1 99 upstream-secret\r\n\r\n"),
    "status 1000": raw(b"HTTP/1.1 1000 upstream-secret\r\n\r\n"),
    "cut in the body": raw(HEAD + b"Content-Length: 100\r\n\r\n", OK),
    "cut in a chunk": raw(CHUNKED, b"ff\r\n", OK),
    "cut after a chunk": raw(CHUNKED, chunk(OK)),
    "reset in the head": reset(HEAD),
    "reset in the body": reset(HEAD + b"Content-Length: 100\r\n\r\n" + OK),
    "bad chunk": raw(CHUNKED, b"zz\r\n", OK),
    "two lengths": raw(HEAD + b"Content-Length: 43\r\nContent-Length: 5\r\n\r\n", OK),
    "two lengths in one": raw(HEAD + b"Content-Length: 43, 5\r\n\r\n", OK),
    "thousands of headers": raw(HEAD, b"".join(b"X-%d: y\r\n" % number for number in range(5000)), b"\r\n", OK),
    "header of 1 MB": raw(HEAD, b"X: ", MEGABYTE, b"\r\n\r\n", OK),
    "status line of 1 MB": raw(b"HTTP/1.1 200 ", MEGABYTE, b"\r\n\r\n", OK),
    "endless header": endless(HEAD + b"X: ", MEGABYTE),
    "endless headers": endless(HEAD, b"X: y\r\n" * 1000),
    "endless folded header": endless(HEAD, b" y\r\n" * 1000),
    "endless chunk size": endless(CHUNKED, b"0" * 65536),
    "endless chunk extension": endless(CHUNKED + b"5;", MEGABYTE),
    "endless trailers": endless(CHUNKED + chunk(OK) + b"0\r\n", b"X: y\r\n" * 1000),
    "endless continue": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "chunk of the size -5": raw(CHUNKED, b"-5\r\n", OK),
    "endless trailer": endless(CHUNKED + chunk(OK) + b"0\r\nX: ", MEGABYTE),
}

SLOW = {
    "silent": raw(b"", b"", pause=0.6),
    "head byte by byte": raw(*(bytes([byte]) for byte in HEAD * 3), pause=PAUSE),
    "body byte by byte": raw(HEAD + b"Content-Length: 100\r\n\r\n", *[b"x"] * 100, pause=PAUSE),
    "until closed, byte by byte": raw(HEAD + b"\r\n", *[b" "] * 100, pause=PAUSE),
    "chunk sizes byte by byte": raw(CHUNKED, *[b"0"] * 100, pause=PAUSE),
    "chunks of one byte": raw(CHUNKED, *[chunk(b" ")] * 100, pause=PAUSE),
    "trailers one by one": raw(CHUNKED, chunk(OK) + b"0\r\n", *[b"X: y\r\n"] * 100, pause=PAUSE),
    "endless continue": raw(*[b"HTTP/1.1 100 Continue\r\n\r\n"] * 100, pause=PAUSE),
}

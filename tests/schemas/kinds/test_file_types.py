"""Media types by the first bytes of a content."""

from __future__ import annotations

import pytest

from gatewayfw.schemas.kinds.file import HEAD, IMAGES, SIGNATURES, UNKNOWN, type_of

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
#: How a content of each type begins.
CONTENTS = {
    "image/png": PNG,
    "image/jpeg": b"\xff\xd8\xff\xe0\0\x10JFIF",
    "image/gif": b"GIF89a\1\0\1\0",
    "image/webp": b"RIFF\x0a\n\0\0WEBPVP8 ",
    "image/avif": b"\0\0\0 ftypavif",
    "application/pdf": b"%PDF-1.7\n",
    "audio/mpeg": b"ID3\4",
    "audio/ogg": b"OggS\0",
    "audio/wav": b"RIFF\x0a\n\0\0WAVEfmt ",
    "video/mp4": b"\0\0\0\nftypisom",
    "video/webm": b"\x1aE\xdf\xa3",
    "application/gzip": b"\x1f\x8b\x08",
    "application/zip": b"PK\3\4",
}
OFFICE = "application/vnd.openxmlformats-officedocument"
ZIPPED = [
    f"{OFFICE}.{kind}" for kind in ("wordprocessingml.document", "spreadsheetml.sheet", "presentationml.presentation")
]
#: Other beginnings of a type.
OTHERS = {
    "image/gif": [b"GIF87a"],
    "image/webp": [b"RIFF....WEBPVP8L", b"RIFF\n\n\n\nWEBPVP8X"],
    "image/avif": [b"....ftypavis"],
    "application/pdf": [b"%PDF-2."],
    "audio/mpeg": [b"\xff\xfa", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"],
    "video/mp4": [b"\n\n\n\nftyp" + brand for brand in b"avc1,dash,iso2,iso9,M4V ,mp41,mp42,MSNV".split(b",")],
    "application/zip": [b"PK\5\6"],
}
TEXTS = ["text/plain", "text/csv", "application/json"]
#: Contents that claim to be images.
LIES = {
    "html": b"<!DOCTYPE html><script>alert(1)</script>",
    "svg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
    "zip": b"PK\3\4" + PNG,
    "a picture after a space": b" " + PNG,
    "a picture after a byte order mark": b"\xef\xbb\xbf" + PNG,
    "half a signature": PNG[:8],
    "a signature without a header": PNG[:8] + b"<html>..",
    "program": b"\x7fELF",
    "RIFF of something else": b"RIFF\0\0\0\0AVI LIST",
    "an older gif": b"GIF88a",
    "another webp": b"RIFF....WEBPVP8M",
    "another brand": b"....ftypmif1",
    "nothing": b"",
}


def test_every_type_has_an_example():
    assert set(SIGNATURES) == {*CONTENTS, *ZIPPED, *TEXTS}
    assert {"image/avif", "image/gif", "image/jpeg", "image/png", "image/webp"} == IMAGES
    assert (HEAD, UNKNOWN) == (4096, "application/octet-stream")
    assert list(SIGNATURES) == [*CONTENTS, *ZIPPED, *TEXTS]


@pytest.mark.parametrize("name", CONTENTS)
def test_a_content_has_its_own_type_and_no_other(name):
    alone = {one: type_of(CONTENTS[name], (one,)) for one in [*CONTENTS, *TEXTS]}
    texts = TEXTS if name == "application/pdf" else []
    assert {one for one, found in alone.items() if found} == {name, *texts}
    assert type_of(CONTENTS[name]) == name


@pytest.mark.parametrize("name", OTHERS)
def test_a_content_may_begin_in_other_ways(name):
    assert [type_of(content) for content in OTHERS[name]] == [name] * len(OTHERS[name])
    assert {type_of(content, (name,)) for content in OTHERS[name]} == {name}


@pytest.mark.parametrize("head", [b"%PDF-3.", b"%PDF-1x", b"ID2", b"\xff\xf1", b"OggS\1", b"....ftypiso1", b"PK\4\3"])
def test_what_begins_nearly_so_is_unknown(head):
    assert type_of(head) == UNKNOWN


def test_texts_have_no_control_characters_but_those_of_lines_and_colours():
    taken = {code for code in range(128) if type_of(bytes([code]), ("text/plain",))}
    assert taken == {9, 10, 12, 13, 27, *range(32, 127)}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"a" * (HEAD - 3) + "\U0001f600".encode()[:3], True),
        (b"a" * (HEAD - 4) + b"\xf0\x9f\x98(", False),
        (b"a" * (HEAD - 4) + "\U0001f600".encode()[:3], False),
        (b"a" * (HEAD - 5) + b"\xf0\x9f\x98(a", False),
    ],
    ids=["cut", "no letter", "short", "within"],
)
def test_only_the_last_letter_of_a_whole_head_may_be_cut(content, text):
    assert (type_of(content, ("text/plain",)) == "text/plain") is text


@pytest.mark.parametrize("content", LIES.values(), ids=LIES)
def test_what_claims_to_be_an_image_is_refused(content):
    assert type_of(content, tuple(IMAGES)) is None


@pytest.mark.parametrize("name", ["html", "svg", "program", "nothing"])
def test_what_cannot_be_told_is_unknown(name):
    assert type_of(LIES[name]) == UNKNOWN


@pytest.mark.parametrize("text", ["", "a,b\r\n1,2\n", "é" * HEAD, "x" + "é" * HEAD, "\x1b[1m", "x" + "😀" * HEAD])
def test_text_is_utf8_without_control_characters(text):
    assert type_of(text.encode()[:HEAD], ("image/png", "text/csv")) == "text/csv"


@pytest.mark.parametrize(
    "content", [b"a\0b", b"\xff\xfea\0", b"\x07", b"a\xc3", b"\xc3(" + b"a" * HEAD, b"\xed\xa0\x80"]
)
def test_other_bytes_are_no_text(content):
    assert type_of(content[:HEAD], ("text/plain",)) is None


def test_the_first_type_that_fits_is_taken():
    assert type_of(CONTENTS["application/zip"], (ZIPPED[0], "application/zip")) == ZIPPED[0]

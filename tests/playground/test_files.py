"""Files of acts: chosen in the form, shown before they are sent, and sent with the request."""

from __future__ import annotations

import struct
import urllib.request
import zlib

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at, reply_rows, request_of
from tests.playground.test_snippets import RUNNERS, ran, token  # noqa: F401  # a fixture


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


#: A red picture of 8 times 8 points.
PICTURE = (
    b"\x89PNG\r\n\x1a\n"
    + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0))
    + chunk(b"IDAT", zlib.compress((b"\0" + b"\xff\0\0" * 8) * 8))
    + chunk(b"IEND", b"")
)


@pytest.fixture
def avatar(page, login):
    """Give the input of setAvatar a file: ``avatar(name, data)``."""
    login("Employee")
    open_act(page, "setAvatar")

    def choose(name, data):
        at(page, "set.avatar").set_input_files({"name": name, "mimeType": "image/png", "buffer": data})

    return choose


def test_a_file_is_previewed_and_sent(page, avatar):
    avatar("me.png", PICTURE)
    preview = page.get_by_role("img", name="Preview of me.png")
    preview.wait_for()
    page.wait_for_function("document.querySelector('.file-preview').naturalWidth === 8")
    page.get_by_role("button", name="None").click()
    at(page, "get.first_name").check()
    page.get_by_role("button", name="Fields of avatar").click()
    for name in ("name", "type", "size"):
        at(page, f"get.avatar.{name}").check()
    send(page)
    rows = reply_rows(page)
    assert [row for row in rows if row.startswith(("name:", "type:", "size:"))] == [
        'name:"me.png"',
        'type:"image/png"',
        f"size:{len(PICTURE)}",
    ]
    assert "avatar" not in request_of(page).partition('"get"')[0]


CLIENT = "Generated client"


def shown_code(page, language):
    page.get_by_role("tab", name=language, exact=True).click()
    return page.get_by_role("region", name="Code").locator("pre").evaluate("element => element.textContent")


def test_the_code_of_a_request_sends_its_file(page, avatar, token, service_url, tmp_path):  # noqa: F811
    name = "my 'own' \u00fc.png"
    avatar(name, PICTURE)
    page.get_by_role("button", name="None").click()
    page.get_by_role("button", name="Fields of avatar").click()
    at(page, "get.avatar.size").check()
    page.get_by_role("button", name="Code", exact=True).click()
    (tmp_path / name).write_bytes(PICTURE)
    for language in RUNNERS:
        user = ran(language, shown_code(page, language), tmp_path, token)["body"]
        assert user["avatar"] == {"size": len(PICTURE)}, language
    text = shown_code(page, CLIENT).replace("print(", "import json\nprint(json.dumps(") + ")\n"
    with urllib.request.urlopen(f"{service_url}/playground/gateway_types.py") as module:
        (tmp_path / "gateway_types.py").write_bytes(module.read())
    assert ran("Python", text, tmp_path, token)["avatar"] == {"size": len(PICTURE)}


def test_a_removed_file_is_not_sent(page, avatar):
    avatar("me.png", PICTURE)
    page.get_by_role("button", name="Remove avatar").click()
    page.get_by_role("button", name="Remove avatar").wait_for(state="detached")
    assert page.get_by_role("img").count() == 0
    send(page)
    page.get_by_text("Missing data for required field.").first.wait_for()


def test_what_is_refused_is_said(page, avatar):
    avatar("me.png", b"<svg/>")
    send(page)
    page.get_by_text("set.avatar: the content must be image/png or image/jpeg or image/webp").first.wait_for()


def test_a_file_that_is_too_large_is_marked_before_it_is_sent(page, avatar):
    avatar("me.png", PICTURE + bytes(2_000_000))
    page.get_by_text("The file is too large.").wait_for()


def test_a_sequence_says_that_it_sends_no_files(page, avatar):
    avatar("me.png", PICTURE)
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Add to a sequence").click()
    note = page.locator(".notice").filter(has_text="is step 1 of “Sequence” now, without its files.")
    note.get_by_role("button", name="Show").click()
    form = page.get_by_role("group", name="Form of step 1")
    form.get_by_text("Files are sent from the view of acts only.").wait_for()
    assert form.locator("input[type=file]").count() == 0

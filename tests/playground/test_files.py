"""Files of acts: chosen in the form, shown before they are sent, and sent with the request."""

from __future__ import annotations

import struct
import urllib.request
import zlib

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at, reply_rows, request_of
from tests.playground.test_replies import answered
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


@pytest.mark.parametrize(("name", "data"), [("me.txt", b"hello"), ("me.gif", b"GIF89a"), ("me.png", b"<svg/>")])
def test_a_file_of_a_wrong_type_is_marked_at_its_field_before_it_is_sent(page, avatar, name, data):
    avatar(name, data)
    page.get_by_text("The content must be image/png or image/jpeg or image/webp.").wait_for()
    assert at(page, "set.avatar").get_attribute("aria-invalid") == "true"
    avatar("me.jpg", b"\xff\xd8\xff\xe0")
    page.get_by_text("The content must be").wait_for(state="detached")
    assert at(page, "set.avatar").get_attribute("aria-invalid") is None


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


def test_a_file_is_seen_where_a_reply_or_a_field_names_it(page, avatar):
    avatar("me.png", PICTURE)
    at(page, "get.avatar").check()
    send(page)
    page.get_by_role("treeitem").filter(has_text="avatar:").get_by_role("img", name="Preview of me.png").wait_for()
    drawn = "all => [...document.querySelectorAll('.reply img')].map(one => one.naturalWidth).join() === all"
    page.wait_for_function(drawn, arg="8")
    page.get_by_role("treeitem").filter(has_text="avatar:").click()
    page.wait_for_function(drawn, arg="8,8")
    figure = page.get_by_role("figure", name="me.png")
    assert figure.inner_text().split("\n")[0] == f"me.png image/png, {len(PICTURE)} B"
    with page.expect_download() as download:
        figure.get_by_role("button", name="Download").click()
    assert (download.value.suggested_filename, download.value.path().read_bytes()) == ("me.png", PICTURE)
    id_ = page.get_by_role("treeitem").filter(has_text="_id:").last.inner_text().split('"')[1]
    open_act(page, "updateUserRelations")
    page.get_by_role("region", name="Request").get_by_label("avatar", exact=True).first.fill(id_)
    page.get_by_role("figure", name="me.png").get_by_role("img").wait_for()


LINKS = {
    "image/png": ("me.png", PICTURE, True),
    "image/svg+xml": ("me.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", False),
    "text/html": ("me.html", b"<script>alert(1)</script>", False),
}


@pytest.mark.parametrize("media_type", LINKS)
def test_a_link_shows_its_file_only_if_that_can_hold_no_script(page, media_type, service_url):
    name, data, is_shown = LINKS[media_type]
    asked = []

    def give(route):
        asked.append(route.request.headers)
        route.fulfill(
            body=data,
            headers={"Content-Type": media_type, "Content-Disposition": f"inline; filename*=UTF-8''{name}"},
        )

    page.route("**/gateway/files/**", give)
    link = f"/gateway/files/{'a' * 24}?until=1&signature=x"
    answered(page, {"picture": link, "other": f"http://other.example/gateway/files/{'a' * 24}", "up": "/files/../x"})
    page.get_by_role("treeitem").filter(has_text="picture:").click()
    figure = page.get_by_role("figure", name=name)
    figure.get_by_text(media_type).wait_for()
    if is_shown:
        figure.get_by_role("img").wait_for()
    assert figure.get_by_role("img").count() == int(is_shown)
    assert "token" not in asked[0]
    page.get_by_role("treeitem").filter(has_text="other:").click()
    figure.wait_for(state="detached")


BLOBS = """() => {
    window.open_ = new Set();
    const [make, revoke] = [URL.createObjectURL, URL.revokeObjectURL];
    URL.createObjectURL = (one) => { const made = make.call(URL, one); open_.add(made); return made; };
    URL.revokeObjectURL = (one) => { open_.delete(one); revoke.call(URL, one); };
}"""


def test_pictures_that_are_not_shown_any_more_are_let_go(page, avatar):
    page.evaluate(BLOBS)
    avatar("me.png", PICTURE)
    at(page, "get.avatar").check()
    send(page)
    page.get_by_role("treeitem").get_by_role("img").wait_for()
    assert page.evaluate("open_.size") == 2
    page.get_by_role("link", name="Downloads", exact=True).click()
    page.get_by_role("button", name="Show gateway.ts").wait_for()
    page.wait_for_function("open_.size === 0")

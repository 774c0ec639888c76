"""Names of fields are data, also where every object of JavaScript has a member of that name."""

from __future__ import annotations

import json
import re

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import array, nullable, object_, optional, string
from tests.playground.conftest import open_act, send, show_view
from tests.playground.test_acts import at, request_of
from tests.playground.test_module_circles import MODULES

MEMBERS = ("constructor", "toString", "valueOf", "hasOwnProperty", "__proto__")


@pytest.fixture
def things(page, stage):
    """A page of a service whose model, acts and fields have such names."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    field = {name: optional(string()) for name in MEMBERS}
    gw.odm.new_model("constructor", {"name": string(), **field})
    inner = object_({"note": optional(string()), **field})
    sent = {"name": optional(string()), "inner": inner, **field}

    @gw.acts.act("constructor", "toString", public=True, set=sent, get=gw.schemas.select_struct("constructor", 1))
    def echo(body):
        return {"rows": [{**body["details"]["set"]}, {"name": "other"}]}

    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "toString")
    return page


def sent_by(page):
    """The details that would be sent."""
    return json.loads(request_of(page))


def test_typing_in_one_field_adds_no_other(things):
    at(things, "set.name").fill("a")
    at(things, "set.inner.note").press_sequentially("bc")
    assert sent_by(things)["set"] == {"name": "a", "inner": {"note": "bc"}}


def test_each_name_can_be_sent_and_taken_back(things):
    for name in MEMBERS:
        at(things, f"set.inner.{name}").fill("x")
        assert sent_by(things)["set"] == {"inner": {name: "x"}}
        at(things, f"set.inner.{name}").fill("")
        assert sent_by(things)["set"] == {"inner": {}}


def test_a_box_asks_for_its_own_field_only(things):
    for name in MEMBERS:
        things.get_by_role("checkbox", name=name, exact=True).uncheck()
    assert sent_by(things)["get"] == {"name": 1}


def test_the_table_of_a_reply_shows_what_a_document_has(things):
    at(things, "set.constructor").fill("x")
    send(things)
    things.get_by_role("tab", name="Table").click()
    table = things.get_by_role("region", name="Reply as a table")
    assert "native code" not in table.inner_text()


#: As long as names may be that nobody has shortened.
LONG = "_".join(["a_very_long_name"] * 5)[:70]
#: Texts that reach beyond what holds them, which neither scrolls nor says by three points that they are cut.
BEYOND = """() => {
    const beyond = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
        const within = node.parentElement;
        if (!node.data.trim() || !within.checkVisibility() || within.closest('svg, .strip')) continue;
        const around = [within, within.parentElement, within.closest('h2')];
        if (around.some(one => one && getComputedStyle(one).clipPath !== 'none')) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        const { left, right, width } = range.getBoundingClientRect();
        let at = within;
        while (at && getComputedStyle(at).overflowX === 'visible') at = at.parentElement;
        const style = at && getComputedStyle(at);
        const edge = at ? at.getBoundingClientRect().right : innerWidth;
        const isShown = style && (style.textOverflow === 'ellipsis' || (style.overflowX !== 'hidden' && at.matches(
            '.table-scroll, .json, .raw, pre')));
        if (isShown || !width || left >= innerWidth) continue;
        if (right > Math.min(edge, innerWidth) + 1) beyond.push(node.data.slice(0, 30));
    }
    return [...new Set(beyond)];
}"""


@pytest.fixture(params=[1440, 390])
def long_names(page, stage, request):
    """A page of a service with long names, at a width."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    link = {"schemaName": LONG, "type": "single", "relatedRelations": {f"{LONG}s": {"type": "multiple", "limit": 5}}}
    gw.odm.new_model(LONG, {"name": string(), LONG: string()})
    gw.odm.new_model("thing", {"name": string()}, {LONG: link})
    sent = {LONG: optional(string()), "list": optional(array(string())), "n": optional(nullable(string()))}

    @gw.acts.act(LONG, LONG, public=True, set=sent, get=1, returns="many")
    def echo(body):
        return [{"_id": "0" * 24, LONG: LONG, "name": LONG}]

    page.set_viewport_size({"width": request.param, "height": 900})
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    page.locator(".acts-group").first.wait_for(state="attached")
    return page


def test_long_names_are_whole_or_say_that_they_are_cut(long_names):
    found = {"home": long_names.evaluate(BEYOND)}
    open_act(long_names, LONG)
    found["form"] = long_names.evaluate(BEYOND)
    if long_names.get_by_role("button", name="Reply", exact=True).is_visible():
        long_names.get_by_role("button", name="Reply", exact=True).click()
    found["shape"] = long_names.evaluate(BEYOND)
    send(long_names)
    found["reply"] = long_names.evaluate(BEYOND)
    for view in ("schema", "sequences", "history"):
        show_view(long_names, view)
        found[view] = long_names.evaluate(BEYOND)
    assert found == dict.fromkeys(found, [])


def test_one_tab_leaves_room_for_others_and_says_its_name(long_names):
    open_act(long_names, LONG)
    tab = long_names.locator(".strip-open")
    assert tab.bounding_box()["width"] <= 240
    tab.hover()
    long_names.wait_for_function("document.querySelector('.strip-open').title !== ''")
    assert tab.get_attribute("title") == f"{LONG}.{LONG}"


def test_a_group_of_acts_says_how_many_they_are_whatever_its_name(long_names):
    group, count = long_names.locator(".acts-group").last, long_names.locator(".acts-count").last
    if long_names.viewport_size["width"] < 768:  # where the list is behind a button
        long_names.get_by_role("button", name="All acts", exact=True).click()
    group.wait_for()
    box, inner = group.bounding_box(), count.bounding_box()
    assert box["x"] < inner["x"] < inner["x"] + inner["width"] < box["x"] + box["width"]


#: Not in loops, types, comments and texts: a name that the program itself chose is in quotes.
KEY_IN = re.compile(
    r"(?<!const )(?<!of )(?<![\w\"'`.]) ?\b(?:!\()?[a-z][A-Za-z]* in [a-z][A-Za-z.]*\b(?=\)| *&&| *\|\||;| *\?)"
)


def keys_asked_for(text: str) -> list[str]:
    """Return where a program asks by ``in`` whether an object has a key that is data."""
    code = re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\n])*\"|`[^`]*`|for \(const [^)]*\)", '""', text, flags=re.DOTALL)
    return KEY_IN.findall(code)


def test_no_module_asks_by_in_for_a_key():
    assert {name: found for name, text in MODULES.items() if (found := keys_asked_for(text))} == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if (key in next) a();", 1),
        ("const a = name in value ? 1 : 2;", 1),
        ("return !(name in kind.fields) && b;", 1),
        ('if ("depth" in selection) a();', 0),
        ("for (const one in all) a();", 0),
        ("/* what is in it; */ a();", 0),
    ],
)
def test_the_finder_of_in_finds(text, expected):
    assert len(keys_asked_for(text)) == expected

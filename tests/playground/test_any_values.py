"""Values of any kind and objects of any keys: their types, names and values in the form."""

from __future__ import annotations

import json

import mongomock
import pytest
from marshmallow import fields as mm

from gatewayfw import gateway
from gatewayfw.schemas import any_, boolean, enums, integer, mapping, optional
from tests.playground.conftest import open_act, send
from tests.playground.echo import Recorder
from tests.playground.test_acts import at, request_of
from tests.playground.test_looks import CUT, WIDTHS, axe, judged  # noqa: F401  # a fixture
from tests.playground.test_numbers import set_of

COUNTRIES = [f"Country {number}" for number in range(300)]


@pytest.fixture
def bodies():
    """What the server got, as text."""
    return []


@pytest.fixture
def service_url(stage, bodies):
    """A service whose acts take what no form describes, and one of 300 words."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    given = {
        "stock": mapping(integer(minimum=0)),
        "flags": optional(mapping(boolean())),
        "extra": any_(),
        "country": enums(*COUNTRIES),
    }
    gw.acts.act("thing", "keep", set=given, public=True)(lambda body: "done")
    some = {"extra": any_(), "rest": mm.Raw(required=True)}
    gw.acts.act("thing", "keepSome", set=some, public=True)(lambda body: "done")
    gw.acts.set_act(
        schema="thing", act_name="free", public=True, validator=lambda details: details, fn=lambda body: "done"
    )
    return stage(Recorder(gw.create_app(playground=True), bodies))


def set_in(page):
    return json.loads(request_of(page))["set"]


def name_of(page, row):
    return page.get_by_role("group", name=row, exact=True).get_by_label("Name", exact=False).first


def add(page, to, name):
    page.get_by_role("button", name=f"Add a key to {to}").first.click()
    page.keyboard.insert_text(name)


def test_a_mapping_has_a_row_for_each_key(page, bodies):
    open_act(page, "keep")
    add(page, "stock", "constructor")
    at(page, "set.stock.constructor").fill("5")
    add(page, "stock", "b.c")
    at(page, "set.stock.b.c").fill("7")
    assert set_in(page)["stock"] == {"constructor": 5, "b.c": 7}
    name_of(page, "stock 2").fill("constructor")
    page.get_by_text("Another row has the same name.").wait_for()
    page.keyboard.press("Control+Enter")
    page.locator(".notice.bad").get_by_text("Not sent: what is written at set.stock is not valid.").wait_for()
    assert bodies == []
    name_of(page, "stock 2").fill("")
    page.get_by_text("Without a name this row is not sent.").wait_for()
    send(page)
    assert json.loads(set_of(bodies[-1]))["stock"] == {"constructor": 5}
    page.reload()
    name_of(page, "stock 2").fill("d")
    assert set_in(page)["stock"] == {"constructor": 5, "d": 7}
    page.get_by_role("button", name="Remove constructor").click()
    assert set_in(page)["stock"] == {"d": 7}
    page.get_by_role("button", name="Undo").click()
    assert set_in(page)["stock"] == {"constructor": 5, "d": 7}


def test_a_value_of_any_kind_is_typed(page):
    open_act(page, "keep")
    kind = page.get_by_label("Type of extra", exact=True)
    assert kind.input_value() == "null"
    for name, value in {"text": "12", "number": 12, "boolean": False, "list": [False], "object": {}}.items():
        if name == "text":
            kind.select_option("text")
            at(page, "set.extra").fill("12")
        else:
            kind.select_option(name)
        assert set_in(page)["extra"] == value, name
    add(page, "extra", "deep")
    page.get_by_label("Type of deep").select_option("number")
    at(page, "set.extra.deep").fill("9007199254740993")
    assert '"deep": 9007199254740993' in request_of(page)
    kind.select_option("JSON")
    at(page, "set.extra").fill('{"a": [1, ')
    assert "Not valid, so nothing is sent." in page.locator(".any-value").inner_text()
    at(page, "set.extra").fill('{"a": [1]}')
    kind.select_option("object")
    page.get_by_label("Type of a", exact=True).wait_for()
    assert set_in(page)["extra"] == {"a": [1]}


def test_null_is_marked_where_any_other_value_is_taken(page):
    open_act(page, "keepSome")
    page.get_by_role("tab", name="JSON").click()
    marked = page.locator(".cm-line", has=page.locator(".cm-lintRange-warning"))
    marked.first.wait_for()
    assert marked.all_inner_texts() == ['    "rest": null']


def test_a_large_value_is_shown_as_json(page, bodies):
    open_act(page, "keep")
    page.get_by_label("Type of extra", exact=True).select_option("JSON")
    at(page, "set.extra").fill(json.dumps({f"key {number}": "x" * 20 for number in range(200)}))
    page.get_by_role("tab", name="About").click()
    page.get_by_role("tab", name="Form").click()
    assert page.get_by_label("Type of extra", exact=True).input_value() == "JSON"
    page.keyboard.press("Control+Enter")
    page.get_by_role("tree", name="Reply as a tree").wait_for()
    assert len(json.loads(set_of(bodies[-1]))["extra"]) == 200


def test_a_set_of_any_keys_is_written_in_rows(page):
    open_act(page, "free")
    add(page, "any keys", "note")
    at(page, "set.note").fill("hello")
    page.get_by_role("button", name="Add a key to any keys").last.click()
    page.keyboard.insert_text("some")
    at(page, "get.some").fill("all")
    assert json.loads(request_of(page)) == {"set": {"note": "hello"}, "get": {"some": "all"}}


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_in_rows_and_typed_values(page, axe, width):  # noqa: F811
    page.set_viewport_size(WIDTHS[width])
    open_act(page, "keep")
    add(page, "stock", "a")
    add(page, "stock", "a")
    page.get_by_label("Type of extra", exact=True).select_option("object")
    add(page, "extra", "deep")
    page.get_by_label("Type of deep").select_option("list")
    assert [*judged(page, axe), *page.evaluate(CUT)] == []


def test_one_of_many_words_is_found_by_its_letters(page):
    open_act(page, "keep")
    field = at(page, "set.country")
    field.click()
    options = page.get_by_role("listbox").get_by_role("option")
    assert options.count() == 201  # and how many more there are
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert (field.input_value(), set_in(page)["country"]) == ("Country 1", "Country 1")
    field.click()
    page.keyboard.insert_text("try 29")
    assert options.all_inner_texts()[:2] == ["Country 29", "Country 129"]
    page.keyboard.press("Escape")
    assert field.input_value() == "Country 1"
    field.click()
    page.keyboard.insert_text("299")
    options.first.click()
    assert (field.input_value(), set_in(page)["country"]) == ("Country 299", "Country 299")
    assert field.get_attribute("aria-expanded") == "false"


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_in_a_list_of_many_words(page, axe, width):  # noqa: F811
    page.set_viewport_size(WIDTHS[width])
    open_act(page, "keep")
    at(page, "set.country").click()
    page.keyboard.insert_text("9")
    assert [*judged(page, axe), *page.evaluate(CUT)] == []

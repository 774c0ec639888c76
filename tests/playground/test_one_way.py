"""One word, one control and one place for one thing."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import array, described, enums, nullable, object_, optional, string
from tests.playground.conftest import open_act, send, show_view
from tests.playground.links import open_shared
from tests.playground.test_acts import at


@pytest.fixture
def books(page, stage):
    """A page of a service with 30 models, one act, and fields of several kinds."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    for number in range(30):
        gw.odm.new_model(f"model{number}", {"name": string(), "look": enums(["hard", "soft"])})
    text = described(optional(string(pattern="[a-z]+")), "Its `title`.")
    sent = {
        "title": text,
        "look": optional(enums(["hard", "soft"])),
        "note": optional(nullable(string())),
        "tags": optional(nullable(array(string()))),
        "maker": optional(nullable(object_({"name": described(optional(string()), "A `name`.")}))),
    }

    @gw.acts.act("model0", "addBook", set=sent, get=1, public=True)
    def add_book(body):
        return None

    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    return page


def test_a_kind_has_one_name(books):
    open_act(books, "addBook")
    form = books.get_by_role("group", name="Form").inner_text()
    books.get_by_role("tab", name="About").click()
    table = books.get_by_role("region", name="Fields of set").inner_text()
    show_view(books, "schema")
    schema = books.get_by_role("region", name="Fields of").inner_text()
    for shown in (form, table, schema):
        assert ("text" in shown, "choice" in shown) == (True, True)
        assert ("string" in shown, "one of" in shown) == (False, False)


def test_descriptions_show_code_and_no_backquotes(books):
    open_act(books, "addBook")
    books.get_by_label("Send maker").check()
    form = books.get_by_role("group", name="Form")
    assert "`" not in form.inner_text()
    assert form.locator(".field-hint code").all_inner_texts() == ["title", "[a-z]+", "name"]


@pytest.mark.parametrize("width", [1280, 390])
def test_switches_stand_behind_the_name_whatever_the_value_is(books, width):
    open_act(books, "addBook")
    books.set_viewport_size({"width": width, "height": 800})
    for name in ("tags", "maker"):
        books.get_by_label(f"Send {name}").check()
    form = books.get_by_role("group", name="Form")
    for name in ("note", "tags", "maker"):
        label = form.locator(".value-name").get_by_text(name, exact=True).locator("visible=true").first.bounding_box()
        for box in form.locator(".value-on").filter(has_text=name).first.locator(".value-switches input").all():
            switch = box.bounding_box()
            assert switch["x"] > label["x"] + label["width"], name
            assert abs(switch["y"] - label["y"]) < 16, name


def test_many_models_have_a_way_to_the_schema_from_home(books):
    books.locator(".home").locator("a[href='#/schema']").click()
    books.locator(".explorer").wait_for()


def test_a_saved_tab_has_the_typeface_of_the_others(page):
    open_act(page, "getMe")
    page.get_by_role("button", name="Save", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Me again")
    dialog.get_by_role("button", name="Save").click()
    open_act(page, "getUsers")
    fonts = "tabs => tabs.map(one => getComputedStyle(one.querySelector('.act') ?? one).fontFamily)"
    assert len(set(page.locator(".strip-open").evaluate_all(fonts))) == 1


def test_an_act_that_gives_only_what_is_ticked_begins_with_it_ticked(page):
    open_act(page, "removeUser")
    assert [at(page, f"get.{name}").is_checked() for name in ("deletedCount", "cascaded")] == [True, True]


@pytest.mark.parametrize("view", ["history", "downloads"])
def test_wide_views_use_their_width(page, service_url, view):
    open_shared(page, service_url, {"model": "user", "act": "getUsers", "set": {}, "get": {}})
    send(page)
    page.set_viewport_size({"width": 1440, "height": 900})
    show_view(page, view)
    box = page.locator(".downloads-item, .library-entries").last.bounding_box()
    assert box["x"] + box["width"] > 1360


def test_no_tool_covers_a_model_and_no_relation_takes_four_lines(page):
    page.set_viewport_size({"width": 1440, "height": 900})
    show_view(page, "schema")
    tools, graph = (
        page.locator(".explorer-graph-tools").bounding_box(),
        page.locator(".explorer-graph-box").bounding_box(),
    )
    assert tools["y"] + tools["height"] <= graph["y"]
    page.get_by_role("list", name="Models").get_by_role("button", name="organization").click()
    rows = page.get_by_role("region", name="Reverse relations of organization").locator("tbody tr")
    assert max(row.bounding_box()["height"] for row in rows.all()) < 3 * 20

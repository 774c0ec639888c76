"""What the page tells of an act: its fields, an example, what comes back, its errors."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import (
    array,
    boolean,
    date,
    decimal,
    email,
    enums,
    integer,
    mapping,
    object_,
    object_id,
    optional,
    string,
    url,
)
from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at
from tests.playground.test_first_minutes import undo


class SoldOut(Exception):
    """There is none left."""


@pytest.fixture
def service_url(stage):
    """A service with an act of many kinds."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("book", {"title": string()}, {})
    given = {
        "title": string(size=(6, 20)),
        "mail": email(),
        "year": integer(minimum=1900),
        "price": optional(decimal(places=2)),
        "kind": enums("novel", "essay"),
        "tags": array(string(size=(1, 3)), size=(1, 5)),
        "author": object_({"id": object_id(), "born": date()}),
        "notes": optional(mapping(boolean())),
        "site": url(),
    }

    @gw.acts.act(
        "book",
        "addBook",
        set=given,
        get=1,
        public=True,
        idempotent="1h",
        idempotent_by=str,
        exceptions={SoldOut: (409, "sold_out", "there is none left")},
    )
    def add_book(body):
        return {"title": body["details"]["set"]["title"]}

    return stage(gw.create_app(playground=True))


def test_fields_errors_and_the_shape_are_told(page):
    open_act(page, "addBook")
    page.get_by_role("tab", name="About").click()
    fields = page.get_by_role("region", name="Fields of set")
    fields.wait_for()
    assert fields.locator("tbody td:first-child").all_inner_texts()[:2] == ["title", "mail"]
    row = fields.get_by_role("row").filter(has_text="author.born")
    assert "date" in row.inner_text()
    assert page.get_by_role("region", name="Errors").locator("tbody td").all_inner_texts() == [
        "409",
        "sold_out",
        "there is none left",
    ]
    assert "title: text" in page.get_by_role("region", name="Shape of the reply for this get").inner_text()
    assert "returns the first reply for 1 hour" in page.locator(".act-docs").inner_text()


def test_only_what_there_is_to_tell_is_told(page):
    open_act(page, "addBook")
    page.get_by_role("tab", name="About").click()
    told = page.locator(".act-docs")
    assert dict(zip(told.locator("dt").all_inner_texts(), told.locator("dd").all_inner_texts(), strict=True)) == {
        "Path": "main / book / addBook",
        "Access": "Public",
        "Repeats": "The same Idempotency-Key returns the first reply for 1 hour",
        "Mode": "Assert: takes values as they are sent",
        "Returns": "One book",
        "Limit of get": "8 levels, 500 fields",
    }


def test_the_example_is_valid_and_goes_into_the_form(page):
    open_act(page, "addBook")
    at(page, "set.title").fill("Emma")
    page.get_by_role("tab", name="About").click()
    example = json.loads(page.get_by_role("region", name="Example of set").inner_text())
    assert example["kind"] == "novel"
    assert example["year"] == 1900
    assert len(example["tags"]) == 1
    page.get_by_role("button", name="Use in form").click()
    assert at(page, "set.title").input_value() == example["title"]
    send(page)
    page.get_by_role("region", name="Reply").get_by_text("200").first.wait_for()
    undo(page, "Example copied to the form.")
    assert at(page, "set.title").input_value() == "Emma"

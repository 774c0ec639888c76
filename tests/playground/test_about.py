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
    assert page.get_by_role("region", name="Errors of its own").locator("tbody td").all_inner_texts() == [
        "409",
        "sold_out",
        "there is none left",
    ]
    assert "title: text" in page.get_by_role("region", name="What comes back").inner_text()
    facts = page.locator(".act-docs dl")
    assert facts.locator("dt").all_inner_texts() == [
        "Called as",
        "Access",
        "Idempotency-Key",
        "Mode",
        "Returns",
        "Limits of get",
    ]
    assert "it gives the first reply, for 1 hour" in facts.inner_text()
    assert page.locator(".act-description").count() == 0


def test_the_example_is_valid_and_goes_into_the_form(page):
    open_act(page, "addBook")
    at(page, "set.title").fill("Emma")
    page.get_by_role("tab", name="About").click()
    example = json.loads(page.get_by_role("region", name="Example of set").inner_text())
    assert (example["kind"], example["year"], len(example["tags"])) == ("novel", 1900, 1)
    page.get_by_role("button", name="Put it into the form").click()
    assert at(page, "set.title").input_value() == example["title"]
    send(page)
    page.get_by_role("region", name="Reply").get_by_text("200").first.wait_for()
    undo(page, "The example is in the form.")
    assert at(page, "set.title").input_value() == "Emma"

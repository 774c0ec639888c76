"""Names of fields are data, also where every object of JavaScript has a member of that name."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import object_, optional, string
from tests.playground.conftest import open_act, send
from tests.playground.test_acts import at, request_of

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

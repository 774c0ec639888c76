"""Several open requests are sent as one, where the gateway takes batches."""

from __future__ import annotations

import json

import mongomock
import pytest

from gatewayfw import HttpError, gateway
from gatewayfw.schemas import string
from tests.playground.conftest import open_act
from tests.playground.echo import Recorder
from tests.playground.test_acts import at
from tests.playground.test_looks import axe, judged  # noqa: F401  # a fixture


@pytest.fixture
def bodies():
    """What the server got, as text."""
    return []


@pytest.fixture
def service_url(stage, bodies):
    """A service that takes two acts at once."""
    gw = gateway(max_batch=2)
    gw.odm.set_db(mongomock.MongoClient().test)
    books = gw.odm.new_model("book", {"title": string()}, {})

    @gw.acts.act("book", "addBook", set={"title": string()}, get=1, public=True)
    def add_book(body):
        return books.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("book", "refuse", public=True)
    def refuse(body):
        error = HttpError("sold out", 409, code="sold_out")
        error.headers = {"Retry-After": "60"}
        raise error

    @gw.acts.act("book", "ping", public=True)
    def ping(body):
        return "pong"

    return stage(Recorder(gw.create_app(playground=True), bodies))


@pytest.fixture
def dialog(page):
    """The dialog, with three requests open."""
    open_act(page, "addBook")
    at(page, "set.title").fill("Emma")
    open_act(page, "refuse")
    open_act(page, "ping")
    page.get_by_role("button", name="Batch", exact=True).click()
    return page.get_by_role("dialog", name="Send open requests as a batch")


def test_each_request_gets_its_part_of_the_reply(page, dialog, bodies):
    dialog.get_by_role("button", name="Send 2").click()
    dialog.get_by_text("Some failed. Status 200").wait_for()
    lines = dialog.locator(".library-line")
    assert [line.locator(".badge").all_inner_texts() for line in lines.all()] == [["200"], ["409"], []]
    assert "sold out" in lines.nth(1).inner_text()
    assert dialog.get_by_text("Another try may succeed in").count() == 1
    body = {"model": "book", "act": "addBook", "details": {"set": {"title": "Emma"}, "get": {"title": 1}}}
    sent = json.loads(bodies[0])
    assert sent["batch"][0] == body
    assert len(sent["batch"]) == 2
    assert "atomic" not in sent
    dialog.get_by_role("button", name="Open the reply of book.refuse").click()
    page.get_by_role("region", name="Reply").get_by_text("sold_out").first.wait_for()
    page.get_by_role("region", name="Reply").get_by_text("Another try may succeed in").wait_for()
    page.get_by_role("link", name="History").click()
    page.locator(".library-title").first.wait_for()
    assert page.locator(".library-title").all_inner_texts() == ["book.refuse", "book.addBook"]


def test_all_or_none_and_at_most_so_many(page, dialog, bodies, axe):  # noqa: F811
    boxes = dialog.get_by_role("checkbox")
    boxes.nth(2).check()
    dialog.get_by_text("At most 2 at once.").wait_for()
    assert dialog.get_by_role("button", name="Send 3").is_disabled()
    boxes.nth(0).uncheck()
    dialog.get_by_label("All or none").check()
    dialog.get_by_role("button", name="Send 2").click()
    dialog.get_by_text("Nothing was done, as not all could be.").wait_for()
    assert json.loads(bodies[0])["atomic"] is True
    assert dialog.locator(".badge").all_inner_texts() == ["409", "409"]
    assert judged(page, axe) == []


def test_a_gateway_without_batches_offers_none(page, stage):
    gw = gateway()
    gw.acts.act("book", "ping", public=True)(lambda body: "pong")
    gw.acts.act("book", "pong", public=True)(lambda body: "ping")
    page.goto(f"{stage(gw.create_app(playground=True))}/playground")
    open_act(page, "ping")
    open_act(page, "pong")
    assert page.get_by_role("button", name="Batch", exact=True).count() == 0

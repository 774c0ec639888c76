"""Replies that are repeated, and requests that have to wait."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import string
from tests.playground.conftest import open_act, send
from tests.playground.test_replies import answered


@pytest.fixture
def service_url(stage):
    """A service with an idempotent act, and one that may be called once a minute."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    books = gw.odm.new_model("book", {"title": string()}, {})

    @gw.acts.act("book", "addBook", set={"title": string()}, get=1, public=True, idempotent="1h", idempotent_by=str)
    def add_book(body):
        return books.insert_one(body["details"]["set"], projection=body["details"]["get"])

    gw.acts.act("book", "getUsers", public=True, limit="1/minute")(lambda body: "done")
    return stage(gw.create_app(playground=True))


def test_a_repeated_reply_looks_like_one(page):
    open_act(page, "addBook")
    page.get_by_label("title").first.fill("Emma")
    page.get_by_role("button", name="New key").click()
    facts = page.get_by_role("group", name="About the reply")
    send(page)
    assert "Repeated reply" not in facts.inner_text()
    page.keyboard.press("Control+Enter")
    facts.get_by_text("Repeated reply").wait_for()
    page.get_by_role("button", name="New key").click()
    page.keyboard.press("Control+Enter")
    facts.get_by_text("Repeated reply").wait_for(state="detached")


def test_the_time_until_another_try_is_counted_down(page):
    open_act(page, "getUsers")
    send(page)
    page.keyboard.press("Control+Enter")
    box = page.locator(".failure")
    box.get_by_text("Another try may succeed in").wait_for()
    again = box.get_by_role("button", name="Send again")
    assert again.get_attribute("aria-disabled") == "true"
    page.unroute_all()
    answered(page, {"message": "busy"}, status=503, success=False, headers={"Retry-After": "1"})
    box.get_by_text("Another try may succeed now.").wait_for()
    with page.expect_request("**/gateway"):
        again.click()

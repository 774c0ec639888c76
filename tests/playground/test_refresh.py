"""The page follows a service that is started again with other acts."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.schemas import integer, string
from tests.playground.conftest import open_act
from tests.playground.test_acts import at


def app_with(*acts, kind=string):
    """An application with public acts of one model."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("book", {"title": string()}, {})
    for act in acts:
        gw.acts.act("book", act, set={"title": kind()}, public=True)(lambda body: {"title": "x"})
    return gw.create_app(playground=True)


@pytest.fixture
def service_url(stage):
    return stage(app_with("addBook", "getBook"))


def come_back(page):
    """As if the user had been at another window."""
    page.evaluate("Date.now = () => 4e12; dispatchEvent(new Event('focus'))")


def test_the_acts_are_those_of_the_service_that_runs_now(page, stage):
    open_act(page, "addBook")
    at(page, "set.title").fill("Emma")
    stage(app_with("addBook", "findBook", kind=integer))
    come_back(page)
    page.get_by_text(
        "The service has changed: added book.findBook; removed book.getBook; changed book.addBook."
    ).wait_for()
    acts = page.get_by_role("navigation", name="Acts").locator(".acts-act > .act")
    assert acts.all_inner_texts() == ["addBook", "findBook"]
    assert at(page, "set.title").get_attribute("inputmode") == "numeric"
    assert at(page, "set.title").input_value() == "Emma"


def test_an_act_that_the_service_does_not_know_any_more_shows_so(page, stage):
    open_act(page, "getBook")
    at(page, "set.title").fill("Emma")
    stage(app_with("addBook"))
    page.evaluate("Date.now = () => 4e12")
    page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_text("There is no such act").wait_for()


def test_one_asks_by_a_command(page, stage):
    def asked():
        page.keyboard.press("Control+k")
        page.keyboard.type("load the acts")
        page.keyboard.press("Enter")

    asked()
    page.get_by_text("No acts have changed.").wait_for()
    stage(app_with("addBook", "getBook", "moveBook"))
    asked()
    page.get_by_text("The service has changed: added book.moveBook.").wait_for()

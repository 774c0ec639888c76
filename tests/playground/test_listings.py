"""Listings in the playground: rows of filters, and the pages of a reply."""

from __future__ import annotations

import json

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.library import BOOKS, COUNTED, FILTERS, PAGE, library_app, title_of
from tests.playground.service import sample_app
from tests.playground.test_acts import at, reply_rows, request_of
from tests.playground.test_looks import CUT, WIDTHS, axe, judged  # noqa: F401  # a fixture
from tests.playground.test_numbers import set_of, write_json
from tests.playground.test_replies import table_of

VALUE = ".filter-value input[data-path]"
NO = {"body": {"message": "no"}, "success": False}
ALL = [title_of(number) for number in range(BOOKS)]


@pytest.fixture
def bodies():
    """What the server got, as text."""
    return []


@pytest.fixture
def service_url(stage, bodies):
    """A service with a listing of books."""
    return stage(library_app(bodies))


@pytest.fixture
def listing(page):
    """A page with the request of a listing, that shows titles."""
    open_act(page, "listBooks")
    at(page, "get.title").check()
    return page


def row(page, number):
    return page.get_by_role("group", name=f"filter {number}", exact=True)


def add(page, field, operator):
    """Add a row, and give it."""
    page.get_by_role("button", name="Add filter").click()
    page.get_by_role("menuitem", name=field, exact=True).click()
    added = page.locator(".filter-row").last
    added.get_by_label("operator").select_option(operator)
    return added


def set_in(page):
    """What the JSON editor shows as ``set``."""
    return json.loads(request_of(page))["set"]


def last_set(bodies):
    return json.loads(set_of(bodies[-1]))


def titles(page):
    texts = reply_rows(page)
    return [text[7:-1].replace("Book", "Book ") for text in texts if text.startswith("title:")]


def turn(page, text, name="Next page"):
    """Turn to another page, and wait until its number is shown."""
    page.get_by_role("button", name=name).click()
    page.get_by_role("group", name="Pages").get_by_text(text).wait_for()


def rows_of(page):
    """The field, operator and value of each row."""
    return [
        (one.get_by_label("field").input_value(), one.get_by_label("operator").input_value())
        for one in page.locator(".filter-row").all()
    ]


def test_a_filter_is_written_in_rows_and_sent_as_shown(listing, bodies):
    add(listing, "year", "gte").locator(VALUE).fill("2003")
    assert set_in(listing) == {"filter": {"year": {"gte": 2003}}}
    add(listing, "title", "contains").locator(VALUE).fill("K 0")
    add(listing, "year", "lt").locator(VALUE).fill("2006")
    add(listing, "lent", "eq").locator(VALUE).check()
    send(listing)
    assert last_set(bodies) == {
        "filter": {"year": {"gte": 2003, "lt": 2006}, "title": {"contains": "K 0"}, "lent": True}
    }
    assert rows_of(listing) == [("year", "gte"), ("title", "contains"), ("year", "lt"), ("lent", "eq")]
    assert titles(listing) == [title_of(4)]


def test_a_filter_by_a_relation_finds_its_documents_and_can_be_read(page, stage, login):
    page.goto(f"{stage(sample_app())}/playground")
    login()
    open_act(page, "getUsers")
    page.get_by_role("button", name="Add filter").click()
    page.get_by_role("menuitem", name="organizations").click()
    assert page.get_by_label("operator").locator("option").all_inner_texts() == ["has (eq)", "has one of (in)"]
    choices = page.locator(".filter-row select")
    assert [one.evaluate("one => one.offsetWidth > 100") for one in choices.all()] == [True, True]
    page.locator(".filter-row").get_by_role("button", name="Find").click()
    page.get_by_role("dialog", name="Find in organization").get_by_role("button", name="City Library").click()
    send(page)
    page.get_by_role("treeitem").filter(has_text="next:").filter(has_text="null").wait_for()
    assert page.get_by_role("group", name="Pages").count() == 0


def test_each_operator_has_the_input_of_its_values(listing):
    one = add(listing, "year", "in")
    for _ in range(2):
        one.get_by_role("button", name="Add value").click()
    assert set_in(listing) == {"filter": {"year": {"in": [0, 0]}}}
    at(listing, "set.filter.year.in.0").fill("2001")
    one.get_by_role("checkbox", name="value 2 is null").check()
    assert set_in(listing) == {"filter": {"year": {"in": [2001, None]}}}
    one.get_by_label("operator").select_option("eq")
    assert set_in(listing) == {"filter": {"year": 2001}}
    one.get_by_role("checkbox", name="value is null").check()
    assert set_in(listing) == {"filter": {"year": None}}
    one.get_by_label("operator").select_option("exists")
    one.locator(VALUE).uncheck()
    assert set_in(listing) == {"filter": {"year": {"exists": False}}}
    one.get_by_label("operator").select_option("gte")
    assert one.get_by_role("checkbox", name="null").count() == 0
    one.get_by_label("field").select_option("out")
    one.locator(VALUE).fill("2020-01-01T00:00")
    assert set_in(listing) == {"filter": {"out": {"gte": "2020-01-01T00:00Z"}}}
    one.get_by_label("field").select_option("author._id")
    assert set_in(listing) == {}
    listing.get_by_role("button", name="Remove filter 1").click()
    listing.locator(".filter-add button:focus").filter(has_text="Add filter").wait_for()
    assert set_in(listing) == {}


def test_a_filter_of_the_json_shows_in_the_rows(listing):
    write_json(listing, '{"set": {"filter": {"year": {"gte": 5, "lte": 1}, "nope": 3, "title": {}, "lent": false}}}')
    listing.get_by_role("tab", name="Form").click()
    shown = [("year", "gte"), ("year", "lte"), ("nope", "eq"), ("title", ""), ("lent", "eq")]
    assert rows_of(listing) == shown
    assert row(listing, 2).get_by_label("operator").locator("option").first.inner_text() == "lte (unknown)"
    assert at(listing, "set.filter.year.gte").input_value() == "5"
    assert at(listing, "set.filter.lent").is_checked() is False
    assert set_in(listing) == {"filter": {"year": {"gte": 5, "lte": 1}, "nope": 3, "title": {}, "lent": False}}


def test_the_same_operator_twice_is_not_sent_until_it_is_changed(listing, bodies):
    add(listing, "year", "gte").locator(VALUE).fill("2003")
    second = add(listing, "year", "gte")
    operator = second.get_by_label("operator")
    assert operator.get_attribute("aria-invalid") == "true"
    said = listing.locator(f"[id='{operator.get_attribute('aria-describedby')}']").inner_text()
    assert said == "Another row has the same field and operator. Change or remove one."
    listing.keyboard.press("Control+Enter")
    listing.locator(".notice.bad").get_by_text("Not sent: what is written at set.filter is not valid.").wait_for()
    assert bodies == []
    operator.select_option("lt")
    second.locator(VALUE).fill("2004")
    assert operator.get_attribute("aria-invalid") is None
    send(listing)
    assert last_set(bodies) == {"filter": {"year": {"gte": 2003, "lt": 2004}}}


def test_a_row_without_a_value_is_said_to_be_left_out_and_keeps_nothing_from_being_sent(listing, bodies):
    add(listing, "title", "prefix").locator(VALUE).fill("Book 0")
    value = add(listing, "year", "gte").locator(VALUE)
    listing.get_by_text("Without a value this row is not sent.").wait_for()
    assert row(listing, 2).locator(".required:visible").count() == 0
    assert set_in(listing) == {"filter": {"title": {"prefix": "Book 0"}}}
    assert rows_of(listing) == [("title", "prefix"), ("year", "gte")]
    value.fill("2008")
    assert set_in(listing) == {"filter": {"title": {"prefix": "Book 0"}, "year": {"gte": 2008}}}
    value.fill("")
    send(listing)
    assert last_set(bodies) == {"filter": {"title": {"prefix": "Book 0"}}}
    listing.reload()
    listing.get_by_text("Without a value this row is not sent.").wait_for()
    listing.get_by_role("button", name="More", exact=True).click()
    listing.get_by_role("menuitem", name="Reset").click()
    listing.locator(".filter-row").first.wait_for(state="detached")


@pytest.mark.parametrize("field", ["year", "title", "author._id", "out"])
def test_a_new_row_sends_nothing(listing, field):
    add(listing, field, FILTERS[field][0])
    assert set_in(listing) == {}
    listing.get_by_text("Without a value this row is not sent.").wait_for()


def test_rows_that_are_not_valid_wait_while_the_json_is_shown_and_over_a_reload(listing):
    add(listing, "year", "gte")
    add(listing, "year", "gte")
    listing.get_by_role("tab", name="JSON").click()
    listing.get_by_text("Not sent: what is written at set.filter").first.wait_for()
    listing.reload()
    listing.get_by_role("tab", name="Form").click()
    listing.locator(".filter-row").first.wait_for()
    assert rows_of(listing) == [("year", "gte"), ("year", "gte")]


@pytest.mark.parametrize(
    ("field", "operator", "path", "said"),
    [
        ("year", "gte", "set.filter.year.gte", "Not a valid integer."),
        ("author._id", "eq", "set.filter.author._id", "Not a valid ObjectId (24 hexadecimal digits)."),
    ],
)
def test_what_the_server_refuses_is_shown_at_its_row(listing, field, operator, path, said):
    add(listing, field, operator).locator(VALUE).fill("many")
    add(listing, "title", "prefix").locator(VALUE).fill("Book")
    send(listing)
    value = at(listing, path)
    assert value.get_attribute("aria-invalid") == "true"
    errors = value.get_attribute("aria-describedby").split()[0]
    assert listing.locator(f"[id='{errors}']").inner_text() == said
    assert listing.locator(".filter-row [aria-invalid]").count() == 1
    listing.get_by_role("button", name=path).click()
    assert listing.evaluate("document.activeElement.dataset.path") == path
    value.fill("more")
    assert value.get_attribute("aria-invalid") is None


def said(page, name):
    """Why a button of the pages does nothing; empty where it does something."""
    button = page.get_by_role("button", name=name)
    described = button.get_attribute("aria-describedby")
    return page.locator(f"[id='{described}']").inner_text() if button.is_disabled() else ""


def test_next_page_leads_through_all_of_a_listing_and_leaves_the_form(listing, bodies):
    written = request_of(listing)
    send(listing)
    seen = titles(listing)
    listing.get_by_role("group", name="Pages").get_by_text(f"Page 1 · more than {COUNTED} in total").wait_for()
    assert [said(listing, f"{name} page") for name in ("First", "Previous")] == ["This is the first page."] * 2
    for number in range(2, -(-BOOKS // PAGE) + 1):
        turn(listing, f"Page {number} · more than {COUNTED} in total")
        seen += titles(listing)
    assert seen == ALL
    button = listing.get_by_role("button", name="Next page")
    assert button.is_disabled()
    assert button.evaluate("one => one === document.activeElement") is True
    assert said(listing, "Next page") == "This is the last page."
    button.click(force=True)
    assert ["after" in json.loads(set_of(body)) for body in bodies] == [False, True, True, True, True]
    assert request_of(listing) == written
    listing.get_by_role("navigation", name="Views").get_by_role("link", name="History").click()
    listing.locator(".library-entry").first.wait_for()
    assert listing.locator(".library-entry").count() == len(bodies)


def test_previous_and_first_lead_back(listing):
    send(listing)
    for number in (2, 3, 4):
        turn(listing, f"Page {number}")
    turn(listing, "Page 3", "Previous page")
    turn(listing, "Page 2 · more than 20 in total", "Previous page")
    assert titles(listing) == ALL[PAGE : 2 * PAGE]
    turn(listing, "Page 3")
    turn(listing, "Page 1", "First page")
    assert (titles(listing), said(listing, "Previous page")) == (ALL[:PAGE], "This is the first page.")


def test_next_page_works_with_the_keyboard(listing):
    listing.keyboard.press("Control+Enter")
    button = listing.get_by_role("button", name="Next page")
    button.focus()
    for number in (2, 3):
        listing.keyboard.press("Enter")
        listing.get_by_role("status").filter(has_text=f"Page {number} · more than 20 in total").wait_for()
        assert button.evaluate("one => one === document.activeElement") is True


def test_pages_are_of_what_was_sent_and_the_form_is_sent_by_send_only(listing, bodies):
    add(listing, "year", "gte").locator(VALUE).fill("2010")
    send(listing)
    turn(listing, "Page 2 · 13 in total")
    at(listing, "set.limit").fill("2")
    at(listing, "set.sort").select_option(label="-title")
    turn(listing, "Page 3 · 13 in total")
    assert set(last_set(bodies)) == {"filter", "after"}
    assert set_in(listing) == {"filter": {"year": {"gte": 2010}}, "sort": "-title", "limit": 2}
    send(listing)
    turn(listing, "Page 2 · 13 in total")
    assert titles(listing) == [title_of(20), title_of(19)]


def test_a_change_of_filter_or_sort_leaves_out_what_begins_another_page(listing):
    send(listing)
    write_json(listing, json.dumps({"set": {"after": "x", "sort": "title"}, "get": {"title": 1}}))
    listing.get_by_role("tab", name="Form").click()
    at(listing, "set.sort").select_option(label="-title")
    assert set_in(listing) == {"sort": "-title"}


def test_a_page_whose_number_nobody_knows_says_so(listing, bodies):
    send(listing)
    turn(listing, "Page 2")
    after = last_set(bodies)["after"]
    listing.reload()
    at(listing, "set.after").fill(after)
    send(listing)
    listing.get_by_role("group", name="Pages").get_by_text("A later page").wait_for()
    assert said(listing, "Previous page") == "The page before was not read here."
    turn(listing, "A later page")
    turn(listing, "A later page", "Previous page")
    turn(listing, "Page 1", "First page")


def test_a_refused_page_can_be_asked_again(listing):
    send(listing)
    listing.route("**/gateway", lambda route: route.fulfill(status=503, json=NO))
    listing.get_by_role("button", name="Next page").click()
    listing.locator(".failure").wait_for()
    listing.unroute("**/gateway")
    turn(listing, "Page 2")
    listing.route("**/gateway", lambda route: route.fulfill(status=503, json=NO))
    send(listing)
    listing.locator(".failure").wait_for()
    assert listing.get_by_role("group", name="Pages").count() == 0


def heads(table):
    return {one.inner_text(): one.bounding_box() for one in table.get_by_role("columnheader").all()}


def test_a_column_sorts_the_page_or_the_whole_listing(listing, bodies):
    send(listing)
    table = table_of(listing)
    head = table.get_by_role("columnheader", name="title")
    button = head.get_by_role("button")
    assert button.get_attribute("title") == "Sorts this page by title"
    counted = listing.locator(".reply-counted")
    assert counted.inner_text() == f"{PAGE} rows"
    button.click()
    button.click()
    cells = table.locator("tbody td:nth-child(2)")
    assert cells.all_inner_texts() == ALL[:PAGE][::-1]
    assert counted.locator("span").all_inner_texts() == [
        "5 rows",
        "sorted by title, this page only",
        "Sort the whole listing",
    ]
    counted.get_by_role("button", name="Sort the whole listing").click()
    table.get_by_role("cell", name=ALL[-1]).wait_for()
    assert (last_set(bodies), set_in(listing)) == ({"sort": "-title"}, {"sort": "-title"})
    assert (cells.all_inner_texts(), head.get_attribute("aria-sort")) == (ALL[::-1][:PAGE], "descending")


def test_columns_stay_from_page_to_page(listing):
    for name in ("year", "out", "lent"):
        at(listing, f"get.{name}").check()
    send(listing)
    table = table_of(listing)
    before = heads(table)
    assert list(before) == ["_id", "title", "year", "lent", "out"]
    changed = {"body": {"rows": [{"_id": "a" * 24, "title": "x", "more": 1}], "next": None}, "success": True}
    listing.route("**/gateway", lambda route: route.fulfill(json=changed))
    turn(listing, "Page 2")
    table.get_by_role("cell", name="x", exact=True).wait_for()
    now = heads(table)
    assert list(now) == [*before, "more"]
    assert {name: now[name] for name in before} == before


def test_the_editor_knows_the_fields_and_operators_of_a_filter(listing):
    write_json(listing, '{"set": {"filter": {"year": {"g')
    listing.get_by_role("option", name="gte").click()
    listing.get_by_role("option").first.wait_for(state="hidden")
    write_json(listing, '{"set": {"filter": {"year": "x", "lent": true, "out": 5, "nope": 1}}, "get": {}}')
    wrong = listing.locator(".cm-lintRange-warning")
    wrong.nth(2).wait_for()
    assert [one.inner_text() for one in wrong.all()] == ['"x"', "5", "1"]


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_and_nothing_is_cut_off(listing, axe, width):  # noqa: F811
    listing.set_viewport_size(WIDTHS[width])
    add(listing, "year", "in").get_by_role("button", name="Add value").click()
    add(listing, "author._id", "eq").locator(VALUE).fill("many")
    add(listing, "out", "gte").locator(VALUE).fill("2020-01-01T00:00")
    send(listing)
    assert [*judged(listing, axe), *listing.evaluate(CUT)] == []
    for number in (2, 2, 1):
        listing.get_by_role("button", name=f"Remove filter {number}").click()
    listing.get_by_role("button", name="Send", exact=True).first.click()
    listing.get_by_role("button", name="Next page").wait_for()
    assert [*judged(listing, axe), *listing.evaluate(CUT)] == []
    table_of(listing).get_by_role("button", name="title").click()
    listing.get_by_role("button", name="Sort the whole listing").wait_for()
    assert [*judged(listing, axe), *listing.evaluate(CUT)] == []

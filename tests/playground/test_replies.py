"""How a reply is drawn: its tree, its table, and what is known of it."""

from __future__ import annotations

import os

import pytest

from tests.playground.conftest import open_act, send
from tests.playground.test_acts import reply_rows
from tests.playground.test_looks import CUT, WIDTHS, axe, judged  # noqa: F401  # a fixture

ID = "6b0702a42f0611f6c159d637"
LONG = "word " * 60
BODY = {
    "rows": [{"_id": ID, "name": "Ann", "note": LONG, "tags": ["a", "b"]}, {"_id": ID[::-1], "size": 3, "deep": {}}],
    "next": None,
}
#: Milliseconds for a table; without the switch only a limit for loaded machines.
MOST = 500 if os.environ.get("GATEWAYFW_TEST_FAULTS") == "1" else 10_000


def answered(page, body, act="getUsers", status=200, headers=None, success=True):
    """Send, and get a reply with a body."""
    reply = {"body": body, "success": success}
    page.route("**/gateway", lambda route: route.fulfill(status=status, json=reply, headers=headers))
    open_act(page, act)
    send(page)


def lines(page):
    """All lines of the tree: indent, what is written there, and whether a comma follows."""
    return page.evaluate(
        """() => [...document.querySelectorAll('.reply .json-row')].map(row => [
            ' '.repeat(row.style.getPropertyValue('--depth')), row.innerText.replace(/\\s+/g, ' ').trim(),
            row.querySelector('.json-comma') ? ',' : ''].join(''))"""
    )


def table_of(page):
    page.get_by_role("tab", name="Table").click()
    table = page.get_by_role("region", name="Reply as a table")
    table.wait_for()
    return table


def test_the_tree_is_the_body_with_counts_brackets_and_commas(page):
    answered(page, {"rows": [{"_id": ID, "name": "Ann"}, {"size": 3, "deep": {}}], "next": None})
    assert lines(page) == [
        "{",
        " rows: [ 2 items",
        "  0: {",
        f'   _id: "{ID}",',
        '   name: "Ann"',
        "  },",
        "  1: {",
        "   size: 3,",
        "   deep: {}",
        "  }",
        " ],",
        " next: null",
        "}",
    ]
    for fold in (6, 2):
        page.locator(".json-row").nth(fold).locator(".json-fold").click()
    assert lines(page)[2:4] == ["  0: { Ann },", "  1: { size, deep }"]
    page.get_by_role("tab", name="Raw").click()
    text = page.get_by_role("region", name="Reply as text")
    text.locator(".code-key").first.wait_for()
    assert text.inner_text().startswith('{"body"')


def test_the_shape_before_a_reply_is_drawn_as_a_reply(page):
    open_act(page, "getUsers")
    page.get_by_role("region", name="Shape of the reply").wait_for()
    promised = lines(page)
    assert [promised[n] for n in (0, 1, 2, 3, -1)] == ["{", " rows: [", "  {", "   _id: id,", "}"]
    look = """one => { const { fontFamily, fontSize, color } = getComputedStyle(one);
        return [fontFamily, fontSize, color, one.closest('.json-row').offsetHeight]; }"""
    name = page.locator(".reply .json-name").first
    before = name.evaluate(look)
    answered(page, BODY)
    page.get_by_role("treeitem").first.wait_for()
    assert name.evaluate(look) == before


def test_the_whole_body_can_be_chosen(page):
    answered(page, 3)
    page.get_by_role("treeitem").click()
    bar = page.get_by_role("group", name="The chosen value")
    bar.get_by_role("button", name="Copy path").wait_for()
    assert (reply_rows(page), bar.locator("code").inner_text()) == (["3"], "body")


def test_an_id_is_short_and_a_wide_cell_is_cut_until_it_is_chosen(page):
    answered(page, BODY)
    table = table_of(page)
    cells = {name: table.locator("tbody tr").first.locator("td").nth(n) for n, name in enumerate(names(table))}
    assert (cells["_id"].get_attribute("title"), cells["_id"].inner_text()) == (ID, ID)
    assert cells["_id"].bounding_box()["width"] < 120
    assert cells["note"].bounding_box()["width"] == 480
    assert cells["note"].get_attribute("title") == LONG
    low = cells["note"].bounding_box()["height"]
    cells["note"].click()
    assert cells["note"].bounding_box()["height"] > 3 * low
    cells["_id"].click()
    page.get_by_role("button", name="Copy value").click()
    page.get_by_text("The value is copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == ID


def names(table):
    return table.get_by_role("columnheader").all_inner_texts()


def test_the_first_column_stays_and_the_right_edge_fades_while_there_is_more(page):
    answered(page, BODY)
    table = table_of(page)
    table.locator("tbody td").first.wait_for()
    first, frame = table.locator("tbody td").first, page.locator(".reply-frame")
    before = first.bounding_box()
    assert "has-more" in frame.get_attribute("class")
    table.evaluate("one => one.scrollTo(9999, 0)")
    page.wait_for_function("one => !one.classList.contains('has-more')", arg=frame.element_handle())
    assert first.bounding_box() == before


def test_the_table_is_searched(page):
    answered(page, BODY)
    table = table_of(page)
    counted = page.locator(".reply-counted")
    page.get_by_role("searchbox", name="Search the reply").fill("ANN")
    counted.get_by_text("1 of 2 rows").wait_for()
    assert table.locator("tbody tr").count() == 1
    assert table.get_by_role("button", name="name", exact=True).get_attribute("title") == "Sorts these rows by name"


def test_what_is_known_of_a_reply_is_in_one_row(page):
    answered(page, {"message": "no"}, status=409, headers={"X-Request-Id": "abc-1"}, success=False)
    facts = page.get_by_role("group", name="About the reply")
    assert facts.locator(".badge, .reply-fact, .reply-id").first.inner_text() == "409 Conflict"
    sizes = facts.locator(".badge, .reply-fact, .reply-id").evaluate_all(
        "all => [...new Set(all.map(one => getComputedStyle(one).fontSize))]"
    )
    assert sizes == ["12px"]
    facts.get_by_role("button", name="request abc-1").click()
    page.get_by_text("The request id is copied.").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "abc-1"


def test_no_text_has_the_green_of_what_went_well(page):
    answered(page, BODY)
    colour = "one => getComputedStyle(one).color"
    assert page.locator(".json-text").first.evaluate(colour) != page.locator(".badge.ok").evaluate(colour)


UNKNOWN = "It is not known whether the act was done: look before you send it again."


def shown(page, **reply):
    """Send, and give what the reply is said to be; without a reply the network is down."""
    page.route("**/gateway", lambda route: route.fulfill(**reply) if reply else route.abort())
    open_act(page, "getUsers")
    with page.expect_event("requestfinished" if reply else "requestfailed"):  # What is shown may be the last one's.
        page.get_by_role("button", name="Send", exact=True).first.click()
    page.get_by_role("group", name="About the reply").wait_for()
    return page.locator(".reply .empty, .failure").inner_text().split("\n")


def test_what_was_not_reached_says_what_may_be_wrong(page):
    told = [one for one in shown(page) if one]
    assert told == [
        "No reply",
        "The service was not reached, or the connection broke before it answered.",
        UNKNOWN,
        "Failed to fetch",
    ]
    assert page.get_by_role("group", name="About the reply").locator(".badge").inner_text() == "No reply"


def test_a_broken_connection_with_a_key_says_that_it_can_be_sent_again(page):
    page.get_by_role("button", name="Headers and token").click()
    page.get_by_role("button", name="Add a header").click()
    page.get_by_label("Name of header 1").fill("Idempotency-Key")
    page.get_by_label("Value of header 1").fill("k-1")
    page.keyboard.press("Escape")
    assert "Sent again with the same Idempotency-Key, it is not done twice." in " ".join(shown(page))


@pytest.mark.parametrize(("status", "expected"), [(404, False), (502, True), (504, True)])
def test_what_a_proxy_answers_may_be_done_all_the_same(page, status, expected):
    told = shown(page, status=status, body="<h1>Bad</h1>", content_type="text/html")
    assert (UNKNOWN in told) == expected


def test_a_reply_that_is_no_text_says_so(page):
    shown_at = page.get_by_role("group", name="About the reply")
    body = b'{"body": "caf\xe9", "success": true}'
    page.route("**/gateway", lambda route: route.fulfill(status=200, body=body, content_type="application/json"))
    open_act(page, "getUsers")
    send(page)
    shown_at.get_by_text("Not valid UTF-8").wait_for()
    assert f"{len(body)} B" in shown_at.inner_text()


def test_what_the_gateway_did_not_write_leads_to_its_text(page):
    told = [one for one in shown(page, status=502, body="<h1>Bad</h1>", content_type="text/html") if one]
    assert told[:2] == ["This is no reply of the gateway", "Something before it may have answered, such as a proxy."]
    page.get_by_role("button", name="Show its text").click()
    assert page.get_by_role("region", name="Reply as text").inner_text() == "<h1>Bad</h1>"


def test_an_error_of_the_service_says_where_more_is_known(page):
    refused = {"body": {"message": "internal error"}, "success": False}
    told = shown(page, status=500, json=refused, headers={"X-Request-Id": "abc-1"})
    assert [one for one in told if one] == [
        "Internal error",
        "The log of the service has more, under the request id abc-1.",
    ]


def test_who_must_log_in_can_do_so_there(page):
    shown(page, status=401, json={"body": {"message": "not authenticated"}, "success": False})
    page.locator(".failure").get_by_role("button", name="Log in").click()
    page.get_by_role("dialog", name="Log in").wait_for()


def test_an_empty_list_is_told_from_none(page):
    answered(page, {"rows": [], "next": None})
    page.get_by_role("tab", name="Table").click()
    page.get_by_text("The list is empty").wait_for()
    page.unroute("**/gateway")
    page.route("**/gateway", lambda route: route.fulfill(json={"body": {"_id": ID}, "success": True}))
    page.keyboard.press("Control+Enter")
    page.get_by_text("No list in this reply").wait_for()


@pytest.mark.parametrize("width", ["wide", "narrow"])
def test_axe_finds_nothing_in_replies_of_all_kinds(page, axe, width):  # noqa: F811
    page.set_viewport_size(WIDTHS[width])
    found = []  # The newest route answers; taking others away would turn interception off and on.
    headers = {"X-Request-Id": "abc-1"}
    errors = {"message": "not valid", "code": "x", "errors": {"set.limit": ["Too many."], "set.sort": ["Unknown."]}}
    for status, body in ((200, BODY), (200, None), (400, errors), (401, {"message": "no"}), (500, {"message": "no"})):
        answered(page, body, status=status, headers=headers, success=status == 200)
        found += [*judged(page, axe), *page.evaluate(CUT)]
    shown(page)
    found += judged(page, axe)
    page.get_by_role("tab", name="Table").click()
    page.route("**/gateway", lambda route: route.fulfill(json={"body": BODY, "success": True}))
    with page.expect_response("**/gateway"):
        page.keyboard.press("Control+Enter")
    page.locator(".reply-table td").nth(2).click()
    assert [*found, *judged(page, axe)] == []


@pytest.fixture
def options(request):
    return getattr(request, "param", {"viewport": {"width": 1280, "height": 800}})


@pytest.mark.parametrize(
    "options", [{"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}], indirect=True
)
def test_on_a_phone_rows_can_be_touched_and_the_search_stays(page):
    answered(page, {"rows": [{"number": number} for number in range(60)]})
    row = page.get_by_role("treeitem").nth(3)
    assert row.bounding_box()["height"] == 26
    page.locator(".acts-split").evaluate("one => one.scrollTo(0, 99999)")
    field = page.get_by_role("searchbox", name="Search the reply")
    assert 0 < field.bounding_box()["y"] < 844
    table = table_of(page)
    assert table.locator("tbody td").first.bounding_box()["height"] >= 32


@pytest.mark.parametrize("options", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_long_texts_wrap_in_a_reply_that_is_not_long(page):
    answered(page, {"text": "word " * 40, "next": "one"})
    tree = page.get_by_role("tree", name="Reply as a tree")
    assert tree.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    rows = [row.bounding_box()["height"] for row in tree.get_by_role("treeitem").all()]
    assert rows[0] == 22
    assert rows[1] > 60
    assert rows[2] == 22
    tree.focus()
    page.keyboard.press("End")
    assert tree.locator(".chosen").inner_text().replace("\n", "") == 'next:"one"'


TABLE = """async (tab) => {
    const start = performance.now();
    tab.click();
    while (!document.querySelectorAll('.reply-table tbody tr').length) await new Promise((done) => setTimeout(done));
    document.body.offsetHeight;
    return performance.now() - start;
}"""


def test_a_thousand_rows_are_a_table_soon(page):
    answered(page, [{"_id": f"{n:024x}", **{f"field{i}": f"value {n}" for i in range(9)}} for n in range(1_000)])
    took = []
    for _ in range(3):
        took.append(page.evaluate(TABLE, page.get_by_role("tab", name="Table").element_handle()))
        if took[-1] <= MOST:
            break
        page.get_by_role("tab", name="Reply").click()
    assert min(took) <= MOST
    assert page.locator(".reply-counted span").first.inner_text() == "1,000 rows"


def test_search_and_order_of_a_table_stay_while_another_view_is_shown(page):
    answered(page, BODY)
    table = table_of(page)
    page.get_by_role("searchbox", name="Search the reply").fill("n")
    for _ in range(2):
        table.get_by_role("button", name="name", exact=True).click()
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Acts", exact=True).click()
    assert page.get_by_role("searchbox", name="Search the reply").input_value() == "n"
    assert table.get_by_role("columnheader", name="name", exact=True).get_attribute("aria-sort") == "descending"

"""Lists read by page with both clients."""

from __future__ import annotations

import pytest

from gatewayfw.client import BadReply, CallError, HttpClient, InProcessClient
from gatewayfw.client.replies import follow
from tests.export.listed import listed
from tests.export.test_typescript_live import served

GIVEN = {"filter": {"year": {"gte": 2000}}, "sort": "-title", "limit": 3}


@pytest.fixture(scope="module")
def gw():
    return listed()


@pytest.fixture(params=[InProcessClient, HttpClient])
def client(request, gw):
    if request.param is InProcessClient:
        yield InProcessClient(gw)
        return
    with served(gw.create_app()) as url, HttpClient(url) as client:
        yield client


def titles(page):
    return [row["title"][-1] for row in page["rows"]]


def test_pages_come_to_their_end(client):
    pages = list(client.pages("book", "list", service="main", set=GIVEN, get={"title": 1}))
    assert list(map(titles, pages)) == [["6", "5", "4"], ["3", "2", "1"], ["0"]]
    assert [page.get("total") for page in pages] == [{"atLeast": 5}, None, None]
    assert pages[-1]["next"] is None


def test_pages_begin_where_they_are_told_to_and_leave_what_they_are_given(client):
    first = client.call("book", "list", get={"title": 1})
    given = {"after": first["next"]}
    assert list(map(titles, client.pages("book", "list", set=given, get={"title": 1}))) == [["3", "4", "5"], ["6"]]
    assert given == {"after": first["next"]}


def test_a_page_is_asked_for_when_it_is_wanted(client):
    pages = client.pages("book", "list", set={"after": "none"})
    with pytest.raises(CallError) as refused:
        next(pages)
    assert refused.value.errors == {"set.after": ["Not a token of this list: begin again without it."]}


def test_pages_are_of_the_service_that_is_named(client):
    with pytest.raises(CallError, match="service not found: none"):
        next(client.pages("book", "list", service="none"))


def test_a_list_that_does_not_go_on_is_an_error(client):
    pages = client.pages("book", "stuck")
    assert next(pages) == {"rows": [], "next": "again"}
    with pytest.raises(BadReply) as stuck:
        next(pages)
    message = "bad reply of the gateway: its list does not go on"
    assert stuck.value.message == message
    assert stuck.value.status == 200
    assert stuck.value.code == "bad_reply"
    with pytest.raises(BadReply):
        next(client.pages("book", "stuck", set={"after": "again"}))


@pytest.mark.parametrize(
    "body", [None, [], {"rows": []}, {"next": None}, {"rows": [], "next": 5}, {"rows": 5, "next": None}]
)
def test_what_is_no_page_is_an_error(body):
    with pytest.raises(BadReply) as odd:
        next(follow(lambda given: body, None))
    message = "bad reply of the gateway: it is no page of a list"
    assert odd.value.message == message
    assert odd.value.status == 200
    assert odd.value.code == "bad_reply"

"""Where a token and a role may be in a request, and what is found there."""

from __future__ import annotations

import pytest

from gatewayfw.acts.carriers import ROLE, read_carried, read_headers, sent_by_all, set_field
from gatewayfw.acts.context import Headers
from gatewayfw.carriers import TOKEN, Carrier, bearer, cookie, header
from gatewayfw.errors import DefinitionError

READ = {
    "no header": (header("X-Key"), [], []),
    "header": (header("X-Key"), [("x-key", " a b ")], [" a b "]),
    "empty header": (header("X-Key"), [("x-key", "")], [""]),
    "two headers": (header("X-Key"), [("x-key", "a"), ("X-KEY", "b")], ["a", "b"]),
    "no authorization": (bearer(), [("token", "a")], []),
    "bearer": (bearer(), [("Authorization", "Bearer a.b-c_d")], ["a.b-c_d"]),
    "bearer in any case and with spaces": (bearer(), [("Authorization", " bEARER   a ")], ["a"]),
    "bearer of any letters": (bearer(), [("Authorization", "Bearer XaX")], ["XaX"]),
    "bearer without a token": (bearer(), [("Authorization", "Bearer")], [""]),
    "bearer joined by a proxy": (bearer(), [("Authorization", "Bearer a, Bearer b")], ["a, Bearer b"]),
    "two bearers": (bearer(), [("Authorization", "Bearer a"), ("Authorization", "Bearer b")], ["a", "b"]),
    "another scheme": (bearer(), [("Authorization", "Basic Bearer")], []),
    "a longer scheme": (bearer(), [("Authorization", "BearerX a")], []),
    "no cookie": (cookie("sid"), [], []),
    "cookie": (cookie("sid"), [("Cookie", "a=1; sid=x.y=; b=2")], ["x.y="]),
    "cookie of a longer name": (cookie("sid"), [("Cookie", "xsid=1; sid2=2; SID=3; sid")], []),
    "cookie after a tab": (cookie("sid"), [("Cookie", "a=1;\tsid=x \t;b=2")], ["x"]),
    "cookie after no space": (cookie("sid"), [("Cookie", "a=1; \x85sid=x; \xa0sid=y; sid\xa0=z")], []),
    "empty cookie": (cookie("sid"), [("Cookie", "sid=")], [""]),
    "cookie twice": (cookie("sid"), [("Cookie", "sid=mine; sid=theirs")], ["mine", "theirs"]),
    "cookie in two headers": (cookie("sid"), [("Cookie", "sid=mine"), ("Cookie", "sid=theirs")], ["mine", "theirs"]),
}


@pytest.mark.parametrize(("carrier", "headers", "found"), READ.values(), ids=READ)
def test_a_value_is_read_of_headers(carrier, headers, found):
    assert read_carried(carrier, {"Headers": Headers(headers)}, {}) == read_headers(carrier, Headers(headers)) == found


@pytest.mark.parametrize(
    ("set_", "found"), [({}, []), ({"role": None}, []), ({"role": ""}, [""]), ({"role": {"a": 1}}, [{"a": 1}])]
)
def test_a_value_is_read_of_set(set_, found):
    assert read_carried(set_field("role"), {}, {"details": {"set": set_, "get": {}}}) == found


def test_a_context_without_headers_has_no_value():
    assert (read_carried(bearer(), {}, {}), read_carried(cookie("sid"), {"Headers": None}, {})) == ([], [])


def test_a_field_is_a_place_too():
    assert (set_field("asRole"), ROLE) == (Carrier("set", "asRole"), Carrier("set", "activeRoleId"))


SENT = {
    "header": (header("X-Key"), {"x-key": "a"}),
    "bearer": (bearer(), {"Authorization": "Bearer a"}),
    "cookie": (cookie("sid"), {"Cookie": "sid=a"}),
}


@pytest.mark.parametrize(("carrier", "headers"), SENT.values(), ids=SENT)
def test_what_is_sent_is_what_is_read(carrier, headers):
    assert (carrier.sent("a"), read_headers(carrier, Headers(headers))) == (headers, ["a"])


def test_values_are_sent_together():
    values = [(TOKEN, "a"), (bearer(), "b"), (cookie("sid"), "c"), (cookie("role"), "d")]
    assert sent_by_all(values) == {"token": "a", "Authorization": "Bearer b", "Cookie": "sid=c; role=d"}


@pytest.mark.parametrize("name", ["", None, 1])
def test_a_name_that_no_field_has_is_refused(name):
    with pytest.raises(DefinitionError) as raised:
        set_field(name)
    assert raised.value.message == "set_field: expected the name of a field of set"

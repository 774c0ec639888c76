"""Headers, and where a token and a role may be in a request."""

from __future__ import annotations

from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from werkzeug.datastructures import EnvironHeaders
from werkzeug.datastructures import Headers as WerkzeugHeaders

from gatewayfw.acts.headers import ROLE, Headers, read_carried, read_headers, sent_by_all, set_field
from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import TOKEN, Carrier, bearer, cookie, header

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


HEADER_SOURCES = {
    "mapping": {"Token": "t", "Accept-Language": "fa"},
    "pairs": [("Token", "t"), ("Accept-Language", "fa")],
    "iterator": iter([("Token", "t"), ("Accept-Language", "fa")]),
    "werkzeug": WerkzeugHeaders([("Token", "t"), ("Accept-Language", "fa")]),
    "environ": EnvironHeaders({"HTTP_TOKEN": "t", "HTTP_ACCEPT_LANGUAGE": "fa"}),
    "ours": Headers({"Token": "t", "Accept-Language": "fa"}),
}


@pytest.mark.parametrize("source", HEADER_SOURCES.values(), ids=HEADER_SOURCES)
def test_headers_do_not_mind_case(source):
    headers = Headers(source)
    assert headers["TOKEN"] == "t"
    assert headers.get("accept-LANGUAGE") == "fa"
    assert headers.get("missing") is None
    assert list(headers) == ["Token", "Accept-Language"]
    assert headers == {"token": "t", "accept-language": "fa"}


@pytest.mark.parametrize("kind", [list, WerkzeugHeaders, Headers])
def test_headers_keep_all_values_of_a_name(kind):
    headers = Headers(kind([("Accept", "a"), ("ACCEPT", "b"), ("Token", "t")]))
    assert headers["accept"] == "a"
    assert headers.getlist("ACCEPT") == ["a", "b"]
    assert headers.getlist("missing") == []
    assert dict(headers) == {"Accept": "a", "Token": "t"}


@pytest.mark.parametrize("own", ["x-tenant", "X-Tenant", "X-TENANT"])
def test_a_header_that_a_hook_adds_replaces_what_was_sent(own):
    sent = Headers([("X-Tenant", "victim"), ("X-Tenant", "other"), ("Token", "t")])
    headers = Headers({**sent, own: "mine"})
    assert (headers.getlist("x-tenant"), headers.getlist("token")) == (["mine"], ["t"])


@pytest.mark.parametrize("other", [{"Token": "u"}, {}, {1: "t"}, "Token", [("Token", "t")]], ids=repr)
def test_headers_differ(other):
    assert Headers({"Token": "t"}) != other


def test_headers_have_no_hash():
    assert not isinstance(Headers(), Hashable)


def test_headers_never_show_their_values():
    assert repr(Headers({"Token": "secret"})) == "Headers(['Token'])"


def test_later_headers_are_read_when_one_is_asked_for_and_once():
    reads = []

    def read():
        reads.append(1)
        yield from [("Token", "t"), ("TOKEN", "u")]

    headers = Headers.later(read)
    assert reads == []
    assert headers["token"] == "t"
    assert headers.getlist("Token") == ["t", "u"]
    assert dict(headers) == {"Token": "t"}
    assert len(headers) == 1
    assert Headers(headers) == headers == Headers([("token", "t"), ("token", "u")])
    assert reads == [1]


def test_later_headers_are_whole_for_every_thread():
    barrier = Barrier(8)

    def read():
        return [(f"Name-{number}", "x") for number in range(1000)]

    def ask(headers):
        barrier.wait(5)
        return len(headers)

    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            assert list(pool.map(ask, [Headers.later(read)] * 8)) == [1000] * 8


def test_list_of_values_is_the_callers_own():
    headers = Headers([("a", "1")])
    headers.getlist("a").append("2")
    Headers(headers).getlist("a").append("3")
    assert headers.getlist("a") == ["1"]

"""`Reply`: what an act may choose of its reply, and what it may not."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gatewayfw import Reply
from gatewayfw.acts.replies import Selected, WrittenReply, parse_returns
from gatewayfw.errors import DefinitionError, UsageError
from gatewayfw.schemas import file, integer, object_, string

VALUE = "headers: the value of X-A must be text of printable ASCII, up to 4096 characters"


def test_a_reply_has_the_lines_of_its_headers_and_cookies():
    reply = Reply(1, 201, {"Location": "/b/1"}, [{"name": "a", "value": "1"}, {"name": "b", "value": ""}])
    assert reply.body == 1
    assert reply.status == 201
    assert reply.lines == (
        ("Location", "/b/1"),
        ("Set-Cookie", "a=1; Path=/; Secure; HttpOnly; SameSite=Lax"),
        ("Set-Cookie", "b=; Path=/; Secure; HttpOnly; SameSite=Lax"),
    )


def test_a_reply_of_a_body_alone_is_the_body():
    assert (Reply([1]).status, Reply([1]).lines) == (200, ())


def test_a_reply_does_not_show_what_is_secret():
    assert repr(Reply("secret", 200, {"X-A": "secret"}, [{"name": "a", "value": "secret"}])) == "Reply(status=200)"


@pytest.mark.parametrize("status", [200, 201, 202, 203, 207, 299])
def test_every_success_with_a_body_is_a_status(status):
    assert Reply(None, status).status == status


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"status": 199}, "status must be in 200..299; raise an error for others"),
        ({"status": 300}, "status must be in 200..299; raise an error for others"),
        ({"status": 404}, "status must be in 200..299; raise an error for others"),
        ({"status": "201"}, "status must be in 200..299; raise an error for others"),
        ({"status": True}, "status must be in 200..299; raise an error for others"),
        ({"status": 204}, "status 204 cannot have a body, and every reply has one"),
        ({"status": 205}, "status 205 cannot have a body, and every reply has one"),
        ({"status": 206}, "status 206 cannot have a body, and every reply has one"),
        ({"body": Reply(1)}, "body: a Reply inside a Reply"),
        ({"headers": [("X-A", "1")]}, "headers must be an object of names and texts"),
        ({"headers": {"": "1"}}, "headers: a name is not one of HTTP"),
        ({"headers": {"X A": "1"}}, "headers: a name is not one of HTTP"),
        ({"headers": {"X-A\r\n": "1"}}, "headers: a name is not one of HTTP"),
        ({"headers": {5: "1"}}, "headers: a name is not one of HTTP"),
        ({"headers": {"X-A": "1\r\nX-B: 2"}}, VALUE),
        ({"headers": {"X-A": "1\n"}}, VALUE),
        ({"headers": {"X-A": "\x00"}}, VALUE),
        ({"headers": {"X-A": "é"}}, VALUE),
        ({"headers": {"X-A": " 1"}}, VALUE),
        ({"headers": {"X-A": 5}}, VALUE),
        ({"headers": {"X-A": "1" * 4097}}, VALUE),
        ({"headers": {"X-A": "1", "x-a": "2"}}, "headers: x-a is given twice"),
        ({"headers": {"Set-Cookie": "a=1"}}, "headers: Set-Cookie goes into cookies"),
        (
            {"headers": {"Access-Control-Allow-Origin": "*"}},
            "headers: Access-Control-Allow-Origin is up to the option cors",
        ),
        ({"cookies": {"name": "a", "value": "1"}}, "cookies must be a list of objects"),
        ({"cookies": "a=1"}, "cookies must be a list of objects"),
        ({"cookies": ["a=1"]}, "cookies[0]: expected an object with name and value"),
    ],
)
def test_what_cannot_be_sent_is_refused(given, problem):
    with pytest.raises(UsageError) as raised:
        Reply(**{"body": 1, **given})
    assert raised.value.message == f"Reply: {problem}"


@pytest.mark.parametrize(
    "name",
    [
        *("Content-Type", "content-length", "Content-Encoding", "Cache-Control", "Date", "Server", "Connection"),
        *("Content-Range", "Keep-Alive", "TE", "Trailer", "Upgrade", "Proxy-Authenticate"),
        *("Transfer-Encoding", "X-Request-Id", "X-Error-Code", "X-Content-Type-Options", "Idempotent-Replay"),
    ],
)
def test_the_headers_of_the_envelope_are_the_gateways(name):
    with pytest.raises(UsageError) as raised:
        Reply(1, headers={name: "x"})
    assert raised.value.message == f"Reply: headers: {name} is set by the gateway"


def test_everything_that_is_wrong_is_named():
    with pytest.raises(UsageError) as raised:
        Reply(1, 500, {"": "x", "Date": "x", "X-A": "\n"}, ["a"])
    assert raised.value.message == (
        "Reply: status must be in 200..299; raise an error for others; headers: a name is not one of HTTP; "
        f"headers: Date is set by the gateway; {VALUE}; cookies[0]: expected an object with name and value"
    )


def test_the_value_of_a_header_may_be_long():
    assert Reply(1, headers={"X-A": "1" * 4096}).lines == (("X-A", "1" * 4096),)


@pytest.mark.parametrize("reply", [Reply(1), WrittenReply(200, (), b"1")])
def test_a_reply_cannot_be_changed(reply):
    with pytest.raises(FrozenInstanceError):
        reply.status = 500


# -- declared results


@pytest.fixture
def select(schemas):
    return schemas.select_struct("user")


def test_without_it_a_get_that_selects_returns_one_document(select):
    assert parse_returns(None, select) == Selected("one", select)
    assert parse_returns(None, object_({"a": integer()})) is None


@pytest.mark.parametrize("word", ["one", "optional", "many"])
def test_a_word_says_how_many_documents(select, word):
    assert parse_returns(word, select) == Selected(word, select)


def test_parts_select_by_the_parts_of_get_and_values_are_fields(select):
    count = integer()
    assert parse_returns({"users": "many", "count": count}, object_({"users": select})) == {
        "users": Selected("many", select, ("users",)),
        "count": count,
    }


def test_parts_select_by_the_whole_get_where_it_selects(select):
    assert parse_returns({"rows": "many"}, select) == {"rows": Selected("many", select)}
    assert Selected("many", select).path == ()
    with pytest.raises(FrozenInstanceError):
        Selected("many", select).word = "one"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("few", "returns: expected 'one', 'optional', 'many' or a value kind"),
        ({"users": "few"}, "returns, 'users': expected 'one', 'optional', 'many' or a value kind"),
        ({5: "one"}, "returns: the name 5 is not a string"),
        (file(most=1), "returns: a reply holds no files"),
        ({"a": {"b": file(most=1)}}, "returns, 'a': a reply holds no files"),
    ],
)
def test_other_forms_are_refused(select, given, message):
    with pytest.raises(DefinitionError) as caught:
        parse_returns(given, select)
    assert caught.value.message == message


def test_a_word_needs_a_get_that_selects():
    with pytest.raises(DefinitionError) as caught:
        parse_returns("many", object_({"a": string()}))
    assert caught.value.message == "returns: 'many' needs a get that selects from a model"

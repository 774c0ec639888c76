"""Idempotent acts: keys, hashes of bodies, callers, records, and which definitions are wrong."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.acts.hooks import HookMark, mark
from gatewayfw.acts.idempotent import Idempotency, describe_reply, find_reply, parse_idempotent, read_key
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.auth import access_rule
from gatewayfw.errors import BadRequest, DefinitionError, KeyReused, Unauthenticated, UsageError
from gatewayfw.schemas.kinds.file import Upload

NOW = datetime(2030, 1, 2)
NAMES = ("main", "book", "buy")


def body(**set_):
    return {"set": set_, "get": {}}


def keyed(key, details, names=NAMES):
    return read_key(key, Idempotency(60), names, details)


def begin(key="k", caller=("str", "ann"), names=NAMES, sent=None):
    return keyed(key, sent or body(), names).begin_record(caller, NOW)


def file(content):
    return Upload("a.txt", "text/plain", len(content), content, None)


@pytest.mark.parametrize("key", ["a", "x" * 255, "8e03978e-40d5-43e8-bc93-6894a57f9324", " !\"'~", "a,b"])
def test_printable_ascii_is_a_key(key):
    assert keyed(key, body()).key == key


@pytest.mark.parametrize("key", ["", "x" * 256, "a\n", "a\x00b", "\x7f", "é", "\u2028", "a\tb"])
def test_other_keys_are_refused(key):
    with pytest.raises(BadRequest) as raised:
        keyed(key, body())
    assert raised.value.message == "the header Idempotency-Key must be 1 to 255 printable ASCII characters"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


def turned(value):
    """The same JSON with its keys in another order."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(one) for one in value] if isinstance(value, list) else value


@given(JSON)
def test_the_order_of_keys_does_not_matter(value):
    assert keyed("k", body(a=value, b=[value])) == keyed("k", turned(body(a=value, b=[value])))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (body(n=1), body(n=1.0)),
        (body(n=1), body(n=True)),
        (body(n=1), body(n="1")),
        (body(n=None), body()),
        (body(n=[1, 2]), body(n=[2, 1])),
        (body(a=body()), body(b=body())),
    ],
)
def test_other_bodies_have_other_hashes(one, other):
    assert keyed("k", one).body != keyed("k", other).body


def test_hashes_stay_so_that_records_are_known_after_an_update():
    """Other separators or another order of keys would change them."""
    assert (
        keyed("k", body(b="é", a=[1, None])).body == "f1ccb558d97174630ca657a812cfce9f532e0e34296430585fdeee25a6cb0527"
    )
    assert begin()["_id"] == "e421e980328ffdb7a7182e57323a4bcbd1242bf0477ffe496246ccd6b46c90a4"


def test_files_count_by_path_and_content():
    plain, uploads = keyed("k", body()), {"set.a": file("1"), "set.b": file("2")}
    same = plain.with_files(dict(reversed(uploads.items())))
    assert plain.with_files(uploads) == same
    others = [{}, {"set.a": file("1")}, {"set.a": file("2"), "set.b": file("1")}]
    assert len({same, plain, *map(plain.with_files, others)}) == 5


def test_the_id_belongs_to_caller_service_act_and_key():
    texts = [("str", "a"), ("int", "a"), ("str", "ab")]
    ids = [begin(caller=caller)["_id"] for caller in texts]
    ids += [begin(names=names)["_id"] for names in [NAMES, ("far", *NAMES[1:]), ("main", "bookbuy", "")]]
    ids += [begin(key="other")["_id"], begin(key="k")["_id"]]
    assert len(set(ids)) == 7
    assert begin(sent=body(n=1))["_id"] == begin()["_id"]


def test_a_record_expires_and_has_a_token_of_its_own():
    one, other = begin(), begin()
    assert one["expires"] == NOW + timedelta(seconds=60)
    assert [len(record["token"]) for record in (one, other)] == [32, 32]
    assert one.pop("token") != other.pop("token")
    assert one == other
    assert set(one) == {"_id", "body", "expires"}
    assert "ann" not in str(one)


def test_a_reply_that_is_kept_is_given_again_and_says_so():
    written = WrittenReply(201, (("Location", "/1"), ("Set-Cookie", "a=1")), b'{"body":1,"success":true}')
    found = {**begin(), **describe_reply(written)}
    again = find_reply(found, begin(), NOW)
    assert again == WrittenReply(201, (*written.lines, ("Idempotent-Replay", "1")), written.envelope)


def test_without_a_record_or_with_an_expired_one_there_is_none():
    found = {**begin(), **describe_reply(WrittenReply(200, (), b"{}"))}
    assert find_reply(None, begin(), NOW) is None
    assert find_reply(found, begin(), NOW + timedelta(seconds=60)) is None
    assert find_reply(found, begin(sent=body(n=1)), NOW + timedelta(seconds=60)) is None


def test_a_key_of_another_body_is_refused():
    with pytest.raises(KeyReused) as raised:
        find_reply({**begin(), **describe_reply(WrittenReply(200, (), b"{}"))}, begin(sent=body(n=1)), NOW)
    error = raised.value
    assert error.status == 422
    assert error.code == "key_reused"
    assert error.message == "this Idempotency-Key was sent with another body"


ID = ObjectId()
CALLERS = [
    ("ann", ["str", "ann"]),
    (5, ["int", "5"]),
    (ID, ["ObjectId", str(ID)]),
    (UUID(int=5), ["UUID", str(UUID(int=5))]),
]


@pytest.mark.parametrize(("caller", "named"), CALLERS)
def test_the_function_names_the_caller_or_else_the_user(caller, named):
    context = {"user": {"_id": "other"}}
    assert Idempotency(60, lambda body: caller).name_caller(body(), context) == named
    assert Idempotency(60, lambda body: None).name_caller(body(), {"user": {"_id": caller}}) == named
    assert Idempotency(60).name_caller(body(), {"user": {"_id": caller}}) == named


NOBODY = (Unauthenticated, "^the header Idempotency-Key is for callers who are signed in$")
NO_CALLER = (
    "^idempotent: a {} names no caller: "
    "idempotent_by, or the _id of user in the context, must be text, a whole number, an ObjectId or a UUID$"
)
NO_NAME = (UsageError, NO_CALLER.format("NoneType"))


@pytest.mark.parametrize(
    ("context", "refusal"),
    [
        ({}, NOBODY),
        ({"user": None}, NOBODY),
        ({"user": "ann"}, NO_NAME),
        ({"user": {}}, NO_NAME),
        ({"user": {"_id": None}}, NO_NAME),
    ],
)
def test_nobody_is_no_caller(context, refusal):
    for rule in (Idempotency(60), Idempotency(60, lambda body: None)):
        with pytest.raises(refusal[0], match=refusal[1]):
            rule.name_caller(body(), context)


@pytest.mark.parametrize("caller", [True, 1.5, ["ann"], {"_id": "ann"}, b"ann"])
def test_what_names_nobody_is_refused(caller):
    with pytest.raises(UsageError, match=NO_CALLER.format(type(caller).__name__)):
        Idempotency(60, lambda body: caller).name_caller(body(), {})


@pytest.mark.parametrize("made", [Idempotency(60), keyed("k", body())], ids=["rule", "request"])
def test_what_is_said_of_keys_cannot_be_changed(made):
    assert made in {made}
    with pytest.raises(FrozenInstanceError):
        made.key = made.seconds = 1


@mark(HookMark("load", gives="user"))
def load():
    """Sign the caller in."""


def by(body):
    return "ann"


@pytest.mark.parametrize(
    ("text", "seconds"), [("1s", 1), ("90s", 90), ("5m", 300), ("24h", 86_400), ("30d", 2_592_000)]
)
def test_a_time_has_a_unit(text, seconds):
    assert parse_idempotent(text, by, []) == Idempotency(seconds, by)


@pytest.mark.parametrize("hooks", [[load], [access_rule(lambda: None)]])
def test_access_hooks_name_the_caller(hooks):
    assert parse_idempotent("24h", None, hooks) == Idempotency(86_400, None)
    assert parse_idempotent(None, None, []) is None


SPAN = "idempotent: expected how long replies are kept, such as '24h' (s, m, h or d)"
NOBODY = "idempotent: nobody knows whose key it is: add access hooks, or idempotent_by"


@pytest.mark.parametrize(
    ("given", "by", "problem"),
    [
        (24, by, SPAN),
        ("24", by, SPAN),
        ("0h", by, SPAN),
        ("-1h", by, SPAN),
        ("1.5h", by, SPAN),
        ("24 h", by, SPAN),
        ("1w", by, SPAN),
        ("123456h", by, SPAN),
        (True, by, SPAN),
        ("24h", None, NOBODY),
        ("24h", "user", "idempotent_by must be a function"),
        ("24h", dict.items, "idempotent_by must take the body as its one positional argument"),
        (None, by, "idempotent_by goes with idempotent"),
        (5, None, f"{SPAN}; {NOBODY}"),
    ],
)
def test_a_wrong_definition_is_refused(given, by, problem):
    by = (lambda: "ann") if by is dict.items else by
    with pytest.raises(DefinitionError) as raised:
        parse_idempotent(given, by, [print])
    assert raised.value.message == problem

"""One act as it is registered: its hooks' signatures, its refusals, its two faces."""

from __future__ import annotations

import functools
from dataclasses import FrozenInstanceError

import pytest

from gatewayfw.acts.act import ACT_KEYS, ActDefinition, parse_act, parse_limit_texts
from gatewayfw.acts.replies import Selected
from gatewayfw.errors import DefinitionError
from gatewayfw.limits import RateLimits
from gatewayfw.schemas import file, string
from gatewayfw.spelling import pythonic

STRUCT = {"set": {"name": string()}, "get": {}}


def act_fn(body):
    """Say hello.

    To the caller.
    """


def bare():
    """Take nothing."""


async def asynchronous(body):
    """Do nothing unless awaited."""


async def asynchronous_generator(body):
    """Do nothing unless iterated."""
    yield body


def generator(body):
    """Do nothing unless iterated."""
    yield body


def two(first, second):
    """Take two."""


def keyword_needed(body, *, key):
    """Take a keyword no caller gives."""


class AsyncCall:
    async def __call__(self, body):
        """Do nothing unless awaited."""


class GeneratorCall:
    def __call__(self, body):
        yield body


def parsed(schemas, schema="user", act_name="addUser", **given):
    said = pythonic(None, {"schema": schema, "actName": act_name, "validator": STRUCT, "fn": act_fn, **given})
    return parse_act(schemas, RateLimits(), ActDefinition(**said))


def test_an_act_is_an_object_and_a_mapping_with_the_contracts_keys(schemas):
    act = parsed(schemas, preAct=[bare], preValidation=[act_fn], validationRunType="create")
    assert dict(act) == {
        "schema": "user",
        "actName": "addUser",
        "validator": STRUCT,
        "fn": act_fn,
        "preAct": (bare,),
        "preValidation": (act_fn,),
        "validationRunType": "create",
        "public": False,
        "limit": None,
        "maxGetDepth": None,
        "maxGetLeaves": None,
        "maxReplyBytes": None,
        "onError": (),
        "postAct": (),
        "returns": None,
        "mcp": False,
        "exceptions": {},
        "idempotent": None,
        "idempotentBy": None,
    }
    assert act.schema == "user"
    assert act.act_name == "addUser"
    assert act.fn == act_fn
    assert act.pre_act == (bare,)
    assert act.description == "Say hello.\n\nTo the caller."
    assert repr(act) == "Act(schema='user', act_name='addUser')"


def test_what_an_act_leaves_out_is_empty_and_assert(schemas):
    act = parsed(schemas, fn=lambda body: None)
    assert act["preAct"] == ()
    assert act["preValidation"] == ()
    assert act["validationRunType"] == "assert"
    assert act["public"] is False
    assert act["limit"] is None
    assert act["maxGetDepth"] is None
    assert act["maxGetLeaves"] is None
    assert act.description == ""
    assert tuple(act) == ACT_KEYS
    assert len(act) == 19


def test_an_act_cannot_be_changed(schemas):
    act = parsed(schemas)
    with pytest.raises(FrozenInstanceError):
        act.fn = bare
    with pytest.raises(TypeError):
        act["fn"] = bare
    with pytest.raises(KeyError):
        act["struct"]


@pytest.mark.parametrize("name", ["a", "Z", "_", "aZ_9"])
def test_a_name_has_letters_digits_and_underscores(schemas, name):
    act = parsed(schemas, name, name)
    assert (act.schema, act.act_name) == (name, name)


class Called:
    """What is called instead of a function."""

    def __call__(self, body):
        """Answer."""


@pytest.mark.parametrize("fn", [Called(), functools.partial(two, 1)], ids=["object", "partial"])
def test_only_a_function_has_a_description(schemas, fn):
    assert parsed(schemas, fn=fn).description == ""


def test_the_parts_of_an_act_have_names():
    with pytest.raises(TypeError):
        ActDefinition("user", "addUser", STRUCT, act_fn)


def test_an_act_without_a_limit_asks_nobody_who_counts(schemas):
    given = ActDefinition(schema="user", act_name="a", validator=STRUCT, fn=act_fn)
    assert parse_act(schemas, None, given).rates == ()


def test_an_act_that_selects_from_a_model_gives_one_document(schemas):
    select = schemas.select_struct("user")
    assert parsed(schemas, validator={"set": {}, "get": select}).result == Selected("one", select)


def test_hooks_are_kept_as_they_were_when_registered(schemas):
    hooks = [bare]
    act = parsed(schemas, preAct=hooks)
    hooks.append(two)
    assert act.pre_act == (bare,)


def defaulting(allow_guest=False):
    raise AssertionError


NAME = "a letter or _, then letters, digits and _"
REFUSED = {
    "empty schema": ({"schema": ""}, f"act .addUser: bad schema: {NAME}"),
    "schema with a dash": ({"schema": "a-b"}, f"act a-b.addUser: bad schema: {NAME}"),
    "schema of another type": ({"schema": 1}, f"act 1.addUser: bad schema: {NAME}"),
    "act name with a line feed": ({"act_name": "a\n"}, rf"act user.a\n: bad act_name: {NAME}"),
    "act name with a digit first": ({"act_name": "1a"}, f"act user.1a: bad act_name: {NAME}"),
    "act name beyond ASCII": ({"act_name": "añadir"}, f"act user.añadir: bad act_name: {NAME}"),
    "no function": ({"fn": "x"}, "act user.addUser: fn must be a function"),
    "fn None": ({"fn": None}, "act user.addUser: fn must be a function"),
    "fn without parameter": (
        {"fn": bare},
        "act user.addUser: fn must take the body as its one positional argument",
    ),
    "fn of two": ({"fn": two}, "act user.addUser: fn must take the body as its one positional argument"),
    "fn with a needed keyword": (
        {"fn": keyword_needed},
        "act user.addUser: fn must take the body as its one positional argument",
    ),
    "async fn": (
        {"fn": asynchronous},
        "act user.addUser: fn must not be async: acts and hooks are plain functions",
    ),
    "one hook, no list": ({"preAct": bare}, "act user.addUser: pre_act must be a list of functions"),
    "hooks None": ({"preValidation": None}, "act user.addUser: pre_validation must be a list of functions"),
    "hooks as text": ({"preAct": "ab"}, "act user.addUser: pre_act must be a list of functions"),
    "hook no function": ({"preValidation": [bare, 1]}, "act user.addUser: pre_validation[1] must be a function"),
    "hook with a default": (
        {"preAct": [defaulting]},
        "act user.addUser: pre_act[0] would get the body as 'allow_guest': call that parameter body, or bind it",
    ),
    "hook of two": ({"preAct": [two]}, "act user.addUser: pre_act[0] can be called neither with the body nor bare"),
    "async hook": (
        {"preAct": [asynchronous]},
        "act user.addUser: pre_act[0] must not be async: acts and hooks are plain functions",
    ),
    "async generator": (
        {"preAct": [asynchronous_generator]},
        "act user.addUser: pre_act[0] must not be async: acts and hooks are plain functions",
    ),
    "async partial": (
        {"preAct": [functools.partial(asynchronous)]},
        "act user.addUser: pre_act[0] must not be async: acts and hooks are plain functions",
    ),
    "async callable": (
        {"preAct": [AsyncCall()]},
        "act user.addUser: pre_act[0] must not be async: acts and hooks are plain functions",
    ),
    "generator hook": (
        {"preAct": [generator]},
        "act user.addUser: pre_act[0] must not be a generator: its calls would do nothing",
    ),
    "generator callable": (
        {"preAct": [GeneratorCall()]},
        "act user.addUser: pre_act[0] must not be a generator: its calls would do nothing",
    ),
    "mode": (
        {"validationRunType": "Create"},
        "act user.addUser: the mode must be 'assert' or 'create'",
    ),
    "mode None": ({"validationRunType": None}, "act user.addUser: the mode must be 'assert' or 'create'"),
    "several": (
        {"schema": "", "fn": 1, "preAct": [2]},
        f"act .addUser: bad schema: {NAME}; fn must be a function; pre_act[0] must be a function",
    ),
    "depth 0": ({"maxGetDepth": 0}, "act user.addUser: max_get_depth must be a positive integer"),
    "reply 0": ({"maxReplyBytes": 0}, "act user.addUser: max_reply_bytes must be a positive integer"),
    "reply 1.5": ({"maxReplyBytes": 1.5}, "act user.addUser: max_reply_bytes must be a positive integer"),
    "depth true": ({"maxGetDepth": True}, "act user.addUser: max_get_depth must be a positive integer"),
    "leaves as text": ({"maxGetLeaves": "9"}, "act user.addUser: max_get_leaves must be a positive integer"),
    "leaves as fraction": ({"maxGetLeaves": 9.0}, "act user.addUser: max_get_leaves must be a positive integer"),
    "mcp that is no kind of tool": (
        {"mcp": "write"},
        "act user.addUser: mcp must be true or false, or what the act does: 'read', 'add' or 'change'",
    ),
    "returns a word nobody knows": (
        {"returns": "all"},
        "act user.addUser: returns: expected 'one', 'optional', 'many' or a value kind",
    ),
    "returns documents without a selection": (
        {"returns": {"users": "many"}},
        "act user.addUser: returns, 'users': 'many' needs a get that selects from a model",
    ),
    "returns no kind": (
        {"returns": 5},
        "act user.addUser: returns: expected a value kind, a marshmallow field or schema, or a mapping, not int",
    ),
    "exceptions as a list": (
        {"exceptions": [KeyError]},
        "act user.addUser: exceptions: expected classes with (status, code, message), not list",
    ),
    "idempotent by nobody": (
        {"idempotent": "24h"},
        "act user.addUser: idempotent: nobody knows whose key it is: add access hooks, or idempotent_by",
    ),
    "public as text": ({"public": "yes"}, "act user.addUser: public must be true or false"),
    "public None": ({"public": None}, "act user.addUser: public must be true or false"),
    "validator": (
        {"validator": {"set": {}}},
        "act user.addUser: validator: expected exactly set and get, not set",
    ),
    "validator of no form": (
        {"validator": None},
        "act user.addUser: validator: expected an object with set and get, a schema or a function, not NoneType",
    ),
}


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
def test_a_wrong_part_is_refused_and_named(schemas, given, message):
    with pytest.raises(DefinitionError) as raised:
        parsed(schemas, **given)
    assert raised.value.message == message


def test_an_act_with_files_is_no_tool(acts):
    with pytest.raises(DefinitionError) as raised:
        acts.set_act(
            schema="user", act_name="a", validator={"set": {"x": file(most=1)}, "get": {}}, fn=lambda body: 1, mcp=True
        )
    assert raised.value.message == "act user.a: mcp: an act with files cannot be a tool"


@pytest.mark.parametrize("returns", [file(most=1), {"a": {"b": file(most=1)}}])
def test_a_reply_holds_no_files(acts, returns):
    with pytest.raises(DefinitionError) as raised:
        acts.set_act(schema="user", act_name="a", validator={"set": {}, "get": {}}, fn=lambda body: 1, returns=returns)
    assert raised.value.message.endswith("a reply holds no files")


@pytest.mark.parametrize(
    ("limit", "texts"), [(None, ()), ("1/minute", ("1/minute",)), (["1/minute", "9/day"], ("1/minute", "9/day"))]
)
def test_a_limit_is_one_text_or_several(limit, texts):
    assert parse_limit_texts(limit) == texts


@pytest.mark.parametrize("limit", [5, [], [5], {"1/minute"}, ["1/minute", None]])
def test_anything_else_is_refused(limit):
    with pytest.raises(DefinitionError) as caught:
        parse_limit_texts(limit)
    assert caught.value.message == "limit must be a text such as '10/minute', or a list of such"

"""What the strategies of `tests.fuzz.hostile` draw, and what the validators make of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw import gateway
from gatewayfw.core import Gateway
from gatewayfw.schemas import object_id, string
from tests.fuzz import hostile
from tests.fuzz.drawn import ACTS, GOOD, ZOO, short
from tests.fuzz.growth import written
from tests.fuzz.hostile import BREAKS, good_bodies, hostile_bodies, hostile_bytes, names_of
from tests.fuzz.hostile_values import EXPRESSIONS, KEYS, NUMBERS, ODD, ODD_IDS, OPERATORS, TEXTS
from tests.fuzz.search import draws
from tests.fuzz.targets import outcome, validated

HOSTILE = {name: hostile_bodies(ZOO, act) for name, act in ACTS.items()}


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_the_validator_takes_every_good_body(name: str, data: st.DataObject) -> None:
    body = data.draw(GOOD[name])
    assert outcome(validated, ZOO, ACTS[name], json.dumps(body).encode()) == "ok"


@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_a_hostile_body_ends_in_no_other_error_than_the_projects_own(name: str, data: st.DataObject) -> None:
    body = data.draw(HOSTILE[name])
    outcome(validated, ZOO, ACTS[name], json.dumps(body).encode())


@st.composite
def broken_by(draw: st.DrawFn, way: Any) -> bytes:
    return written(way(draw, draw(GOOD["narrow_create"]), ZOO, ACTS["narrow_create"]))


@pytest.mark.parametrize("way", BREAKS)
def test_every_way_to_break_a_body_makes_some_that_are_refused(way: Any) -> None:
    assert draws(broken_by(way), lambda data: outcome(validated, ZOO, ACTS["narrow_create"], data) != "ok")


RAW = {
    "as it is": lambda data: data == b'{"a": "\xed\xa0\x80"}',
    "in ASCII, indented": lambda data: data == b'{\n "a": "\\ud800"\n}',
    "cut": lambda data: len(data) < 12 and data.startswith(b'{"a"'),
    "with something put in": lambda data: data.startswith(b'{"a"') and len(data) > 16,
}


@pytest.mark.parametrize("wanted", RAW.values(), ids=RAW)
def test_raw_bodies_are_json_of_the_bodies_and_what_is_nearly_that(wanted: Any) -> None:
    assert draws(hostile_bytes(st.just({"a": "\ud800"})), wanted, examples=200)


@pytest.mark.parametrize("name", ["kinds_assert", "deep_create"])
def test_good_bodies_are_not_all_empty(name: str) -> None:
    assert draws(GOOD[name], lambda body: max(map(len, body["details"].values())) > 2)


@given(good_bodies(ZOO, ACTS["function_assert"], details=st.just({"set": {"stars": 5}, "get": {}})))
@short
def test_details_of_ones_own_stand_in_the_body(body: Any) -> None:
    named = {"model": "beast", "act": "function_assert", "details": {"set": {"stars": 5}, "get": {}}}
    assert {key: body[key] for key in named} == named


def library() -> Gateway:
    """A gateway of users, with an excluded field, and books."""
    gw = gateway(max_body_depth=3, max_get_leaves=4)
    gw.odm.new_model("user", {"email": string}, options={"excludes": ["email"]})
    written = {
        "schemaName": "user",
        "type": "single",
        "optional": True,
        "relatedRelations": {"books": {"type": "multiple"}},
    }
    gw.odm.new_model("book", {"title": string}, {"author": written})
    return gw


LIBRARY, NAMES = library(), ["author", "books", "email", "title"]
KNOWN = "6b0702a42f0611f6c159d637"
LIBRARY.acts.set_act(
    schema="user", act_name="getUser", validator={"set": {"userId": object_id()}, "get": {}}, fn=lambda body: None
)


@given(good_bodies(LIBRARY, LIBRARY.acts.get_acts("user")["getUser"], ids=st.just(KNOWN)))
@short
def test_ids_of_ones_own_stand_in_the_body(body: Any) -> None:
    assert body["details"] == {"set": {"userId": KNOWN}, "get": {}}


def test_all_names_of_documents_are_known() -> None:
    assert names_of(LIBRARY) == NAMES


@pytest.fixture
def outcomes(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any, Any], list[str]]:
    """A function that gives all that a way makes of a body, as sorted JSON: each choice is made once."""

    def lists(values: list[Any], *, min_size: int, max_size: int) -> list[list[Any]]:
        return [values[:min_size], values[-max_size:]]

    chosen = SimpleNamespace(sampled_from=list, booleans=lambda: [False, True], lists=lists)
    monkeypatch.setattr(hostile, "st", chosen)
    monkeypatch.setattr(hostile, "JSON", ["any"])

    def outcomes(way: Any, body: Any) -> list[str]:
        found: set[str] = set()
        waiting: list[tuple[int, ...]] = [()]
        while waiting:
            script = waiting.pop()
            sizes: list[int] = []

            def draw(choices: list[Any], script: tuple[int, ...] = script, sizes: list[int] = sizes) -> Any:
                sizes.append(len(choices))
                return choices[script[len(sizes) - 1] if len(sizes) <= len(script) else 0]

            found.add(json.dumps(way(draw, copy.deepcopy(body), LIBRARY, None)))
            for at in range(len(script), len(sizes)):
                waiting += [(*script, *[0] * (at - len(script)), n) for n in range(1, sizes[at])]
        return sorted(found)

    return outcomes


def as_json(values: Iterable[Any]) -> list[str]:
    return sorted({json.dumps(value) for value in values})


def body(set_: Any, get: Any = None) -> Any:
    return {"details": {"set": set_} if get is None else {"set": set_, "get": get}}


SMALL = body({"a": "x"})


def everywhere(values: Iterable[Any]) -> list[Any]:
    """The small body with a value in each of its places."""
    return [one for value in values for one in ({"details": value}, body(value), body({"a": value}))]


def with_keys(named: Iterable[dict[str, Any]]) -> list[Any]:
    """The small body with more keys in each of its objects."""
    inner = {"set": {"a": "x"}}
    return [
        one
        for more in named
        for one in ({"details": inner, **more}, {"details": {**inner, **more}}, body({"a": "x", **more}))
    ]


PREFIXES = ("", "k" * 70, "\x01", "\u200b" * 64)


def nested(depth: int, wrapper: str, value: Any) -> Any:
    for _ in range(depth):
        value = {wrapper: value} if wrapper else [value]
    return value


#: What each way makes of the small body.
MADE: list[tuple[str, Iterable[Any]]] = [
    ("_whole", [[SMALL], [], None, "x", 0, {}, {"details": SMALL}, [SMALL] * 3]),
    ("_replaced", everywhere(ODD)),
    ("_other", everywhere(["any"])),
    ("_replaced", everywhere(OPERATORS)),
    ("_replaced", everywhere(NUMBERS)),
    ("_replaced", everywhere(TEXTS)),
    ("_replaced", everywhere(ODD_IDS)),
    ("_missing", [{}, {"details": {}}, body({})]),
    (
        "_unknown_key",
        with_keys({key: value} for key in KEYS for value in (1, 0, "x", True, None, {}, [], "0" * 24)),
    ),
    (
        "_known_name",
        [
            SMALL,
            *(
                body({"a": "x", name: value})
                for name in NAMES
                for value in (1, True, "x", ["0" * 24], {}, [{"name": "Manager"}])
            ),
        ],
    ),
    (
        "_dotted",
        [
            one
            for path in ("author.books", "0.$.$[].")
            for value in (1, 0, "x")
            for one in ({"details": {"set": {"a": "x"}, path: value}}, body({"a": "x", path: value}))
        ],
    ),
    ("_excluded", [SMALL]),
    ("_expression", [SMALL]),
    (
        "_deep",
        [
            one
            for depth in (1, 2, 9, 3, 200)
            for wrapper in ("", "a", "$set")
            for one in (
                {"details": nested(depth, wrapper, SMALL["details"])},
                body(nested(depth, wrapper, {"a": "x"})),
                body({"a": nested(depth, wrapper, "x")}),
            )
        ],
    ),
    (
        "_wide",
        with_keys(
            {f"{prefix}{n}": value for n in range(count)}
            for prefix in PREFIXES
            for count in (20, 5, 2000)
            for value in (1, 0, "x")
        ),
    ),
    (
        "_long",
        [
            one
            for times in (2, 101, 1001, 5000)
            for one in (
                {"details": [{"set": {"a": "x"}}] * times},
                body([{"a": "x"}] * times),
                body({"a": "x" * times}),
            )
        ],
    ),
    ("_swapped", [{"details": {"set": None, "get": {"a": "x"}}}]),
]


@pytest.mark.parametrize("number", range(len(BREAKS)), ids=[name for name, _ in MADE])
def test_a_way_breaks_a_body_in_each_of_its_places(outcomes: Any, number: int) -> None:
    assert outcomes(BREAKS[number], SMALL) == as_json(MADE[number][1])


def of(name: str) -> Any:
    return BREAKS[[each for each, _ in MADE].index(name)]


def test_what_get_may_not_name_is_asked_for(outcomes: Any) -> None:
    asked = body({}, {"b": {}})
    flags = [[{"b": {}, name: 1}, {"b": {name: 1}}] for name in ("_gw", "email")]
    assert outcomes(of("_excluded"), asked) == as_json(body({}, get) for pair in flags for get in pair)
    computed = [
        get
        for name in ("x", "_id", *NAMES, "b")
        for value in EXPRESSIONS
        for get in ({"b": {}, name: value} if name != "b" else {"b": value}, {"b": {name: value}})
    ]
    assert outcomes(of("_expression"), asked) == as_json(body({}, get) for get in computed)
    named = [[{"b": {}, name: 1}, {"b": {name: 1}}] for name in NAMES]
    made = outcomes(of("_known_name"), asked)
    assert set(as_json(body({}, get) for pair in named for get in pair)) <= set(made)


def test_an_empty_text_and_a_list_grow_too(outcomes: Any) -> None:
    texts = [each * times for each in ("a", "\u00e9", ".", "a.", '"') for times in (2, 101, 1001, 5000)]
    assert outcomes(of("_long"), [""]) == as_json([text] for text in texts)
    assert outcomes(of("_long"), [[5]]) == as_json(
        one for times in (2, 101, 1001, 5000) for one in ([[5] * times], [[[5] * times]])
    )
    assert json.dumps([["x" * 200_000]]) in outcomes(of("_long"), [["x" * 200_000]])


@pytest.mark.parametrize("broken", [None, "x", 5, [], {}], ids=repr)
def test_what_has_no_place_is_left_or_replaced(outcomes: Any, broken: Any) -> None:
    left = ("_other", "_missing", "_known_name", "_dotted", "_excluded", "_expression", "_deep", "_long", "_swapped")
    assert [outcomes(of(name), broken) for name in left] == [as_json([broken])] * len(left)
    assert outcomes(BREAKS[4], broken) == as_json(NUMBERS)

"""Hypothesis strategies for request bodies of an act, good and hostile.

They are made from what the act declares.

For example::

    @given(hostile_bodies(gw, gw.acts.get_main_act("user", "addUser")))
    def test_no_body_breaks_add_user(body):
        before = digest()
        reply = client.post("/gateway", json=body)
        assert reply.status_code < 500
        assert reply.status_code == 200 or digest() == before
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hypothesis import strategies as st
from marshmallow import Schema

from gatewayfw.acts.act import Act
from gatewayfw.core import Gateway
from gatewayfw.errors import ValidationError
from gatewayfw.schemas import Mode
from tests.fuzz.details import DetailsMaker, fits
from tests.fuzz.field_values import IDS, JSON, OBJECTS
from tests.fuzz.hostile_values import EXPRESSIONS, KEYS, NUMBERS, ODD, ODD_IDS, OPERATORS, SPLICES, TEXTS

#: Characters that a value which is repeated grows to at most; some more than a text may have.
_LONGEST = 300_000

Bodies = st.SearchStrategy[Any]
Place = tuple[Any, Any]
Break = Callable[[st.DrawFn, Any, Gateway, Act], Any]


def good_bodies(gw: Gateway, act: Act, *, ids: Bodies = IDS, details: Bodies | None = None) -> Bodies:
    """Return a strategy of request bodies that the act's validator takes.

    With ``create`` they hold values to be coerced and leave out what has a default; with
    ``assert`` they are taken as they are. Excluded fields may stand in ``get``. Hooks, the act
    and the database may still refuse them. Files are not drawn: they come beside the body.

    ``ids`` gives the ids of documents, such as of some that exist. ``details`` is for a validator
    that is a function, or has checks that drawn values seldom pass: of a function nothing is
    known, so without it any small objects that it takes are drawn.
    """
    drawn = _details(gw, act, ids) if details is None else details
    bounded = drawn.filter(lambda one: fits(one["get"], act.bounds))
    named = {"model": st.just(act.schema), "act": st.just(act.act_name), "details": bounded}
    return st.fixed_dictionaries(named, optional={"service": st.sampled_from([None, "main"])})


def hostile_bodies(gw: Gateway, act: Act, *, ids: Bodies = IDS, details: Bodies | None = None) -> Bodies:
    """Return a strategy of request bodies: good ones, broken in one to three places.

    Most are refused; a few still fit (an optional key taken away). They are what `json.dumps`
    takes, lone surrogates and integers beyond 64 bits included, and may be no objects at all.
    ``ids`` and ``details`` are as for `good_bodies`.
    """
    good = good_bodies(gw, act, ids=ids, details=details)

    @st.composite
    def broken(draw: st.DrawFn) -> Any:
        body = copy.deepcopy(draw(good))
        for break_ in draw(st.lists(st.sampled_from(BREAKS), min_size=1, max_size=3)):
            body = break_(draw, body, gw, act)
        return body

    return broken()


def hostile_bytes(bodies: Bodies = OBJECTS) -> st.SearchStrategy[bytes]:
    """Return a strategy of raw bodies: JSON of ``bodies``, cut, changed and spliced.

    Some are good JSON still. Among the splices is what common readers take and JSON or UTF-8
    does not: NaN, byte order marks, other encodings, lone surrogates, deep nesting, long numbers.
    """
    return st.binary(max_size=64) | st.sampled_from(SPLICES) | _mutated(bodies)


def _details(gw: Gateway, act: Act, ids: Bodies) -> Bodies:
    mode: Mode = act.validation_run_type
    if act.struct.fields is None:
        return st.fixed_dictionaries({"set": OBJECTS, "get": OBJECTS}).filter(_taken_by(act))
    maker = DetailsMaker(gw.schemas, mode, ids)
    fields = (act.struct.without_files if act.struct.files else act.struct).fields or {}
    details = st.fixed_dictionaries({part: maker.values(fields[part]) for part in ("set", "get")})
    whole = isinstance(act.validator, Schema) or (isinstance(act.validator, type) and issubclass(act.validator, Schema))
    return details.filter(_taken_by(act)) if whole else details


def _taken_by(act: Act) -> Callable[[Any], bool]:
    def taken(details: Any) -> bool:
        try:
            act.struct.check(copy.deepcopy(details), act.validation_run_type)
        except ValidationError:
            return False
        return True

    return taken


def _places(value: Any) -> Iterator[Place]:
    """Yield every (container, key) inside a value."""
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, (dict, list)):
            waiting.extend(current.values() if isinstance(current, dict) else current)
            yield from ((current, key) for key in (list(current) if isinstance(current, dict) else range(len(current))))


def _objects(value: Any) -> list[dict[Any, Any]]:
    found = [value] if isinstance(value, dict) else []
    return found + [one[key] for one, key in _places(value) if isinstance(one[key], dict)]


def _part(body: Any, *names: str) -> Any:
    for name in names:
        body = body.get(name) if isinstance(body, dict) else None
    return body


def _any_place(draw: st.DrawFn, body: Any) -> Place:
    """Draw a place, half the time in the details, where the act's rules are."""
    inner = list(_places(_part(body, "details")))
    places = list(_places(body))
    in_details = draw(st.booleans())
    place: Place = draw(st.sampled_from(inner if inner and in_details else places))
    return place


def _replaced(choices: tuple[Any, ...]) -> Break:
    def broken(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
        value: Any = copy.deepcopy(draw(st.sampled_from(choices)))
        if not isinstance(body, (dict, list)) or not body:
            return value
        container, key = _any_place(draw, body)
        container[key] = value
        return body

    return broken


def _whole(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    return draw(st.sampled_from([[body], [], None, "x", 0, {}, {"details": body}, [body] * 3]))


def _other(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    if isinstance(body, (dict, list)) and body:
        container, key = _any_place(draw, body)
        container[key] = draw(JSON)
    return body


def _missing(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    if isinstance(body, (dict, list)) and body:
        container, key = _any_place(draw, body)
        del container[key]
    return body


def _unknown_key(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    objects = _objects(body)
    if objects:
        values: list[Any] = [1, 0, "x", True, None, {}, [], "0" * 24]
        draw(st.sampled_from(objects))[draw(st.sampled_from(KEYS))] = draw(st.sampled_from(values))
    return body


def _known_name(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    """Add a name that models have and the act may not take.

    It is a role, a reverse relation or an excluded field.
    """
    part = _part(body, "details", draw(st.sampled_from(["set", "get"])))
    names = names_of(gw)
    if isinstance(part, dict) and names:
        into = draw(st.sampled_from(_objects(part)))
        into[draw(st.sampled_from(names))] = draw(
            st.sampled_from([1, True, "x", ["0" * 24], {}, [{"name": "Manager"}]])
        )
    return body


def _excluded(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    """Ask for excluded fields in ``get``, at the top or inside copies."""
    get = _part(body, "details", "get")
    hidden = sorted({name for model in gw.schemas.get_schemas().values() for name in model.options.excludes} | {"_gw"})
    if isinstance(get, dict):
        draw(st.sampled_from(_objects(get)))[draw(st.sampled_from(hidden))] = 1
    return body


def _expression(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    get = _part(body, "details", "get")
    if isinstance(get, dict):
        name = draw(st.sampled_from(["x", "_id", *names_of(gw), *map(str, get)]))
        draw(st.sampled_from(_objects(get)))[name] = copy.deepcopy(draw(st.sampled_from(EXPRESSIONS)))
    return body


def _dotted(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    objects = _objects(_part(body, "details"))
    names = names_of(gw)
    if objects and names:
        path = draw(st.lists(st.sampled_from([*names, "0", "$", "$[]", ""]), min_size=2, max_size=4))
        draw(st.sampled_from(objects))[".".join(path)] = draw(st.sampled_from([1, 0, "x"]))
    return body


def _deep(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    if isinstance(body, (dict, list)) and body:
        container, key = _any_place(draw, body)
        wrapper = draw(st.sampled_from(["", "a", "$set"]))
        for _ in range(draw(st.sampled_from([1, 2, 9, gw.settings.max_body_depth, 200]))):
            container[key] = {wrapper: container[key]} if wrapper else [container[key]]
    return body


def _wide(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    """Fill an object with keys that look the same once they are cut."""
    objects = _objects(body)
    if objects:
        prefix = draw(st.sampled_from(["", "k" * 70, "\x01", "\u200b" * 64]))
        count = draw(st.sampled_from([20, gw.settings.max_get_leaves + 1, 2_000]))
        value = draw(st.sampled_from([1, 0, "x"]))
        draw(st.sampled_from(objects)).update({f"{prefix}{n}": value for n in range(count)})
    return body


def _long(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    """Repeat a value: a text as text, a list by elements, else as a list."""
    if isinstance(body, (dict, list)) and body:
        container, key = _any_place(draw, body)
        value = container[key]
        times = min(draw(st.sampled_from([2, 101, 1_001, 5_000])), _LONGEST // len(repr(value)))
        if isinstance(value, str):
            container[key] = (value or draw(st.sampled_from(["a", "\u00e9", ".", "a.", '"']))) * times
        else:
            container[key] = (value if isinstance(value, list) and value else [value]) * times
    return body


def _swapped(draw: st.DrawFn, body: Any, gw: Gateway, act: Act) -> Any:
    details = _part(body, "details")
    if isinstance(details, dict):
        details["set"], details["get"] = details.get("get"), details.get("set")
    return body


def names_of(gw: Gateway) -> list[str]:
    """Return the names in all models, sorted.

    These are fields, relations and reverse relations.
    """
    found: set[str] = set()
    for name, model in gw.schemas.get_schemas().items():
        found.update(model.pure, model.relations, gw.schemas.get_related_relations(name))
    return sorted(found)


#: Ways to break a body.
BREAKS: Sequence[Break] = (
    _whole,
    _replaced(ODD),
    _other,
    _replaced(OPERATORS),
    _replaced(NUMBERS),
    _replaced(TEXTS),
    _replaced(ODD_IDS),
    _missing,
    _unknown_key,
    _known_name,
    _dotted,
    _excluded,
    _expression,
    _deep,
    _wide,
    _long,
    _swapped,
)


def _mutated(bodies: Bodies) -> st.SearchStrategy[bytes]:
    @st.composite
    def mutated(draw: st.DrawFn) -> bytes:
        body, pretty = draw(bodies), draw(st.booleans())
        text = json.dumps(body, ensure_ascii=pretty, indent=1 if pretty else None).encode("utf-8", "surrogatepass")
        for _ in range(draw(st.integers(0, 4))):
            start = draw(st.integers(0, len(text)))
            end = start + draw(st.integers(0, 8))
            piece = draw(st.sampled_from([b"", text[start:end] * 2, *SPLICES]) | st.binary(max_size=4))
            text = text[:start] + piece + text[end:]
        return text

    return mutated()

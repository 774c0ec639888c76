"""Defaults: filled in by ``create`` and by inserts in the form that load gives."""

from __future__ import annotations

import enum
import threading
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from marshmallow import Schema, ValidationError, post_load, validate
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, any_, array, compile_struct, defaulted, integer, mapping, object_
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.settings import Settings
from tests.schemas.calls import new_document
from tests.schemas.test_every_kind import BESIDE, SAMPLES

TEXT = "01234567-89ab-cdef-0123-456789abcdef"


class Colour(enum.Enum):
    """An enum."""

    RED = 1


@dataclass
class Made:
    """What `Day` makes."""

    day: date


class Day(Schema):
    """A Schema that makes objects."""

    day = mm.Date(required=True)

    @post_load
    def make(self, data: Any, **_: Any) -> Made:
        """Return the object."""
        return Made(**data)


FOREIGN = {
    "Decimal": (mm.Decimal(), "1.50", Decimal("1.50")),
    "a decimal itself": (mm.Decimal(), Decimal("1.50"), Decimal("1.50")),
    "UUID": (mm.UUID(), TEXT.upper(), UUID(TEXT)),
    "DateTime": (mm.DateTime(), "2026-11-22T10:00:00", datetime(2026, 11, 22, 10)),
    "Date": (mm.Date(), "2026-11-22", date(2026, 11, 22)),
    "Enum": (mm.Enum(Colour), "RED", Colour.RED),
    "Integer": (mm.Integer(), "5", 5),
    "List": (mm.List(mm.Decimal()), ["1.5"], [Decimal("1.5")]),
    "Dict": (mm.Dict(values=mm.UUID()), {"a": TEXT}, {"a": UUID(TEXT)}),
    "Nested": (mm.Nested(Day), {"day": "2026-11-22"}, Made(date(2026, 11, 22))),
    "Schema": (Day, {"day": "2026-11-22"}, Made(date(2026, 11, 22))),
    "a list of ours": (array(mm.Decimal()), [Decimal("1.5")], [Decimal("1.5")]),
}
OURS = {name: (sample.field, sample.good, sample.as_loaded) for name, sample in SAMPLES.items() if name not in BESIDE}


def created(field: Any, sent: Any) -> Any:
    """What an act in mode create gets."""
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    return struct.check({"set": sent, "get": {}}, "create")["set"]


@pytest.mark.parametrize(("kind", "default", "loaded"), [*FOREIGN.values(), *OURS.values()], ids=[*FOREIGN, *OURS])
def test_a_default_is_filled_in_as_load_gives_it(kind: Any, default: Any, loaded: Any) -> None:
    field = defaulted(kind, default)
    assert created(field, {}) == created(field, {"x": default}) == {"x": loaded}
    assert type(created(field, {})["x"]) is type(loaded)
    assert created(object_({"part": field}), {"x": {}}) == {"x": {"part": loaded}}


@pytest.mark.parametrize(("kind", "default", "loaded"), FOREIGN.values(), ids=FOREIGN)
def test_a_default_in_a_document_is_stored_as_the_value_would_be(kind: Any, default: Any, loaded: Any) -> None:
    pure = Schemas(Settings()).add("thing", {"x": defaulted(kind, default)}).pure
    assert new_document(pure, {}) == new_document(pure, {"x": default}) == new_document(pure, {"x": loaded})


def test_each_use_has_a_default_of_its_own() -> None:
    field = defaulted(mm.Raw(), {"a": []})
    created(field, {})["x"]["a"].append(1)
    assert created(field, {}) == {"x": {"a": []}}


def test_clients_are_told_the_default_as_they_would_send_it() -> None:
    assert describe(defaulted(mm.UUID(), TEXT)) == {
        "kind": "string",
        "format": "uuid",
        "presence": "defaulted",
        "default": TEXT,
    }
    assert "default" not in describe(defaulted(mm.Decimal(), Decimal("1.5")))


@pytest.mark.parametrize(
    ("kind", "default"), [(mm.Decimal(), "x"), (mm.Integer(validate=validate.Range(9)), 5), (Day, {})]
)
def test_what_a_field_of_marshmallows_refuses_is_no_default(kind: Any, default: Any) -> None:
    with pytest.raises(DefinitionError, match=r"^defaulted: the kind refuses its default: "):
        defaulted(kind, default)


class Box:
    """A user's own value."""

    def __init__(self) -> None:
        self.held: list[int] = []


#: Fields with a default that can be changed, and what changes it.
CHANGED: dict[str, tuple[Any, Any]] = {
    "a list": (mm.List(mm.Integer(), load_default=[]), lambda v: v.append(1)),
    "a dict": (mm.Dict(load_default={"a": []}), lambda v: v["a"].append(1)),
    "an object": (mm.Raw(load_default=Box()), lambda v: v.held.append(1)),
    "in a Schema": (Schema.from_dict({"x": mm.List(mm.Raw(), load_default=[])}), lambda v: v["x"].append(1)),
    "in Nested": (mm.Nested({"x": mm.Dict(load_default={})}), lambda v: v["x"].update(a=1)),
    "in Nested, twice": (mm.Nested({"y": mm.Nested({"x": mm.Raw(load_default=[])})}), lambda v: v["y"]["x"].append(1)),
    "in List of Nested": (mm.List(mm.Nested({"x": mm.Raw(load_default=[])})), lambda v: v[0]["x"].append(1)),
    "in Dict of Nested": (mm.Dict(values=mm.Nested({"x": mm.Raw(load_default=[])})), lambda v: v["k"]["x"].append(1)),
    "in Tuple of Nested": (mm.Tuple([mm.Nested({"x": mm.Raw(load_default=[])})]), lambda v: v[0]["x"].append(1)),
    "of array": (defaulted(array(integer()), []), lambda v: v.append(1)),
    "of object_": (defaulted(object_(), {"a": []}), lambda v: v["a"].append(1)),
    "of any_": (defaulted(any_(), [[]]), lambda v: v[0].append(1)),
    "of a field of marshmallow's": (defaulted(mm.List(mm.Raw()), []), lambda v: v.append(1)),
    "in object_": (object_({"x": defaulted(mapping(integer()), {})}), lambda v: v["x"].update(a=1)),
    "by a function": (mm.Raw(load_default=list), lambda v: v.append(1)),
}
#: What is sent to those that need something.
SENT = {
    **{name: {} for name in ("in a Schema", "in Nested", "in object_")},
    "in Nested, twice": {"y": {}},
    "in List of Nested": [{}],
    "in Dict of Nested": {"k": {}},
    "in Tuple of Nested": [{}],
}


@pytest.mark.parametrize("name", CHANGED)
def test_no_request_sees_what_another_made_of_a_default(name: str) -> None:
    field, change = CHANGED[name]
    struct = compile_struct({"set": {"v": field}, "get": {}}, Schemas(Settings()))
    details = {"set": {"v": SENT[name]} if name in SENT else {}, "get": {}}
    seen = [struct.check(details, "create")["set"]["v"] for _ in range(2)]
    before = repr(seen[1].held if name == "an object" else seen[1])
    change(seen[0])
    after = struct.check(details, "create")["set"]["v"]
    assert repr(after.held if name == "an object" else after) == before
    assert seen[0] is not seen[1]


def test_a_default_of_marshmallows_that_cannot_be_copied_is_refused() -> None:
    with pytest.raises(DefinitionError, match="load_default: give a function, as lock cannot be copied"):
        object_({"v": mm.Raw(load_default=threading.Lock())})


def test_a_field_may_change_after_it_was_given_a_default():
    field: Any = defaulted(array(integer), [1])
    field.inner.validators.append(validate.Range(max=1))
    with pytest.raises(ValidationError):
        field.deserialize([2])

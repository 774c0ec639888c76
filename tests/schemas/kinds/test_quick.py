"""Quick tests: they agree with loading for every field, value and mode, and they do know good values."""

from __future__ import annotations

import copy
import enum
import itertools
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from datetime import datetime, timedelta, timezone
from typing import Any

import marshmallow
import pytest
from bson import ObjectId
from hypothesis import given, settings
from hypothesis import strategies as st
from marshmallow import Schema, validate
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError, ValidationError
from gatewayfw.schemas import (
    Schemas,
    Struct,
    any_,
    array,
    boolean,
    compile_struct,
    date,
    defaulted,
    email,
    enums,
    integer,
    number,
    object_,
    object_id,
    optional,
    string,
)
from gatewayfw.schemas.exactness import check_document, check_value
from gatewayfw.schemas.get import Ceilings, SelectStruct
from gatewayfw.schemas.kinds import KindField, as_kind, quick_of
from gatewayfw.schemas.kinds.containers import AnyField, ObjectField
from gatewayfw.schemas.kinds.numbers import IntegerField
from gatewayfw.schemas.kinds.quick import (
    Quick,
    all_of,
    as_it_is,
    never,
    or_none,
)
from gatewayfw.schemas.kinds.text import EnumsField, StringField
from gatewayfw.schemas.values import has_storable_keys, storable
from gatewayfw.settings import Settings
from tests.fuzz.details import selections
from tests.fuzz.hostile_values import KEYS, ODD
from tests.schemas.calls import refusals
from tests.strategies import SCALARS, kinds, kinds_with_values
from tests.strategies import Kind as Drawn

ID = "0123456789abcdefABCDEF00"
MODES = ("assert", "create")


class Colour(str, enum.Enum):  # noqa: UP042  (its text is not its value)
    """A text that is more than one."""

    RED = "red"


class Text(str):
    """A subclass of str."""


class Whole(int):
    """A subclass of int."""


class Id(ObjectId):
    """A subclass of ObjectId."""


class Pairs(dict[Any, Any]):
    """A subclass of dict."""


class Items(list[Any]):
    """A subclass of list."""


def nested(depth: int) -> Any:
    """Return lists within lists."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


#: Values that are nearly of a kind, or of it but not of its usual type.
ODDER: tuple[Any, ...] = (
    *[Text("a"), Text(ID), Text("a@b.org"), Text("2026-11-21"), Colour.RED, Whole(1), Id(ID), Pairs(), Items([1])],
    *[Pairs(a=1), OrderedDict(a=1), {"a": Whole(1)}, {Text("a"): 1}, {"a": Items()}, [Pairs()], (1,), {1}, b"a"],
    *[float("nan"), float("inf"), -float("inf"), 2.0, -1.0, 0.5, 1e300, 2**63, -(2**63) - 1, 5, 3, 10**400],
    *[
        "abc",
        "abca",
        "abcx",
        "2026-11-21",
        "2026-11-21T10:00:00.5+03:30",
        "a@b.org",
        "a@b",
        "a" * 320 + "@b.org",
        ID,
        " " + ID[1:],
    ],
    *[ID[:22] + "  ", ID[:22] + " 0", ID[:-2] + "0_", ID[:-1] + "\n", ObjectId(ID), datetime(2026, 1, 1), datetime.max],
    *[datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))), nested(99), nested(100), nested(101)],
    *[{key: 1} for key in (*KEYS, "$x", "x.y")],
    *[{"a": {key: 1}} for key in ("\0", "$x", "x.y", "\ud800")],
    *[{"a": 1, "b": "x"}, {"a": 1, "c": 1}, {"b": "x"}, {"a": "5"}, {5: 1, "a": 1}, {"a": None}, ["a"] * 3, ["a"] * 4],
    *[[ID] * 3, [ID, 5], [ID, None], ["\ud800"], ["a", True], {"a": "\ud800"}, [{"a": 1}, {"b": "y", "a": 2}], [{}]],
)
#: A field of every kind, with each of its options and with what only classes can be given.
FIELDS: dict[str, Callable[[], Any]] = {
    "string": string,
    "string of a size": lambda: string(size=3),
    "string of a range": lambda: string(size=(None, 3)),
    "string with a pattern": lambda: string(pattern="[a-c]+x?"),
    "number": number,
    "number in a range": lambda: number(minimum=0.5, maximum=2),
    "integer": integer,
    "integer in a range": lambda: integer(minimum=-1, maximum=3),
    "integer in an open range": lambda: IntegerField(required=True, validate=validate.Range(1, 5, min_inclusive=False)),
    "integer within no number": lambda: IntegerField(validate=validate.Range(min=float("nan"))),
    "boolean": boolean,
    "object_id": object_id,
    "enums of texts": lambda: enums("a", "red"),
    "enums": lambda: enums("a", 1, 2.0, False),
    "enums of a subclass": lambda: enums(Colour.RED, "a"),
    "enums of nothing": lambda: EnumsField(metadata={"choices": (float("nan"), [1])}),
    "any_": any_,
    "any_ but null": lambda: AnyField(required=True),
    "date": date,
    "email": email,
    "any object": object_,
    "no object": lambda: object_({}),
    "object_": lambda: object_({"a": integer, "b": optional(string)}),
    "object_ with a default": lambda: object_({"a": optional(integer), "b": defaulted(string, "x")}),
    "object_ with a list as default": lambda: object_({"a": any_, "b": defaulted(array(string), ["x"])}),
    "object_ with a made default": lambda: object_({"a": integer, "b": defaulted(string, lambda: "x")}),
    "object_ with a bad default": lambda: object_(
        {"a": StringField(load_default=5), "b": StringField(load_default="y")}
    ),
    "object_ of names the database has not": lambda: object_({"$x": optional(any_), "x.y": optional(any_)}),
    "array": lambda: array(any_),
    "array of ids": lambda: array(object_id, size=(1, 3)),
    "array of strings": lambda: array(string, size=3),
    "array of objects": lambda: array(object_({"a": integer, "b": defaulted(string, "x")})),
    "optional": lambda: optional(integer),
    "defaulted": lambda: defaulted(integer, 3),
    "nullable": lambda: StringField(required=True, allow_none=True, validate=validate.Length(1, 3)),
    "with a check of the user's own": lambda: StringField(required=True, validate=lambda text: text == "abc"),
    "with a check that is a subclass": lambda: StringField(validate=type("Long", (validate.Length,), {})(2)),
}


def struct(set_: Any, get: Any = object_, **settings: Any) -> Struct:
    """Return a struct of its own gateway."""
    return compile_struct({"set": set_, "get": get}, Schemas(Settings(**settings)))


def slow(quick: Struct) -> Struct:
    """Return a struct that loads everything."""
    other = copy.copy(quick)
    other._takes = None
    assert quick.fields is not None
    other._root = ObjectField(quick.fields, required=True)
    return other


def outcome(function: Callable[..., Any], *arguments: Any) -> str:
    """Return the result with its types and orders, or the errors."""
    try:
        return repr(function(*arguments))
    except ValidationError as error:
        return f"refused {error.errors}"


def loaded(field: Any) -> Any:
    """Return a copy of a field whose values are never known as good at once."""
    other = copy.copy(field)
    load, fill = (as_kind(other).loader(fill=fill) or as_it_is for fill in (False, True))
    other.quick = Quick(other, load, fill, never, as_kind(other).storer())
    return other


def agreement(field: Any) -> Callable[[Any], None]:
    """Return what checks that nothing tells whether a value went the quick way or was loaded."""
    quick = struct({"x": field})
    test = as_kind(field).quick_test()
    load = as_kind(field).loader(fill=True) or as_it_is
    document = ObjectField({"x": field}, required=True)
    loaded_document, loaded_field = loaded(document), loaded(field)

    def agree(value: Any) -> None:
        for details in ({"set": {"x": value}, "get": {}}, {"set": {}, "get": {"a": value}}):
            for mode in MODES:
                assert outcome(quick.check, details, mode) == outcome(slow(quick).check, details, mode)
        if test is not None and test(load(value)):
            assert repr(field.deserialize(value)) == repr(load(value))
        for doc in ({"x": value}, {}, {"x": value, "z": 1}):
            assert outcome(check_document, document, doc) == outcome(check_document, loaded_document, doc)
        assert outcome(check_value, field, value, "x") == outcome(check_value, loaded_field, value, "x")

    return agree


@pytest.mark.parametrize("name", FIELDS)
def test_quick_and_slow_agree_on_every_odd_value(name: str) -> None:
    agree = agreement(FIELDS[name]())
    for value in (*ODD, *ODDER):
        agree(value)


@given(kinds_with_values())
def test_quick_and_slow_agree_on_every_kind_and_value(case: tuple[Drawn, Any]) -> None:
    kind, value = case
    agreement(kind.field)(value)


@given(kinds(), st.data())
def test_the_quick_test_knows_every_good_value(kind: Drawn, data: st.DataObject) -> None:
    test = as_kind(kind.field).quick_test()
    value = data.draw(kind.valid)
    assert test is not None
    assert bool(test(value)) == has_storable_keys(value)


@pytest.mark.parametrize("name", SCALARS)
@given(data=st.data())
def test_good_values_are_stored_without_being_loaded(name: str, data: st.DataObject) -> None:
    kind = SCALARS[name]()
    value = data.draw(kind.valid)
    quick = quick_of(kind.field)
    assert quick is not None
    assert bool(quick.test(value)) == storable(value)


def without_loading(monkeypatch: pytest.MonkeyPatch, function: Any, *arguments: Any) -> Any:
    """Return the result of a call that loads no field."""

    def refuse(self: Any, value: Any, *rest: Any, **more: Any) -> Any:
        raise AssertionError(f"{self.kind} was loaded")

    with monkeypatch.context() as patched:
        patched.setattr(KindField, "deserialize", refuse)
        return function(*arguments)


@pytest.mark.parametrize(
    ("mode", "sent", "given"),
    [
        ("assert", {"name": "a", "page": 1, "ids": [ID]}, {"name": "a", "page": 1, "ids": [ID]}),
        ("create", {"ids": [], "name": "a", "page": 1}, {"ids": [], "name": "a", "page": 1}),
        ("create", {"ids": [], "name": "a"}, {"name": "a", "page": 0, "ids": []}),
    ],
)
def test_good_details_are_not_loaded_and_keep_their_order(
    shop: Schemas, monkeypatch: pytest.MonkeyPatch, mode: Any, sent: Any, given: Any
) -> None:
    set_ = {"name": string(), "page": defaulted(integer(), 0), "ids": optional(array(object_id()))}
    checked = compile_struct({"set": set_, "get": shop.select_struct("city")}, shop)
    details = {"set": sent, "get": {"name": 1, "country": {"name": 1}}}
    result = without_loading(monkeypatch, checked.check, details, mode, shop.settings)
    assert repr(result) == repr({**details, "set": given})


def test_good_documents_are_not_loaded(shop: Schemas, monkeypatch: pytest.MonkeyPatch) -> None:
    model = shop.add(
        "note", {"text": string(), "at": date(), "by": object_id(), "free": any_(), "n": defaulted(integer, 1)}
    )
    doc = {"text": "a", "at": "2026-11-21", "by": ID, "free": {"a": [1]}}
    stored = without_loading(monkeypatch, check_document, model.document, doc)
    assert stored == {"text": "a", "at": datetime(2026, 11, 21), "by": ObjectId(ID), "free": {"a": [1]}, "n": 1}
    assert stored["free"] is not doc["free"]
    assert without_loading(monkeypatch, check_value, model.pure["by"], ID, "x") == ObjectId(ID)


def test_a_default_is_a_copy_each_time() -> None:
    checked = struct({"tags": defaulted(array(string), ["a"])})
    for _ in range(2):
        details = checked.check({"set": {}, "get": {}}, "create")
        assert details == {"set": {"tags": ["a"]}, "get": {}}
        details["set"]["tags"].append("b")


def test_a_made_default_is_made_once() -> None:
    numbers = itertools.count(1)
    checked = struct({"n": defaulted(integer, lambda: next(numbers))})
    assert [checked.check({"set": {}, "get": {}}, "create")["set"]["n"] for _ in range(3)] == [1, 2, 3]


def test_a_check_of_the_users_own_is_asked_once_also_when_it_refuses() -> None:
    asked: list[str] = []

    def judge(text: str) -> None:
        asked.append(text)
        if text != "good":
            raise marshmallow.ValidationError("Not good.")

    own = mm.String(required=True, validate=judge)
    checked = struct({"own": own, "name": string(), "part": {"ids": array(object_id)}})
    good = {"set": {"own": "good", "name": "a", "part": {"ids": [ID]}}, "get": {}}
    assert checked.check(good, "assert") == good
    bad = {"set": {"own": "bad", "name": "a", "part": {"ids": [ID]}}, "get": {}}
    assert refusals(checked.check, bad, "assert") == {"set.own": ["Not good."]}
    assert asked == ["good", "bad"]


class Note(Schema):
    """A user's own Schema."""

    text = mm.String(required=True)


@given(kinds_with_values(), st.sampled_from(["a", 5, None]), st.sampled_from([{"text": "a"}, {"text": 5}, {}]))
def test_beside_parts_of_the_users_own_the_rest_is_judged_the_same(case: Any, own: Any, note: Any) -> None:
    kind, value = case
    fields = {"x": kind.field, "list": array({"x": kind.field}), "own": mm.String(), "note": Note}
    quick = struct(fields)
    details = {"set": {"x": value, "list": [{"x": value}], "own": own, "note": note}, "get": {}}
    for mode in MODES:
        assert outcome(quick.check, details, mode) == outcome(slow(quick).check, details, mode)


def test_a_list_of_ids_keeps_its_bound() -> None:
    checked = struct({"ids": array(object_id)}, max_ids=2)
    assert refusals(checked.check, {"set": {"ids": [ID] * 2}, "get": {}}, "assert") is None
    message = {"set.ids": ["Longer than maximum length 2."]}
    assert refusals(checked.check, {"set": {"ids": [ID] * 3}, "get": {}}, "assert") == message
    beside = struct({"ids": array(object_id), "own": optional(mm.String())}, max_ids=2)
    assert refusals(beside.check, {"set": {"ids": [ID] * 3}, "get": {}}, "assert") == message


class SlowSelect(SelectStruct, own=True):
    """A select struct that looks at every `get` at length."""

    def takes(self, value: Any) -> bool:
        return False


def people(**settings: Any) -> Schemas:
    """Return models of people and towns, linked both ways, with a relation to a model that is not there."""
    schemas = Schemas(Settings(**settings))
    reverse = {"people": {"type": "multiple", "limit": 5}}
    schemas.add("town", {"name": string(), "code": string()}, {"gone": {"schemaName": "nothing", "type": "single"}})
    town = {"schemaName": "town", "type": "single", "relatedRelations": reverse}
    schemas.add("person", {"name": string(), "age": number()}, {"town": town})
    return schemas


SPECS = [
    0,
    1,
    2,
    3,
    {"name": 1},
    {"town": 2},
    {"town": {"name": 1, "people": {"age": 1}}},
    {"town": {"name": 1, "code": 1}},
]
NAMES = st.sampled_from(["_id", "name", "age", "code", "town", "people", "gone", "x"])
GETS: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([0, 1, True, 1.0, 2, None, "1", Whole(1), Pairs(name=1), [1], [[]]]) | st.just({}),
    lambda inner: st.dictionaries(NAMES, st.sampled_from([0, 1]) | inner, max_size=5),
    max_leaves=8,
)


def selected(schemas: Schemas, field: SelectStruct, get: Any, bounds: Any) -> str:
    """Return what a struct makes of a `get`: the errors, or that it is what was sent."""
    checked = compile_struct({"set": {}, "get": field}, schemas, bounds)
    try:
        return outcome(checked.check, {"set": {}, "get": get}, "assert", bounds)
    except DefinitionError as error:
        return error.message


@settings(max_examples=400)
@given(st.sampled_from(SPECS), st.sampled_from([None, Ceilings(2, 3), Ceilings(1, 9), Ceilings(9, 1)]), st.data())
def test_a_get_is_judged_the_same_at_length(spec: Any, bounds: Any, data: st.DataObject) -> None:
    schemas = people(max_get_depth=4, max_get_leaves=5)
    known = schemas.select_struct("person", spec)
    get: Any = data.draw(st.just({}) | GETS | GETS | selections(schemas, "person", 1, 2))
    bounds = bounds or schemas.settings
    at_length = selected(schemas, SlowSelect(schemas, "person", known.spec), get, bounds)
    assert selected(schemas, known, get, bounds) == at_length


@pytest.mark.parametrize("spec", [0, 1, 2, {"name": 1}, {"country": {"name": 1}}], ids=repr)
@given(data=st.data())
def test_every_good_get_is_known(spec: Any, data: st.DataObject) -> None:
    schemas = Schemas(Settings())
    schemas.add("country", {"name": string(), "population": number()})
    schemas.add("city", {"name": string()}, {"country": {"schemaName": "country", "type": "single"}})
    field = schemas.select_struct("city", spec)
    get: Any = data.draw(selections(schemas, "city", field.spec, 8))
    assert [field.takes(get) for _ in range(2)] == [True, True]


def test_a_model_added_later_is_known_at_once() -> None:
    schemas = people()
    field = schemas.select_struct("town", 1)
    assert field.takes({"name": 1, "people": {"age": 1}}) is True
    assert field.takes({"gone": {"name": 1}}) is False
    schemas.add("nothing", {"name": string()})
    assert field.takes({"gone": {"name": 1}}) is True
    assert field.takes({"gone": 1}) is True


def test_a_field_that_a_reverse_relation_has_the_name_of_is_a_field() -> None:
    schemas = people()
    link = {"schemaName": "person", "type": "single", "relatedRelations": {"age": {"type": "multiple"}}}
    schemas.add("wine", {"name": string()}, {"owner": link})
    struct_ = compile_struct({"set": {}, "get": schemas.select_struct("person")}, schemas)
    details = {"set": {}, "get": {"age": {"name": 1}}}
    assert refusals(struct_.check, details, "assert") == {"get.age": ["Must be 1 or 0."]}


def test_a_copy_of_a_field_has_tests_of_its_own() -> None:
    field = string()
    assert check_value(field, "abc", "x") == "abc"
    shorter = copy.copy(field)
    shorter.validators = [validate.Length(max=2)]
    assert refusals(check_value, shorter, "abc", "x") == {"x": ["Longer than maximum length 2."]}
    assert check_value(field, "abc", "x") == "abc"


@pytest.mark.parametrize(
    ("field", "known"),
    [
        (lambda: array(any_, size=(None, 2)), [True, True, True, False]),
        (lambda: array(any_, size=(1, 2)), [False, True, True, False]),
        (lambda: array(any_, size=(1, None)), [False, True, True, True]),
        (lambda: array(any_, size=2), [False, False, True, False]),
        (lambda: array(any_), [True] * 4),
    ],
    ids=["most", "both", "least", "exact", "any"],
)
def test_lists_of_all_lengths_that_are_allowed_are_known_at_once(field: Any, known: list[bool]) -> None:
    test = as_kind(field()).quick_test()
    assert test is not None
    assert [bool(test([1] * count)) for count in range(4)] == known


def test_tests_run_in_order_until_one_refuses() -> None:
    asked: list[str] = []

    def asking(name: str, answer: bool) -> Any:
        return lambda value: (asked.append(name), answer)[1]

    tests = [asking("a", True), asking("b", False), asking("c", True)]
    assert not bool(all_of(tests)(1))
    assert asked == ["a", "b"]
    assert bool(all_of([tests[0], tests[2]])(1))
    assert not bool(all_of(tests[1:2])(1))


def test_null_is_taken_or_not_whatever_the_test_says() -> None:
    assert [bool(or_none(test)(value)) for test in (never, bool) for value in (None, 0, 1)] == [
        *(True, False, False),
        *(True, False, True),
    ]


def test_quick_functions_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        quick_of(string()).test = never

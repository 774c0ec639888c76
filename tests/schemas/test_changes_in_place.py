"""Code of users that changes values in place: hooks, validators and fields work on copies in ``assert``."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from marshmallow import Schema, pre_load
from marshmallow import fields as mm

from gatewayfw.schemas import Schemas, array, compile_struct
from gatewayfw.schemas.kinds.foreign import in_models
from gatewayfw.settings import Settings
from tests.schemas.calls import new_document


class Trimmed(Schema):
    """A Schema whose hooks change what they get."""

    tags = mm.List(mm.Raw())

    @pre_load
    def trim(self, data: Any, **_: Any) -> Any:
        """Change it in place."""
        data["tags"].append("hook")
        return data


class Emptied(mm.Raw):
    """A user's field that changes what it gets."""

    def _deserialize(self, value: Any, *_: Any, **__: Any) -> Any:
        value.clear()
        return value


class Cleared(Schema):
    """A Schema whose hook takes away what it gets."""

    tags = mm.List(mm.Raw())

    @pre_load
    def clear(self, data: Any, **_: Any) -> Any:
        """Change it in place."""
        data["tags"].clear()
        return data


#: Fields whose code changes a value, and the value.
CHANGING: dict[str, tuple[Any, Any]] = {
    "a Schema": (Trimmed, {"tags": ["a"]}),
    "Nested": (mm.Nested(Trimmed), {"tags": ["a"]}),
    "List of Nested": (mm.List(mm.Nested(Trimmed)), [{"tags": ["a"]}]),
    "array of Nested": (array(mm.Nested(Trimmed)), [{"tags": ["a"]}]),
    "a Schema in a Schema": (Schema.from_dict({"x": mm.Nested(Trimmed)}), {"x": {"tags": ["a"]}}),
    "a function of a field": (mm.Raw(pre_load=[lambda value: [value.append(1), value][1]]), ["a"]),
    "a validator": (mm.List(mm.Raw(), validate=lambda value: value.clear()), ["a"]),
    "a validator in a Schema": (Schema.from_dict({"x": mm.Raw(validate=lambda value: value.clear())}), {"x": ["a"]}),
    "a user's field": (Emptied(), ["a"]),
    "a user's field in a Schema": (Schema.from_dict({"x": Emptied()}), {"x": ["a"]}),
}


@pytest.mark.parametrize("name", CHANGING)
def test_an_act_in_assert_gets_what_was_sent_whatever_hooks_change_in_place(name: str) -> None:
    field, value = CHANGING[name]
    struct = compile_struct({"set": {"v": field}, "get": {}}, Schemas(Settings()))
    sent = {"set": {"v": copy.deepcopy(value)}, "get": {}}
    assert (struct.check(sent, "assert"), sent) == ({"set": {"v": value}, "get": {}},) * 2


def test_a_schema_for_details_works_on_a_copy_in_assert() -> None:
    schema = Schema.from_dict({"set": mm.Nested(Trimmed), "get": mm.Dict()})
    sent = {"set": {"tags": ["a"]}, "get": {}}
    assert compile_struct(schema, Schemas(Settings())).check(sent, "assert") == {"set": {"tags": ["a"]}, "get": {}}


def test_hooks_of_a_model_do_not_change_the_document_that_is_inserted() -> None:
    doc = {"v": ["a"], "w": [{"tags": ["a"]}]}
    new_document({"v": in_models(Emptied()), "w": in_models(mm.List(mm.Nested(Cleared)))}, doc)
    assert doc == {"v": ["a"], "w": [{"tags": ["a"]}]}

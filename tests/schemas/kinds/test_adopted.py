"""Users' fields as we take them; `tests/odm/test_names.py` and `tests/schemas/test_defaults.py` say what for."""

from __future__ import annotations

import pytest
from marshmallow import Schema
from marshmallow import fields as mm

from gatewayfw.schemas import integer
from gatewayfw.schemas.kinds.foreign import adopt, adopt_schema


class Tree(Schema):
    """A Schema that names itself."""

    name = mm.String(required=True)
    below = mm.List(mm.Nested(lambda: Tree()))


def test_a_field_of_ours_is_taken_as_it_is():
    field = integer(minimum=1)
    assert adopt(field) is field


@pytest.mark.parametrize("field", [mm.Nested(Tree), mm.List(mm.Nested(Tree)), mm.Raw(load_default=[])])
def test_a_field_is_changed_in_a_copy_and_only_once(field):
    before = dict(vars(field))
    once = adopt(field)
    assert vars(field) == before
    assert once is not field
    again = adopt(once)
    assert [getattr(one, "nested", one.load_default) for one in (again, getattr(again, "inner", again))] == [
        getattr(one, "nested", one.load_default) for one in (once, getattr(once, "inner", once))
    ]


def test_a_schema_that_is_not_there_yet_is_looked_for_at_the_first_value():
    field = adopt(mm.Nested("LaterOnly"))

    class LaterOnly(Schema):
        get = mm.String()

    assert field.deserialize({"get": "x"}) == {"get": "x"}


def test_a_schema_may_name_itself():
    value = {"name": "a", "below": [{"name": "b", "below": [{"name": "c"}]}]}
    field = adopt(mm.Nested(Tree))
    assert (field.deserialize(value), field._serialize(value, None, {})) == (value, value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (mm.Nested(Tree, only=("name",)), {"name": "a"}),
        (mm.Nested(Tree(only=("name", "below.name"))), {"name": "a", "below": [{"name": "b"}]}),
        (mm.Nested(Tree, exclude=("below",), many=True), [{"name": "a"}]),
        (mm.List(mm.Nested(Tree, only=("name",))), [{"name": "a"}]),
        (mm.Pluck(Tree, "name"), "a"),
    ],
    ids=["only", "only inside", "many", "in a list", "Pluck"],
)
def test_the_options_of_a_nested_field_stay(field, value):
    adopted = adopt(field)
    assert adopted._serialize(adopted.deserialize(value), None, {}) == value


def test_a_schema_that_reads_parts_itself_goes_on_to_do_so():
    class Loud(Schema):
        get = mm.String()

        def get_attribute(self, obj, attr, default):
            return attr.upper()

    assert mm.Nested(adopt_schema(Loud()))._serialize({}, None, {}) == {"get": "GET"}

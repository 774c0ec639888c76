"""What lists and mappings do alike."""

from __future__ import annotations

import pytest
from marshmallow import fields as mm

from gatewayfw.schemas import array, integer, mapping, string
from gatewayfw.schemas.kinds import as_kind

BOTH = pytest.mark.parametrize("kind", [array, mapping])


@BOTH
def test_a_copy_has_another_field_inside(kind):
    field, inner = kind(string()), integer()
    changed = as_kind(field).with_parts([inner])
    assert [one for _, one in as_kind(changed).parts()] == [inner]
    assert [one.kind for _, one in as_kind(field).parts()] == ["string"]


@BOTH
def test_it_dumps_itself_if_what_is_inside_does(kind):
    assert (kind(string()).dumps_itself, kind(mm.Date()).dumps_itself) == (True, False)


@BOTH
def test_good_values_are_loaded_at_once(kind):
    good = {array: [1, 2], mapping: {"a": 1}}[kind]
    field = kind(integer())
    assert field.load_quickly(good) is good
    assert field.deserialize(good) is good

"""UUIDs in all their forms."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from bson import Binary

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, array, compile_struct, defaulted, object_, uuid
from gatewayfw.schemas.kinds.foreign import describe
from gatewayfw.schemas.structs import check_document, check_value
from gatewayfw.settings import Settings
from tests.schemas.calls import checked

TEXT = "01234567-89ab-cdef-0123-456789abcdef"
LOADED = UUID(TEXT)
STORED = Binary.from_uuid(LOADED)


def test_a_uuid_in_capitals_is_the_same_one() -> None:
    assert checked(uuid(), TEXT.upper(), "assert") == TEXT.upper()
    assert checked(uuid(), TEXT.upper(), "create") == LOADED
    assert check_value(uuid(), TEXT.upper(), "x") == STORED


@pytest.mark.parametrize("value", [TEXT.replace("-", ""), f"{{{TEXT}}}", f" {TEXT}", f"{TEXT}\n", 5, None, b"x" * 16])
def test_other_forms_of_a_uuid_are_refused(value: Any) -> None:
    text = "Field may not be null." if value is None else "Not a valid UUID."
    assert [checked(uuid(), value, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


@pytest.mark.parametrize("value", [TEXT, LOADED, STORED])
def test_models_take_every_form_of_a_uuid(value: Any) -> None:
    assert check_value(uuid(), value, "x") == STORED
    assert check_document({"ids": array(uuid())}, {"ids": [value]}) == {"ids": [STORED]}


@pytest.mark.parametrize("default", [TEXT, LOADED])
def test_a_default_is_filled_in_loaded_and_told_as_text(default: Any) -> None:
    field = defaulted(uuid(), default)
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    assert struct.check({"set": {}, "get": {}}, "create")["set"] == {"x": LOADED}
    assert check_document(object_({"x": field}), {}) == {"x": STORED}  # type: ignore[arg-type]  # an object field
    assert describe(field) == {"kind": "string", "format": "uuid", "presence": "defaulted", "default": TEXT}
    with pytest.raises(DefinitionError, match="^defaulted: the kind refuses its default: Not a valid UUID.$"):
        defaulted(uuid(), "x")

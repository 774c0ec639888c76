"""UUIDs in all their forms."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from bson import Binary, ObjectId

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, array, compile_struct, defaulted, nullable, object_, object_id, uuid
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.foreign import describe
from gatewayfw.schemas.kinds.ids import id_of, uuid_of
from gatewayfw.schemas.structs import check_document, check_value
from gatewayfw.settings import Settings
from tests.schemas.calls import checked
from tests.schemas.kinds.answers import answers, compared

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


ID = "0123456789abcdefABCDEF00"


@pytest.mark.parametrize(
    ("value", "found"),
    [(ID, ObjectId(ID)), (ObjectId(ID), ObjectId(ID)), (ID[1:], None), (ID + "0", None), (b"a" * 12, None), (5, None)],
)
def test_ids_are_found_as_texts_and_objects(value: Any, found: Any) -> None:
    assert id_of(value) == found
    assert compared(object_id(), value) == [found or {"x": ["Not a valid ObjectId (24 hexadecimal digits)."]}]


@pytest.mark.parametrize(
    ("value", "loaded"),
    [(ID, ObjectId(ID)), (ObjectId(ID), ObjectId(ID)), *((odd, odd) for odd in (ID[1:], ID + "0", ID[:22] + "  ", 5))],
)
def test_ids_are_loaded_and_known_quickly(value: Any, loaded: Any) -> None:
    quick: Any = quick_of(object_id())
    assert quick.load(value) == loaded
    assert [bool(quick.test(one)) for one in (value, loaded)] == [isinstance(loaded, ObjectId)] * 2


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *((TEXT, LOADED), (TEXT.upper(), LOADED), (LOADED, LOADED), (STORED, LOADED), (b"a" * 16, None), (None, None)),
        *((Binary(b"a" * 16, 3), None), (Binary(b"a" * 15, 4), None), (Binary(b"a" * 16), None), (TEXT[1:], None)),
    ],
)
def test_uuids_are_found_in_every_form(value: Any, found: Any) -> None:
    assert uuid_of(value) == found
    stored = {None: {"x": ["Not a valid UUID."]}, LOADED: STORED}[found]
    assert compared(uuid(), value) == [None if value is None else stored]
    quick: Any = quick_of(uuid())
    assert (quick.load(value), bool(quick.test(value))) == (found or value, found is not None)


def test_ids_are_dumped_as_text_and_null_is_kept() -> None:
    assert [object_id().serialize("x", {"x": value}) for value in (ObjectId(ID), None)] == [ID.lower(), None]
    assert [uuid().serialize("x", {"x": value}) for value in (LOADED, None)] == [TEXT, None]
    assert [check_value(nullable(kind), None, "x") for kind in (object_id, uuid)] == [None, None]


def test_ids_sort_and_are_described() -> None:
    common = {"sorts": True, "abilities": [], "sets parts": False, "unstated": []}
    assert answers(object_id()) == {**common, "largest": 12}
    assert answers(uuid()) == {**common, "largest": 21, "reads_otherwise": True}
    assert [as_kind(field).description() for field in (object_id(), object_id(of="note"), uuid())] == [
        {"kind": "object_id"},
        {"kind": "object_id", "of": "note"},
        {"kind": "string", "format": "uuid"},
    ]

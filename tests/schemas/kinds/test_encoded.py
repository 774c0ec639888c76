"""Ids, UUIDs, dates and binary data: what they take, load, store and compare with."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from bson import Binary, ObjectId

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import (
    Schemas,
    array,
    binary,
    compile_struct,
    date,
    defaulted,
    nullable,
    object_,
    object_id,
    uuid,
)
from gatewayfw.schemas.exactness import check_document, check_value
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.encoded import bytes_of, id_of, uuid_of
from gatewayfw.schemas.kinds.sizes import BINARY, ENDLESS
from gatewayfw.settings import Settings
from tests.schemas.calls import checked, new_document, refusals
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
    assert new_document({"ids": array(uuid())}, {"ids": [value]}) == {"ids": [STORED]}


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


MOMENT = datetime(2026, 11, 21, 6, 30)
NOT = ["Not a valid ISO 8601 date."]


@pytest.mark.parametrize("text", ["2026-11-21T06:30:00Z", "2026-11-21T10:00:00.000+03:30", "2026-11-21T06:30"])
def test_assert_keeps_each_notation_and_create_loads_the_moment(text):
    assert [checked(date(), text, mode) for mode in ("assert", "create")] == [text, MOMENT]


def test_a_dump_names_its_zone_and_milliseconds():
    assert date().serialize("x", {"x": MOMENT + timedelta(microseconds=1_000)}) == "2026-11-21T06:30:00.001Z"
    assert date().serialize("x", {"x": None}) is None


def test_filters_compare_with_moments():
    eastern = MOMENT.replace(tzinfo=timezone(timedelta(hours=-5)))
    assert compared(date(), MOMENT, eastern, "2026-11-21T06:30Z") == [MOMENT, MOMENT + timedelta(hours=5), MOMENT]
    assert compared(date(), None, 5, "yesterday", MOMENT.date()) == [None, *[{"x": NOT}] * 3]


def test_a_date_sorts_and_has_the_size_of_a_number():
    assert answers(date()) == {
        "sorts": True,
        "abilities": ["DATE", "ORDER"],
        "sets parts": False,
        "largest": 8,
        "unstated": [],
    }


def test_good_dates_are_known_and_loaded_quickly():
    quick = quick_of(date())
    given = [
        MOMENT,
        "2026-11-21T06:30",
        "2026-02-30",
        "x",
        5,
        MOMENT.date(),
        type("Moment", (datetime,), {})(2026, 1, 1),
    ]
    assert [bool(quick.test(value)) for value in given] == [True, True, False, False, False, False, False]
    assert [quick.load(value) for value in ("2026-11-21T06:30", "x", 5)] == [MOMENT, "x", 5]
    assert quick.load(MOMENT) is MOMENT
    assert as_kind(date()).description() == {"kind": "date"}


@pytest.mark.parametrize("sent", ["AP8", "AP9=", "AP8=\n", "A P8=", "_-8=", "é", 5, None])
def test_binary_data_is_base64_in_its_one_way(sent: Any) -> None:
    text = "Field may not be null." if sent is None else "Not valid base64."
    assert [checked(binary(), sent, mode) for mode in ("assert", "create")] == [{"set.x": [text]}] * 2


def test_the_size_of_binary_data_counts_bytes() -> None:
    field = binary(size=(1, 2))
    assert [checked(field, "AP8=", mode) for mode in ("assert", "create")] == ["AP8=", b"\x00\xff"]
    assert checked(field, "AAAA", "assert") == {"set.x": ["Length must be between 1 and 2."]}
    assert check_value(field, b"\x00\xff", "x") == check_value(field, "AP8=", "x") == b"\x00\xff"
    assert refusals(check_value, field, Binary.from_uuid(UUID(int=1)), "x") == {"x": ["Not valid base64."]}


BYTES = b"\x00\xff"


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *((BYTES, BYTES), ("AP8=", BYTES), ("", b""), (b"", b""), (Binary(BYTES), BYTES), (Binary(BYTES, 5), None)),
        *(("AP8", None), ("AP9=", None), ("é", None), (5, None), (None, None), (bytearray(BYTES), None)),
    ],
)
def test_bytes_are_found_in_every_form(value: Any, found: Any) -> None:
    assert (bytes_of(value), type(bytes_of(value))) == (found, type(found))


def test_bytes_of_the_server_are_taken_and_dumped_as_text() -> None:
    assert [checked(binary(), BYTES, mode) for mode in ("assert", "create")] == [BYTES, BYTES]
    assert [binary().serialize("x", {"x": value}) for value in (BYTES, None)] == ["AP8=", None]
    assert check_value(nullable(binary()), None, "x") is None


def test_filters_compare_with_bytes() -> None:
    wrong = {"x": ["Not valid base64."]}
    assert compared(binary(size=1), "AP8=", BYTES, None, "AP8", 5) == [BYTES, BYTES, None, wrong, wrong]


def test_good_bytes_are_known_and_loaded_quickly() -> None:
    quick: Any = quick_of(binary(size=(1, 2)))
    given = ["AP8=", BYTES, "AAAA", "", "x", 5]
    assert [bool(quick.test(value)) for value in given] == [True, True, False, False, False, False]
    assert [quick.load(value) for value in ("AP8=", BYTES, "AP8", 5)] == [BYTES, BYTES, "AP8", 5]


def test_binary_data_is_as_large_as_it_may_be() -> None:
    common = {"sorts": False, "abilities": [], "sets parts": False, "reads_otherwise": True}
    assert answers(binary(size=5)) == {**common, "largest": BINARY + 5, "unstated": []}
    assert answers(binary()) == {**common, "largest": ENDLESS, "unstated": ["x"]}
    assert as_kind(binary(size=(1, 5))).description() == {"kind": "binary", "minBytes": 1, "maxBytes": 5}

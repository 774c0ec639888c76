"""What a migration makes of one stored document."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import get_args
from uuid import UUID

import pytest
from bson import Binary, Decimal128, ObjectId
from bson.binary import UuidRepresentation

from gatewayfw.errors import DefinitionError, UsageError
from gatewayfw.odm.migrations.changes import STILL_MATCHES, UNCHANGED, convert, decide, frozen_copy, is_left
from gatewayfw.odm.migrations.declaration import Legacy, parse_migration
from gatewayfw.schemas import (
    array,
    boolean,
    date,
    decimal,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    uuid,
)
from gatewayfw.schemas.forms import form_of

NOW = {"name": string(), "email": optional(string()), "level": optional(integer()), "fee": optional(decimal(places=2))}


@pytest.fixture
def migration(define):
    """A function that declares a migration of owners, and returns it and the definitions."""

    def make(function=None, **keys):
        odm = define(NOW).odm
        declare = odm.migration("m", "owner", **keys)
        if function is not None:
            declare(function)
        return odm.schemas, odm.schemas.migrations()["m"]

    return make


CHANGED = [
    ({"rename": {"mail": "email"}}, {"mail": 1}, {"$set": {"email": 1}, "$unset": {"mail": ""}}),
    ({"rename": {"mail": "email", "rank": "level"}}, {"rank": None}, {"$set": {"level": None}, "$unset": {"rank": ""}}),
    (
        {"rename": {"mail": "email"}, "prefer": "old"},
        {"mail": 1, "email": 2},
        {"$set": {"email": 1}, "$unset": {"mail": ""}},
    ),
    ({"rename": {"mail": "email"}, "prefer": "new"}, {"mail": 1, "email": 2}, {"$unset": {"mail": ""}}),
    ({"copy": {"name": "email"}}, {"name": "n"}, {"$set": {"email": "n"}}),
    ({"default": {"level": 1, "email": "e"}}, {"level": 2}, {"$set": {"email": "e"}}),
    ({"default": {"fee": Decimal("1.50")}}, {}, {"$set": {"fee": Decimal128("1.50")}}),
    ({"drop": ["mail", "fax"]}, {"fax": 1}, {"$unset": {"fax": ""}}),
]


@pytest.mark.parametrize(("keys", "stored", "update"), CHANGED)
def test_a_change_ends_the_condition(migration, keys, stored, update):
    schemas, one = migration(**keys)
    change = decide(schemas, one, stored)
    assert change.update == update
    assert change.named == {name for names in update.values() for name in names}
    assert change.retires == ("$unset" in update)


def test_what_fits_is_not_converted_and_what_cannot_be_is_listed(migration):
    schemas, one = migration(convert=["level", "fee"])
    assert decide(schemas, one, {"level": 1, "fee": Decimal128("1.50")}) is None
    assert decide(schemas, one, {"level": "1", "fee": "many"}).update == {"$set": {"level": 1}}
    assert decide(schemas, one, {"level": 1, "fee": "many"}) == "fee: this string does not convert without loss"
    assert (is_left(schemas, one, {"level": 1}), is_left(schemas, one, {"level": "1"})) == (False, True)


def test_a_document_with_both_names_is_listed(migration):
    assert decide(*migration(rename={"mail": "email"}), {"mail": 1, "email": 1}) == "has both mail and email"


def test_a_function_sees_values_as_python_does_and_its_own_are_checked(migration):
    def double(doc):
        return {"$set": {"fee": doc["fee"] * 2}, "$unset": {"mail": ""}}

    change = decide(
        *migration(double, where={"mail": "m"}), {"_id": 1, "mail": "m", "fee": Decimal128("1.25"), "_gw": {}}
    )
    assert change.update == {"$set": {"fee": Decimal128("2.50")}, "$unset": {"mail": ""}}


LISTED = [
    (None, "the function changes nothing"),
    ({}, "the function changes nothing"),
    ({"$set": {"level": "high"}}, "level: Not a valid integer."),
    ({"$set": {"level": 1}}, STILL_MATCHES),
]


@pytest.mark.parametrize(("told", "reason"), LISTED)
def test_what_a_function_cannot_change_is_listed(migration, told, reason):
    assert decide(*migration(lambda doc: told, where={"mail": "m"}), {"mail": "m"}) == reason


WRONG = [
    ([], "must return $set and $unset, or None"),
    ({"$inc": {"level": 1}}, "must return $set and $unset, or None"),
    ({"$set": {"mail": 1}}, "sets 'mail', which is not a pure field of model 'owner'"),
    ({"$unset": {"items": ""}}, "unsets the relation 'items'"),
    ({"$unset": {"name": ""}}, "unsets 'name', which is required"),
    ({"$set": {"level": 1}, "$unset": {"level": ""}}, "sets and unsets 'level'"),
    ({"$unset": {"_gw": ""}}, "'_gw' is not a usable name"),
    ({"$unset": {"a.b": ""}}, "'a.b' is not a usable name"),
]


@pytest.mark.parametrize(("told", "text"), WRONG)
def test_a_function_that_returns_no_change_of_the_model_is_refused(migration, told, text):
    with pytest.raises((UsageError, DefinitionError)) as refused:
        decide(*migration(lambda doc: told, where={"mail": "m"}), {"mail": "m"})
    assert text in refused.value.message


def test_the_error_of_a_function_names_the_document(migration):
    with pytest.raises(KeyError) as raised:
        decide(*migration(lambda doc: doc["fax"], where={"mail": "m"}), {"_id": 7, "mail": "m"})
    assert raised.value.__notes__ == ["in the migration 'm', for owner 7"]


FROZEN = [
    ({"rename": {"mail": "email"}}, {"mail": 1, "name": 2}, {"email": 1, "name": 2}),
    ({"rename": {"mail": "email"}}, {"mail": 1, "email": 2}, "has both mail and email"),
    ({"rename": {"mail": "email"}, "prefer": "old"}, {"mail": 1, "email": 2}, {"email": 1}),
    ({"rename": {"mail": "email"}, "prefer": "old"}, {"email": 2, "mail": 1}, {"email": 1}),
    ({"rename": {"mail": "email"}, "prefer": "new"}, {"mail": 1, "email": 2}, {"email": 2}),
    ({"rename": {"mail": "level"}}, {"mail": 1, "name": 2}, {"name": 2}),
    ({"drop": ["mail"]}, {"mail": 1, "name": 2}, {"name": 2}),
]


@pytest.mark.parametrize(("keys", "copy", "after"), FROZEN)
def test_a_frozen_copy_gets_the_new_name_and_keeps_its_values(define, keys, copy, after):
    kinds = {kind: value for kind, value in keys.items() if kind != "prefer"}
    one = parse_migration(define(NOW).odm.schemas, "m", "owner", kinds, prefer=keys.get("prefer"))
    assert frozen_copy(one, copy, frozenset({"name", "email"})) == after


ID = "0123456789abcdef01234567"
ONE = UUID("00112233-4455-6677-8899-aabbccddeeff")
CONVERTED = [
    (integer(), "12", 12),
    (integer(), "-0", 0),
    (integer(), 3.0, 3),
    (integer(), "3.0", 3),
    (integer(), "1e3", 1000),
    (integer(), Decimal128("4"), 4),
    (number(), "12", 12),
    (number(), "12.5", 12.5),
    (number(), Decimal128("0.1"), 0.1),
    (decimal(places=2), 23.01, Decimal128("23.01")),
    (decimal(places=2), 5, Decimal128("5.00")),
    (decimal(places=2), "12.5", Decimal128("12.50")),
    (decimal(places=2), Decimal128("12.5"), Decimal128("12.50")),
    (date(), "2026-11-26", datetime(2026, 11, 26)),
    (date(), "2026-11-26T10:00:00.123000+01:00", datetime(2026, 11, 26, 9, 0, 0, 123000)),
    (object_id(), ID, ObjectId(ID)),
    (uuid(), str(ONE), Binary.from_uuid(ONE)),
    (array(integer()), ["1", 2, 3.0], [1, 2, 3]),
    (mapping(integer()), {"a": "1"}, {"a": 1}),
    (object_({"a": integer(), "b": string()}), {"a": "1", "b": "1", "c": "1"}, {"a": 1, "b": "1", "c": "1"}),
]


@pytest.mark.parametrize(("field", "stored", "expected"), CONVERTED)
def test_what_says_the_same_is_converted(field, stored, expected):
    found = convert(form_of(field), stored)
    assert (found, type(found)) == (expected, type(expected))
    assert form_of(field).fits(found)


LEFT = [
    (integer(), "007"),
    (integer(), "12 "),
    (integer(), "1,000"),
    (integer(), ""),
    (integer(), 2.5),
    (integer(), float("nan")),
    (integer(), float("inf")),
    (integer(), 2.0**60),
    (integer(), str(2**70)),
    (integer(), "1e999"),
    (integer(), True),
    (integer(), None),
    (integer(maximum=5), "7"),
    (number(), "0.12345678901234567890123"),
    (number(), "high"),
    (decimal(places=2), 1.005),
    (decimal(places=2), 0.1 + 0.2),
    (decimal(places=2), Decimal128("NaN")),
    (decimal(places=2), "1.005"),
    (date(), "26.11.2026"),
    (date(), "2026-11-26T10:00:00.1234567Z"),
    (date(), 1795600000),
    (object_id(), "abc"),
    (uuid(), "abc"),
    (uuid(), Binary(bytes(16), 3)),
    (string(), 12),
    (boolean(), 1),
    (boolean(), "true"),
    (array(integer()), ["1", "x"]),
    (array(integer()), "1"),
    (object_({"a": integer()}), {}),
]


@pytest.mark.parametrize(("field", "stored"), LEFT)
def test_what_would_lose_something_stays(field, stored):
    assert convert(form_of(field), stored) is UNCHANGED


@pytest.mark.parametrize("form", get_args(Legacy))
def test_a_legacy_uuid_is_read_in_the_order_that_is_said(form):
    stored = Binary.from_uuid(ONE, getattr(UuidRepresentation, form.upper()))
    assert convert(form_of(uuid()), stored, form) == Binary.from_uuid(ONE, UuidRepresentation.STANDARD)


def test_null_fits_a_field_that_takes_it():
    assert convert(form_of(nullable(integer())), None) is None

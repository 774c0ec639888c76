"""What is left of a migration, and how a batch is changed."""

from __future__ import annotations

import pytest

from gatewayfw.odm.migrations.batches import count_left, find_misfits, places
from gatewayfw.odm.writing.plan.effects import Effects
from gatewayfw.schemas import integer, optional, string

NEW = {"name": string(), "email": optional(string()), "level": optional(integer())}


@pytest.fixture
def declared(deploy):
    """A function that declares a migration of owners; it returns the definitions, the storage and the migration."""

    def declare(**keys):
        odm = deploy(NEW).odm
        odm.migration("m", "owner", **keys)
        return odm.schemas, odm.storage, odm.schemas.migrations()["m"]

    return declare


def test_frozen_copies_with_old_names_are_looked_for_themselves(declared):
    schemas, storage, migration = declared(rename={"mail": "email"})
    found = [(model, wanted) for model, wanted, _ in places(schemas, storage, migration)]
    frozen = [("item", {"$or": [{f"{name}.mail": {"$exists": True}}]}) for name in ("then", "once")]
    assert found == [("owner", migration.condition), *frozen]
    storage.insert("item", [{"_id": 1, "then": {"mail": "m"}, "once": [{"name": "n"}, {"mail": "m"}]}])
    storage.insert("owner", [{"_id": 1, "mail": "m"}, {"_id": 2}])
    assert count_left(schemas, storage, migration) == 3


@pytest.mark.parametrize("keys", [{"default": {"level": 1}}, {"copy": {"name": "email"}}, {"convert": ["level"]}])
def test_what_keeps_its_names_leaves_frozen_copies_alone(declared, keys):
    schemas, storage, migration = declared(**keys)
    assert [model for model, _, _ in places(schemas, storage, migration)] == ["owner"]


def test_only_what_does_not_fit_is_left_to_convert(declared):
    schemas, storage, migration = declared(convert=["level"])
    storage.insert("owner", [{"_id": 1, "level": "1"}, {"_id": 2, "level": 2}, {"_id": 3}])
    assert [one["_id"] for one in find_misfits(schemas, storage, migration)] == [1]
    assert count_left(schemas, storage, migration) == 1


def test_a_document_that_was_changed_meanwhile_is_passed_over(declared):
    schemas, storage, migration = declared(rename={"mail": "email"})
    storage.insert("owner", [{"_id": 1, "email": "e"}])
    ((_, _, begin),) = [one for one in places(schemas, storage, migration) if one[0] == "owner"]
    assert begin(None, Effects(shared=True), [1])(1) is None

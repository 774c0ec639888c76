"""What a migration may be, and what is refused with its reason."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.odm.migrations.declaration import parse_migration
from gatewayfw.schemas import integer, optional, string

NOW = {"name": string(), "email": optional(string()), "level": optional(integer()), "secret": optional(string())}


@pytest.fixture
def shop(define):
    """A shop whose owners have some fields, one of them excluded."""
    return define(NOW, options={"excludes": ["secret"]})


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        ({"rename": {"mail": "email"}}, {"$or": [{"mail": {"$exists": True}}]}),
        ({"copy": {"name": "email"}}, {"$or": [{"name": {"$exists": True}, "email": {"$exists": False}}]}),
        ({"default": {"level": 1}}, {"$or": [{"level": {"$exists": False}}]}),
        ({"drop": ["mail", "fax"]}, {"$or": [{"mail": {"$exists": True}}, {"fax": {"$exists": True}}]}),
    ],
    ids=["rename", "copy", "default", "drop"],
)
def test_each_kind_is_a_condition_on_what_is_stored(shop, kind, condition):
    assert parse_migration(shop.odm.schemas, "m", "owner", kind).condition == condition


REFUSED = [
    ({}, "give one of rename, copy, default, convert, drop, relation, where; given: none"),
    ({"relation": "name"}, "relation: 'name' is not a relation of model 'owner'"),
    ({"relation": ["by"]}, "is not a relation of model"),
    ({"convert": "level"}, "convert: expected a list of names"),
    ({"convert": ["mail"]}, "'mail' is not a pure field"),
    ({"convert": ["level", "level"]}, "'level' is named twice"),
    ({"convert": ["level"], "uuid": "java"}, "uuid is one of java_legacy, csharp_legacy, python_legacy"),
    ({"drop": ["mail"], "uuid": "java_legacy"}, "and goes with convert"),
    ({"drop": ["a"], "default": {"level": 1}}, "given: drop and default"),
    ({"drop": ["a"], "where": {"a": 1}}, "given: drop and where"),
    ({"rename": {"name": "email"}}, "model 'owner' still has 'name'; take it out of the definition first"),
    ({"rename": {"items": "email"}}, "model 'owner' still has 'items'"),
    ({"rename": {"mail": "phone"}}, "'phone' is not a pure field of model 'owner'"),
    ({"rename": {"mail": "items"}}, "'items' is not a pure field"),
    ({"rename": {"mail": "email", "post": "email"}}, "'email' is named twice"),
    ({"rename": {"_id": "email"}}, "'_id' is not a usable name"),
    ({"rename": {"_gw": "email"}}, "'_gw' is not a usable name"),
    ({"rename": {"a.b": "email"}}, "'a.b' is not a usable name"),
    ({"rename": {}}, "rename: expected new names by old ones"),
    ({"rename": {"mail": ["email"]}}, "is not a pure field"),
    ({"rename": {"mail": "email"}, "prefer": "newest"}, "prefer is 'old' or 'new', and goes with rename"),
    ({"drop": ["mail"], "prefer": "old"}, "prefer is 'old' or 'new', and goes with rename"),
    ({"copy": {"mail": "email"}}, "'mail' is not a pure field"),
    ({"copy": {"name": "name"}}, "'name' is named twice"),
    ({"default": {"level": "high"}}, "level: Not a valid integer."),
    ({"default": {"level": None}}, "level: Field may not be null."),
    ({"default": {"_gw": 1}}, "'_gw' is not a pure field"),
    ({"drop": "mail"}, "drop: expected a list of names"),
    ({"drop": []}, "drop: expected a list of names"),
    ({"drop": ["name"]}, "still has 'name'"),
    ({"drop": ["mail", "mail"]}, "'mail' is named twice"),
    ({"where": {}}, "where: expected a filter that names a field"),
    ({"where": {"a": {"$where": "1"}}}, "unknown operator $where"),
    ({"where": {"$or": [{"_gw.v": 1}]}}, "where: _gw is not for filters"),
    ({"renames": {"mail": "email"}}, "given: renames"),
]


@pytest.mark.parametrize(("keys", "text"), REFUSED, ids=lambda one: one if isinstance(one, str) else None)
def test_what_does_not_fit_the_model_is_refused_with_the_reason(shop, keys, text):
    with pytest.raises(DefinitionError) as refused:
        shop.odm.migration("m", "owner", **keys)
    assert text in refused.value.message
    assert refused.value.message.startswith("migration 'm': ")
    assert shop.odm.schemas.migrations() == {}


@pytest.mark.parametrize("name", ["", " ", 1, "n" * 201], ids=repr)
def test_a_name_is_a_text(shop, name):
    with pytest.raises(DefinitionError, match="the name must be a text"):
        shop.odm.migration(name, "owner", drop=["mail"])


def test_a_model_is_defined_before_its_migrations(shop):
    with pytest.raises(DefinitionError, match="there is no model 'shelf'; define it first"):
        shop.odm.migration("m", "shelf", drop=["mail"])


def test_two_migrations_have_two_names(shop):
    shop.odm.migration("m", "owner", drop=["mail"])
    with pytest.raises(DefinitionError, match="migration 'm' is already declared"):
        shop.odm.migration("m", "item", drop=["mail"])


def test_a_function_is_a_plain_one(shop):
    with pytest.raises(DefinitionError, match="expected a plain function"):
        shop.odm.migration("m", "owner", where={"a": 1})(None)


def test_an_excluded_field_may_be_migrated(shop):
    shop.odm.migration("m", "owner", rename={"hidden": "secret"})
    assert shop.odm.schemas.retired("owner") == ("hidden",)


def test_the_names_that_a_function_takes_away_are_not_known(shop):
    shop.odm.migration("one", "owner", drop=["mail"])
    shop.odm.migration("two", "item", where={"a": 1})(lambda doc: None)
    assert (shop.odm.schemas.retired("owner"), shop.odm.schemas.retired("item")) == (("mail",), None)

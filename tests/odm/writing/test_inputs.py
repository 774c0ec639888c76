"""Documents and relations as a caller gives them: what is taken, what is refused."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import NotFound, TooLarge, ValidationError
from gatewayfw.odm.sizes.own_fields import allowance_of
from gatewayfw.odm.writing.inputs import RelationInput, parse_document, parse_inputs, parse_new_inputs, sources_in
from gatewayfw.schemas import Schemas, defaulted, integer, string
from gatewayfw.settings import Settings
from tests.odm.refusing import REQUIRED, invalid

A, B, C = (ObjectId(letter * 24) for letter in "abc")


@pytest.fixture
def schema():
    """A model of teams: with at most two users, and two required relations."""
    schemas = Schemas(Settings())
    schemas.add("user", {})
    listed = {"teams": {"type": "multiple"}, "led": {"type": "single"}}
    users = {"schemaName": "user", "type": "multiple", "limit": 2, "optional": True, "relatedRelations": listed}
    one = {"schemaName": "user", "type": "single"}
    return schemas.add("team", {}, {"users": users, "head": one, "deputy": one})


@pytest.mark.parametrize(
    ("given", "parsed"),
    [
        (None, {}),
        ({}, {}),
        ({"users": {"_ids": [A, str(B)]}}, {"users": ((A, B), {})}),
        ({"users": {"_ids": (B, A), "relatedRelations": {"led": True}}}, {"users": ((B, A), {"led": True})}),
        ({"users": {"_ids": []}, "head": {"_ids": A}}, {"users": ((), {}), "head": ((A,), {})}),
        ({"head": {"_ids": [str(A)], "relatedRelations": {}}}, {"head": ((A,), {})}),
    ],
    ids=str,
)
def test_relation_input_becomes_ids_and_flags(schema, given, parsed):
    wanted = {name: RelationInput(schema.relations[name], ids, flags) for name, (ids, flags) in parsed.items()}
    assert parse_inputs(schema, given) == wanted
    assert sources_in(wanted) == [("user", id_) for ids, _ in parsed.values() for id_ in ids]


@pytest.mark.parametrize(
    ("given", "errors"),
    [
        ("users", {"relations": ["Expected an object."]}),
        (
            {"users": 5, "x": 5},
            {"relations.users": ["Expected an object with _ids."], "relations.x": ["Unknown field."]},
        ),
        ({"users": {"_ids": 5}}, {"relations.users._ids": ["Expected a list of ids."]}),
        ({"users": {"_ids": [A, "x"]}}, {"relations.users._ids": ["Not a valid id."]}),
        ({"users": {"_ids": [A, B, C]}}, {"relations.users._ids": ["More than 2 ids."]}),
        (
            {
                "users": {"_ids": [], "x": 1, "relatedRelations": {"x": True, "led": 1, "teams": True}},
                "head": {"_ids": []},
            },
            {
                "relations.users.x": ["Unknown field."],
                "relations.users.relatedRelations.x": ["Unknown field."],
                "relations.users.relatedRelations.led": ["Not a valid boolean."],
                "relations.head._ids": ["Expected one id."],
            },
        ),
    ],
    ids=str,
)
def test_all_that_is_wrong_with_relation_input_is_told(schema, given, errors):
    with pytest.raises(ValidationError) as raised:
        parse_inputs(schema, given)
    assert raised.value.errors == errors


def test_new_documents_have_their_own_input_or_share_one(schema):
    first, second = ({"head": {"_ids": one}, "deputy": {"_ids": B}} for one in (A, C))
    parsed = [parse_inputs(schema, one) for one in (first, second)]
    assert parse_new_inputs(schema, [first, second], 2, 4) == parsed
    assert parse_new_inputs(schema, [first], 2, 4) == parsed[:1] * 2
    for given in ([first, second], [first]):
        with pytest.raises(TooLarge) as raised:
            parse_new_inputs(schema, given, 2, 3)
        text = "team: one insert may embed 3 copies of related documents, all of its documents together"
        assert raised.value.message == text


def test_all_required_relations_that_are_missing_are_told(schema):
    missing = {f"relations.{name}": [REQUIRED] for name in ("head", "deputy")}
    with pytest.raises(ValidationError) as raised:
        parse_new_inputs(schema, [{"users": {"_ids": [A]}}], 1, 9)
    assert raised.value.errors == missing


@pytest.mark.parametrize("id_", ["0" * 12, "0" * 24 + "\n", "g" * 24, 5, None, b"0" * 12, {"$oid": "0" * 24}])
def test_insert_takes_only_real_ids(world, refused, id_):
    refused(*invalid("doc._id", "Not a valid id."), lambda: world.country.insert_one(doc={"_id": id_, "name": "x"}))


@pytest.mark.parametrize(
    "relations",
    [None, {}, {"country": {"_ids": []}}],
    ids=["none", "empty", "no ids"],
)
def test_insert_needs_required_relations(world, land, refused, relations):
    missing = "Expected one id." if relations and relations.get("country") else REQUIRED
    path = "relations.country._ids" if missing != REQUIRED else "relations.country"
    refused(*invalid(path, missing), lambda: world.city.insert_one(doc={"name": "x"}, relations=relations))


def test_insert_needs_an_id_in_a_required_multiple(world, refused):
    relations = {"places": {"_ids": []}}
    refused(
        *invalid("relations.places", REQUIRED), lambda: world.club.insert_one(doc={"name": "x"}, relations=relations)
    )


@pytest.mark.parametrize(
    ("given", "path", "text"),
    [
        ({"nothing": {"_ids": []}}, "relations.nothing", "Unknown field."),
        ({"born": "0" * 24}, "relations.born", "Expected an object with _ids."),
        ({"born": {}}, "relations.born", "Expected an object with _ids."),
        ({"born": {"_ids": "x"}}, "relations.born._ids", "Not a valid id."),
        ({"born": {"_ids": ["0" * 24, "1" * 24]}}, "relations.born._ids", "Expected one id."),
        ({"born": {"_ids": {"$ne": None}}}, "relations.born._ids", "Not a valid id."),
        ({"visited": {"_ids": "0" * 24}}, "relations.visited._ids", "Expected a list of ids."),
        ({"visited": {"_ids": ["0" * 24, "0" * 24]}}, "relations.visited._ids", "Ids may not repeat."),
        ({"visited": {"_ids": [f"{n:024x}" for n in range(5)]}}, "relations.visited._ids", "More than 4 ids."),
        ({"born": {"_ids": "0" * 24, "x": 1}}, "relations.born.x", "Unknown field."),
        ({"born": {"_ids": "0" * 24, "relatedRelations": 1}}, "relations.born.relatedRelations", "Expected an object."),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"users": True}}},
            "relations.born.relatedRelations.users",
            "Unknown field.",
        ),
        (
            {"born": {"_ids": "0" * 24, "relatedRelations": {"natives": 1}}},
            "relations.born.relatedRelations.natives",
            "Not a valid boolean.",
        ),
    ],
)
def test_relation_input_is_checked(world, refused, given, path, text):
    person = world.add_person("p")
    refused(*invalid(path, text), lambda: world.person.insert_one(doc={"name": "x"}, relations=given))
    refused(*invalid(path, text), lambda: world.person.add_relation(filters={"_id": person}, relations=given))
    refused(*invalid(path, text), lambda: world.person.remove_relation(filters={"_id": person}, relations=given))


def test_missing_ids_are_all_named(world, land, refused):
    missing = [ObjectId(), ObjectId()]
    message = f"country not found: {min(missing)}, {max(missing)}"
    relations = {"visited": {"_ids": [missing[0], land, missing[1]], "relatedRelations": {"visitors": True}}}
    refused(NotFound, message, lambda: world.add_person("x", relations))


ID = ObjectId("a" * 24)


@pytest.fixture
def things():
    """A model of texts that may be longer than is allowed here."""
    return Schemas(Settings()).add("thing", {"name": string(size=(0, 5_000)), "n": defaulted(integer(), 1)}, {}, {})


def test_a_new_document_has_an_id_and_its_defaults(things):
    new = parse_document(things, {"name": "x"}, {}, None, "doc")
    assert (new.fields, new.version) == ({"_id": new.fields["_id"], "name": "x", "n": 1}, 0)
    assert new.proof() == {"_id": new.fields["_id"]}


@pytest.mark.parametrize("given", [ID, str(ID)], ids=["loaded", "text"])
def test_an_id_of_the_callers_takes_a_version_that_no_other_document_had(things, given):
    new = parse_document(things, {"_id": given, "name": "x"}, {}, None, "doc")
    assert new.fields["_id"] == ID
    assert new.version > 0
    assert new.proof() == {"_id": ID, "_gw.v": new.version}


@pytest.mark.parametrize("where", ["doc", "docs.7"])
@pytest.mark.parametrize(
    ("doc", "below", "text"),
    [
        ("x", "", "Expected an object."),
        ({"_id": "x", "name": "x"}, "._id", "Not a valid id."),
        ({"name": 5}, ".name", "Not a valid string."),
        ({}, ".name", "Missing data for required field."),
    ],
    ids=["no object", "id", "field", "missing"],
)
def test_errors_name_the_document_they_are_in(things, where, doc, below, text):
    with pytest.raises(ValidationError) as caught:
        parse_document(things, doc, {}, None, where)
    assert caught.value.errors == {f"{where}{below}": [text]}


def test_a_document_of_more_than_its_allowance_is_refused(things):
    with pytest.raises(TooLarge):
        parse_document(things, {"name": "x" * 2_000}, {}, allowance_of(things, 1_000), "doc")

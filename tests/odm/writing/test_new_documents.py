"""What an insert is given, checked before any command is sent."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw.errors import TooLarge, ValidationError
from gatewayfw.odm.sizes.own_fields import allowance_of
from gatewayfw.odm.writing.new_documents import parse_document
from gatewayfw.schemas import Schemas, defaulted, integer, string
from gatewayfw.settings import Settings

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
    assert (new.fields["_id"], new.version > 0) == (ID, True)
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

"""What the exports say of fields and copies that policies keep from somebody."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway, integer, string
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript


@pytest.fixture
def catalog():
    """Items with a hidden price, an owner whom not all see, and a seller whose copies are shared."""
    gw = gateway(roles=["Clerk", "Guest"])
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("owner", {"name": string()})
    one = {"schemaName": "owner", "type": "single"}
    pure = {"name": string(), "price": integer()}
    items = gw.odm.new_model("item", pure, {"owner": one, "seller": {**one, "shared": True}})
    gw.policy(["item", "owner"], roles=["Clerk"])
    gw.policy("item", roles=["Guest"], hide=["price"])
    gw.policy("owner", roles=["Guest"], rows=lambda context: None)

    @gw.acts.act("item", "getItems", get=1, returns="many", public=True)
    def get_items(body):
        return items.find({}, projection=body["details"]["get"])

    return gw.catalog()


def test_typescript_marks_them_as_optional(catalog):
    text = typescript(catalog)
    assert "fields: { _id: ObjectId; name: string; price?: number };" in text
    assert 'links: { owner?: One<"owner">; seller: One<"owner"> };' in text


def test_python_marks_them_as_not_required(catalog):
    lines = [line.strip() for line in python(catalog).splitlines()]
    document = lines.index('"""A document of item; `get` says what it shows."""')
    assert lines[document + 3 : document + 8] == [
        "name: str",
        "price: NotRequired[int]",
        "_rev: int",
        "owner: NotRequired[OwnerCopy0]",
        "seller: OwnerCopy0",
    ]


def test_json_schema_does_not_require_them(catalog):
    assert json_schema(catalog)["$defs"]["model.item"]["required"] == ["_id", "name", "seller"]

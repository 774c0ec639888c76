"""What the exports say of frozen copies and of lists that are filled by default."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import string


@pytest.fixture
def catalog():
    """Orders with frozen copies of products, which list their orders by default."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("product", {"name": string()})
    reverse = {"orders": {"type": "multiple", "limit": 5, "default": True}}
    sold = {"schemaName": "product", "type": "multiple", "limit": 9, "frozen": True, "relatedRelations": reverse}
    orders = gw.odm.new_model("order", {"number": string()}, {"products": sold})

    @gw.acts.act("order", "getOrders", get=gw.schemas.select_struct("order", 1), returns="many", public=True)
    def get_orders(body):
        return orders.find({}, projection=body["details"]["get"])

    return gw.catalog()


def test_typescript_says_so_above_the_link(catalog):
    text = typescript(catalog)
    assert "/** As it was when it was related, at most 9. */" in text
    assert "/** Reverse of order.products, at most 5, by _id descending, listed by default. */" in text


def test_python_says_so_beside_the_key(catalog):
    assert "as it was when it was related" in python(catalog)


def test_json_schema_describes_the_copies(catalog):
    shown = json_schema(catalog)["$defs"]["shown.order.1"]["properties"]["products"]
    copies = {"type": "array", "items": {"$ref": "#/$defs/shown.order.products.0"}}
    assert shown == {**copies, "description": "As it was when it was related"}

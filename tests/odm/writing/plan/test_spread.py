"""Which relations follow their sources; pure."""

from __future__ import annotations

from gatewayfw.odm.writing.plan.spread import followers
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings


def test_relations_follow_unless_they_are_frozen():
    schemas = Schemas(Settings())
    schemas.add("org", {"name": string()})
    org = {"schemaName": "org", "type": "single"}
    schemas.add("user", {}, {"org": org, "first": {**org, "frozen": True}})
    assert [relation.name for relation in schemas.embedders("org")] == ["org", "first"]
    assert [relation.name for relation in followers(schemas, "org")] == ["org"]

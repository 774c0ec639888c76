"""ajv in strict mode and json-schema-to-typescript on the exported JSON Schema."""

from __future__ import annotations

import pytest

from gatewayfw.export.jsonschema.document import json_schema
from tests.installing import ran
from tests.tools.services import GATEWAYS


@pytest.fixture(params=GATEWAYS)
def schema(request, toolbox):
    """A folder with the JSON Schema of a gateway."""
    made = toolbox("json_schema")
    made.write("schema.json", json_schema(GATEWAYS[request.param]().catalog()))
    return made


def test_ajv_compiles_it_in_strict_mode(schema):
    ran(["node", "ajv.mjs"], schema.folder)


def test_types_are_made_of_it(schema):
    ran(["node", "types.mjs"], schema.folder)
    schema.run("tsc", "--noEmit", "--strict", "--ignoreConfig", "types.ts")

"""ajv in strict mode and json-schema-to-typescript on the exported JSON Schema."""

from __future__ import annotations

import pytest

from gatewayfw.export.jsonschema.document import json_schema
from tests.installing import ran
from tests.tools.conftest import catalog
from tests.tools.services import GATEWAYS


@pytest.fixture(scope="module")
def schemas(toolbox):
    """A folder with the JSON Schema of each gateway."""
    made = toolbox("json_schema")
    for name in GATEWAYS:
        made.write(f"{name}.json", json_schema(catalog(name)))
    return made


def test_ajv_compiles_them_in_strict_mode(schemas):
    ran(["node", "ajv.mjs", *GATEWAYS], schemas.folder)


def test_types_are_made_of_them(schemas):
    ran(["node", "types.mjs", *GATEWAYS], schemas.folder)
    schemas.run("tsc", "--noEmit", "--strict", "--ignoreConfig", *(f"{name}.ts" for name in GATEWAYS))

"""Languages that clients are generated in."""

from __future__ import annotations

import pytest

from gatewayfw import gateway
from gatewayfw.catalog import build
from gatewayfw.errors import DefinitionError
from gatewayfw.export.files import generated
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript


@pytest.fixture
def catalog():
    gw = gateway()
    return build(gw.schemas, gw.acts)


def test_each_language_has_its_file(catalog):
    assert generated(catalog, "ts") == ("gateway.ts", typescript(catalog))
    assert generated(catalog, "python") == ("gateway_types.py", python(catalog))


def test_another_language_is_refused_with_those_there_are(catalog):
    with pytest.raises(DefinitionError) as caught:
        generated(catalog, "cobol")
    assert caught.value.message == "unknown language 'cobol' (known: ts, python)"

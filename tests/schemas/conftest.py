"""Two related models."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import Schemas, number, optional, string
from gatewayfw.settings import Settings

CITIES = {"type": "multiple", "limit": 5, "sort": {"field": "name", "order": "asc"}}


@pytest.fixture
def schemas() -> Schemas:
    """No models."""
    return Schemas(Settings())


@pytest.fixture
def shop(schemas: Schemas) -> Schemas:
    """Country and city: a city has a country, a country its cities; the city's ``code`` is excluded."""
    schemas.add("country", {"name": string(), "population": optional(number())})
    schemas.add(
        "city",
        {"name": string(), "code": string()},
        {"country": {"schemaName": "country", "type": "single", "relatedRelations": {"cities": CITIES}}},
        {"excludes": ["code"]},
    )
    return schemas

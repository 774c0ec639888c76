"""Calls of which a test wants the refusal as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from gatewayfw.errors import DefinitionError, ValidationError
from gatewayfw.schemas import Schemas, compile_struct
from gatewayfw.schemas.exactness import check_document
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.settings import Settings


def refusals(function: Any, *arguments: Any) -> dict[str, list[str]] | None:
    """Return the errors of a call by path, None when it raised none."""
    try:
        function(*arguments)
    except ValidationError as error:
        return error.errors
    return None


def new_document(fields: Any, doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is stored of a new document with these pure fields."""
    return check_document(fields if isinstance(fields, ObjectField) else ObjectField(fields), doc)


def checked(field: Any, value: Any, mode: Any) -> Any:
    """What an act gets of a value, or the errors."""
    struct = compile_struct({"set": {"x": field}, "get": {}}, Schemas(Settings()))
    details = {"set": {"x": value}, "get": {}}
    return refusals(struct.check, details, mode) or struct.check(details, mode)["set"]["x"]


def link(target: str, *reverses: str, **more: Any) -> dict[str, Any]:
    """Return a relation to a model, with single reverses of these names."""
    return {
        "schemaName": target,
        "type": "single",
        "relatedRelations": {name: {"type": "single"} for name in reverses},
        **more,
    }


def told(call: Any, *arguments: Any) -> str:
    """Return the message of the definition error that a call raises."""
    with pytest.raises(DefinitionError) as caught:
        call(*arguments)
    return caught.value.message

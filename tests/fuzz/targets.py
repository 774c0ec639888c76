"""What is fuzzed: one function a stop of the request, from bytes on; none may raise anything unexpected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from marshmallow import fields as mm

from gatewayfw.acts import Act
from gatewayfw.core import Gateway
from gatewayfw.errors import GatewayError, TooLarge
from gatewayfw.odm.reading.projection import compile_projection
from gatewayfw.schemas.get import SelectStruct
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.web.reader import check_request
from gatewayfw.web.strict_json import parse


def outcome(stop: Callable[..., Any], *arguments: Any) -> str:
    """Return ``ok``, or status and code of the client's error; anything else is raised."""
    try:
        stop(*arguments)
    except GatewayError as error:
        if not 400 <= error.status < 500:
            raise
        return f"{error.status} {error.code}"
    return "ok"


def read(gw: Gateway, data: bytes) -> dict[str, Any]:
    """Read a body as the endpoint does."""
    if len(data) > gw.settings.max_body_bytes:
        raise TooLarge("the request body is too large")
    return check_request(parse(data, gw.settings))


def validated(gw: Gateway, act: Act, data: bytes) -> dict[str, Any]:
    """Read a body, judge its details by the act's validator, and compile every selection in its ``get``.

    The validator is that of the JSON: files come beside it.
    """
    struct = act.struct.without_files if act.struct.files else act.struct
    details = struct.check(read(gw, data)["details"], act.validation_run_type, act.bounds)
    for select, get in selections(act, details["get"]):
        compile_projection(gw.schemas, gw.schemas.get_schema(select.model), get)
    return details


def selections(act: Act, get: Mapping[str, Any]) -> Iterator[tuple[SelectStruct, Any]]:
    """Yield the select structs of an act's ``get``, itself or one level down, with what is sent for each."""
    field: mm.Field[Any] | None = (act.struct.fields or {}).get("get")
    if isinstance(field, SelectStruct):
        yield field, get
    elif isinstance(field, ObjectField):
        for name, inner in (field.fields or {}).items():
            if isinstance(inner, SelectStruct) and name in get:
                yield inner, get[name]

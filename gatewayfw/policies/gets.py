"""Whether a client's ``get`` names what is hidden from its caller. Pure."""

from __future__ import annotations

import marshal
from collections.abc import Mapping
from typing import Any

from gatewayfw import messages
from gatewayfw.errors import Hidden
from gatewayfw.policies.joining import joined
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.get import SelectStruct
from gatewayfw.schemas.relations import Relation

#: How many a role may ask for, and is known to, at most; when there are more, all are forgotten.
KEPT = 256


def refuse_hidden(
    schemas: Schemas, role: str | None, selects: tuple[tuple[str, SelectStruct], ...], details: Mapping[str, Any]
) -> None:
    """Refuse details that select, at any depth, what is hidden from a role.

    ``selects`` are their select structs, by path. A name that some documents show, because they are the caller's own,
    may be asked for.

    Raises:
        Hidden: says which name.
    """
    try:
        # Exact types only, all told apart, order included; version 0 gives equal values equal bytes.
        key = (selects, marshal.dumps(details["get"], 0))
    except ValueError:  # something else
        key = None
    passed = schemas.remembered(_passed, role)
    if key in passed:
        return
    for path, select in selects:
        _walk(schemas, role, select.model, details, path.split("."), path)
    if key is not None and all(path.partition(".")[0] == "get" for path, _ in selects):
        if len(passed) >= KEPT:
            passed.clear()
        passed.add(key)


def _passed(_schemas: Schemas, _role: str | None) -> set[object]:
    """Return what to fill with what was right for a role."""
    return set()


def _walk(schemas: Schemas, role: str | None, model: str, value: Any, names: list[str], path: str) -> None:
    """Judge what stands at ``names`` below a value, also in lists."""
    if isinstance(value, list):
        for one in value:
            _walk(schemas, role, model, one, names, path)
    elif isinstance(value, Mapping) and names:
        _walk(schemas, role, model, value.get(names[0]), names[1:], path)
    elif isinstance(value, Mapping):
        _judge(schemas, role, model, value, path)


def _judge(schemas: Schemas, role: str | None, model: str, get: Mapping[str, Any], path: str) -> None:
    rights, links = joined(schemas, model, role), schemas.links(model)
    hides = {} if rights is None else rights.hides
    for name, value in get.items():
        place = f"{path}.{name}"
        if hides.get(name) == ():
            raise Hidden(messages.HIDDEN.format(path=place))
        if name in links and isinstance(value, Mapping):
            link = links[name]
            _judge(schemas, role, link.schema_name if isinstance(link, Relation) else link.member, value, place)

"""What a `get` may name and a model shows; excluded fields do not exist here."""

from __future__ import annotations

from typing import Any

from gatewayfw.schemas.registry import ModelSchema, Schemas
from gatewayfw.schemas.relations import RelatedRelation, Relation


def links_of(schemas: Schemas, model: ModelSchema) -> dict[str, dict[str, Any]]:
    """Return the relations of a model and the reverse relations on it, by name.

    Each has ``model`` (whose documents are shown), ``type`` (``single`` or ``multiple``),
    ``optional`` (whether a `single` one may be absent), ``fields`` (what the copies show, `_id`
    first), ``limit`` and ``sort`` (``{"field", "order"}`` or null). A relation has ``reverses``, the
    names of the reverse relations it causes on ``model``, and ``frozen``, true, if its copies are frozen. A
    reverse relation has ``of``, the name of the relation of ``model`` that causes it, and ``default``, true,
    if members are listed in it unless the flag says false.
    """
    return {name: _link(schemas, link) for name, link in schemas.links(model.name).items()}


def _link(schemas: Schemas, link: Relation | RelatedRelation) -> dict[str, Any]:
    source = schemas.get_schema(link.schema_name if isinstance(link, Relation) else link.member)
    may_be_absent = link.optional if isinstance(link, Relation) else True
    described: dict[str, Any] = {
        "model": source.name,
        "type": link.type,
        "optional": link.type == "single" and may_be_absent,
        "fields": ["_id", *source.copy_fields(link.excludes)],
        "limit": link.limit,
        "sort": None if link.sort is None else {"field": link.sort.field, "order": link.sort.order},
    }
    if isinstance(link, Relation):
        described["reverses"] = list(link.related_relations)
        return {**described, **({"frozen": True} if link.frozen else {})}
    return {**described, "of": link.relation, **({"default": True} if link.default else {})}

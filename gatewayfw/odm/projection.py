"""What `get` becomes: the paths that are read, and the shape that is shown.

`compile_projection` turns a `get` into flat dotted paths with value 1, the only thing a driver
ever sees of it. `shape` then builds the reply from the allowed names, so that a document can
never show more than was asked for, whatever is stored in it. Both are pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from bson import ObjectId

from gatewayfw.errors import ValidationError
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas, Sort
from gatewayfw.schemas.paths import Collected, below
from gatewayfw.schemas.select import NO_FLAG, NO_LINK_VALUE, NO_OBJECT, UNKNOWN, bounds_problem, is_flag

Link = Relation | RelatedRelation


@dataclass(frozen=True)
class LinkShape:
    """What is shown of one relation or reverse relation: names inside each copy, in order."""

    multiple: bool
    names: tuple[str, ...]
    sort: Sort | None = None


@dataclass(frozen=True)
class Projection:
    """A compiled `get`: the paths to read, and what to show of the result, in order."""

    paths: tuple[str, ...]
    names: tuple[str, ...]
    links: Mapping[str, LinkShape] = field(default_factory=dict)


def links_of(schemas: Schemas, schema: ModelSchema) -> dict[str, Link]:
    """Return the relations of a model, then the reverse relations that appear on it, by name."""
    return {**schema.relations, **schemas.get_related_relations(schema.name)}


def source_of(schemas: Schemas, link: Link) -> ModelSchema:
    """Return the model whose documents a relation or reverse relation copies."""
    return schemas.get_schema(link.schema_name if isinstance(link, Relation) else link.member)


def compile_projection(
    schemas: Schemas, schema: ModelSchema, get: Mapping[str, Any] | None, reveal: tuple[str, ...] = ()
) -> Projection:
    """Compile a `get` for documents of a model.

    None means everything visible. Excluded fields are dropped unless ``reveal`` names them.

    Raises:
        ValidationError: an unknown name, a value other than 1, 0 or an object below a relation,
            an object below what is not embedded, too deep, or too many fields.
    """
    links = links_of(schemas, schema)
    visible = tuple(name for name in schema.pure if name not in schema.options.excludes or name in reveal)
    if get is None:
        get = dict.fromkeys([*visible, *links], 1)
    problem = bounds_problem(get, schemas.settings) if isinstance(get, Mapping) else NO_OBJECT
    if problem:
        raise ValidationError({"get": [problem]})
    errors = Collected()
    names = ["_id"] if _flag(get.get("_id", 1), "get._id", errors) else []
    shapes: dict[str, LinkShape] = {}
    for name, value in get.items():
        path = below("get", name)
        if name == "_id":
            continue
        if name in schema.pure:
            if _flag(value, path, errors) and name in visible:
                names.append(name)
        elif name in links:
            shape_ = _link_shape(schemas, links[name], value, path, errors)
            if shape_ is not None:
                names.append(name)
                shapes[name] = shape_
        else:
            errors.add(path, UNKNOWN)
    if errors.errors:
        raise ValidationError(errors.errors)
    return Projection(_paths(names, shapes), tuple(names), shapes)


def _flag(value: object, path: str, errors: Collected) -> bool:
    if is_flag(value):
        return value == 1
    errors.add(path, NO_FLAG)
    return False


def _link_shape(schemas: Schemas, link: Link, value: object, path: str, errors: Collected) -> LinkShape | None:
    source = source_of(schemas, link)
    copied = source.copy_fields(link.excludes)
    sort = link.sort if isinstance(link, Relation) else None
    if isinstance(value, Mapping):
        names = _copy_names(source, copied, value, path, errors)
    elif is_flag(value):
        if value == 0:
            return None
        names = ("_id", *copied)
    else:
        errors.add(path, NO_LINK_VALUE)
        return None
    return LinkShape(link.type == "multiple", names, sort)


def _copy_names(
    source: ModelSchema, copied: tuple[str, ...], value: Mapping[str, Any], path: str, errors: Collected
) -> tuple[str, ...]:
    """Return the names shown of a copy; naming nothing means its `_id`."""
    named = []
    for name, wanted in value.items():
        inner = below(path, name)
        if name != "_id" and name not in source.pure:
            errors.add(inner, UNKNOWN)
        elif _flag(wanted, inner, errors):
            named.append(name)
    if not named:
        return () if value.get("_id") == 0 else ("_id",)
    return tuple(name for name in named if name == "_id" or name in copied)


def _paths(names: list[str], shapes: Mapping[str, LinkShape]) -> tuple[str, ...]:
    paths: list[str] = []
    for name in names:
        if name not in shapes:
            paths.append(name)
            continue
        inner = dict.fromkeys(("_id", *shapes[name].names))
        if (sort := shapes[name].sort) is not None:
            inner[sort.field] = None
        paths.extend(f"{name}.{one}" for one in inner)
    return tuple(paths)


def shape(projection: Projection, document: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the projection shows of a document; the document is not changed.

    An absent `multiple` relation reads as ``[]``; everything else that is absent is left out.
    """
    result: dict[str, Any] = {}
    for name in projection.names:
        link = projection.links.get(name)
        if link is None:
            if name in document:
                result[name] = document[name]
        elif link.multiple:
            result[name] = [_part(link.names, copy) for copy in in_order(link.sort, copies_in(document.get(name)))]
        elif isinstance(document.get(name), Mapping):
            result[name] = _part(link.names, document[name])
    return result


def _part(names: tuple[str, ...], copy: Mapping[str, Any]) -> dict[str, Any]:
    return {name: copy[name] for name in names if name in copy}


def copies_in(value: object) -> list[dict[str, Any]]:
    """Return the copies embedded in a relation's value, be it absent, one or a list."""
    if isinstance(value, Mapping):
        return [dict(value)]
    return [dict(copy) for copy in value if isinstance(copy, Mapping)] if isinstance(value, list) else []


def in_order(sort: Sort | None, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return documents by a sort's field in MongoDB's order of values; ties keep their order."""
    if sort is None:
        return documents
    return sorted(documents, key=lambda one: order_key(one.get(sort.field)), reverse=sort.direction < 0)


def order_key(value: object) -> tuple[int, Any]:
    """Return a key that orders scalars as MongoDB does: null, numbers, text, ids, booleans, dates.

    Other values, which no sortable kind allows, come last and are not compared as MongoDB would.

    Source: MongoDB manual, "Comparison/Sort Order".
    """
    if value is None:
        return (0, 0)
    if isinstance(value, bool):
        return (4, value)
    if isinstance(value, (int, float)):
        return (1, value)
    if isinstance(value, str):
        return (2, value)
    if isinstance(value, ObjectId):
        return (3, value.binary)
    if isinstance(value, datetime):
        return (5, value.replace(tzinfo=None))
    return (6, str(value))

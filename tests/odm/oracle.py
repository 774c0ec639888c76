"""The judge of all tests: compare every embedded copy and every window with its source.

Everything expected is computed here from whole documents, on purpose without the queries that
the write algorithms and `gatewayfw.odm.upkeep.integrity` use. Only what a frozen copy must say is written
nowhere else: `tests.odm.frozen_copies` remembers it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mongomock
from bson import ObjectId, encode
from pymongo.database import Database

from gatewayfw.odm import Problem
from gatewayfw.odm.copies.rules import HiddenField, copy_of, ids_in
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.jobs.records import COLLECTION as JOBS
from gatewayfw.odm.reading.shapes import copies_in
from gatewayfw.schemas import ModelSchema, RelatedRelation, Relation, Schemas
from gatewayfw.storage import Document, MockStorage, Storage
from gatewayfw.storage.order import order_key

_Collections = Mapping[str, Mapping[Any, Document]]


def copy_to_memory(schemas: Schemas, storage: Storage) -> MockStorage:
    """Return a storage in memory with all documents and jobs: several judges read it sooner than MongoDB."""
    if isinstance(storage, MockStorage):
        return storage
    database: Database[Document] = mongomock.MongoClient().test
    for name in (*schemas.get_schemas(), JOBS):
        if documents := list(storage.find(name, {})):
            database[name].insert_many(documents)
    return MockStorage(database)


def check(schemas: Schemas, storage: Storage) -> list[Problem]:
    """Return every copy, window and `single` reverse that is not right. Reads everything into memory."""
    models = schemas.get_schemas()
    data = {name: {document["_id"]: document for document in storage.find(name, {})} for name in models}
    room = schemas.settings.windows_bytes
    return [problem for schema in models.values() for problem in _model_problems(schemas, schema, data, room)]


def _model_problems(schemas: Schemas, schema: ModelSchema, data: _Collections, room: int) -> Iterator[Problem]:
    reverses = schemas.get_related_relations(schema.name).values()
    share = room // max(1, sum(reverse.type == "multiple" for reverse in reverses))
    for id_, document in data[schema.name].items():
        for relation in schema.relations.values():
            yield from _relation_problems(schemas, relation, document, data)
        for reverse in reverses:
            fields = schemas.get_schema(reverse.member).copy_fields(reverse.excludes)
            expected: object
            if reverse.type == "multiple":
                expected = _window(reverse, fields, id_, data)
                found: object = document.get(reverse.name, [])
            else:
                found = document.get(reverse.name)
                expected = found and _holder_copy(reverse, fields, id_, found, data)
            if found != expected and not (
                reverse.type == "multiple" and _is_filled_prefix(found, expected, document, reverse, share)
            ):
                yield Problem(schema.name, id_, reverse.name, "differs from its members")


def _is_filled_prefix(
    found: object, expected: Sequence[Document], document: Document, reverse: RelatedRelation, share: int
) -> bool:
    """Return whether a document says that a window is cut, and it is as long as it may be.

    Its share is what the setting gives to all windows of a document, divided evenly among them, or
    less where the document had less room.
    """
    noted = document.get(HIDDEN, {}).get("cut", {}).get(reverse.name)
    if not isinstance(noted, int) or not 0 <= noted <= share or not isinstance(found, list):
        return False
    with_one_more = expected[: len(found) + 1]
    is_prefix = len(with_one_more) > len(found) and found == with_one_more[:-1]
    return is_prefix and len(encode({"": with_one_more})) - len(encode({"": None})) > noted


def _relation_problems(
    schemas: Schemas, relation: Relation, document: Document, data: _Collections
) -> Iterator[Problem]:
    fields = schemas.get_schema(relation.schema_name).copy_fields(relation.excludes)
    value = document.get(relation.name)
    versions = HiddenField(document).document().get("at", {}).get(relation.name, {})
    ids = ids_in(value)
    if len(set(ids)) < len(ids):
        yield Problem(relation.model, document["_id"], relation.name, "embeds a document twice")
    if not relation.optional and not ids:
        yield Problem(relation.model, document["_id"], relation.name, "is required")
    if value == []:
        yield Problem(relation.model, document["_id"], relation.name, "is empty")
    if relation.limit is not None and len(ids) > relation.limit:
        yield Problem(relation.model, document["_id"], relation.name, "is over its limit")
    for copy in copies_in(value):
        path = f"{relation.name}.{copy.get('_id')}"
        source = data[relation.schema_name].get(copy.get("_id"))
        if relation.frozen:
            if not {"_id", *fields}.issuperset(copy):
                yield Problem(relation.model, document["_id"], path, "has fields that no copy may have")
        elif source is None:
            yield Problem(relation.model, document["_id"], path, "its source does not exist")
        elif copy != copy_of(source, fields):
            yield Problem(relation.model, document["_id"], path, "differs from its source")
        elif versions.get(str(copy["_id"]), 0) > source.get(HIDDEN, {}).get("v", 0):
            yield Problem(relation.model, document["_id"], path, "is newer than its source")


def _window(reverse: RelatedRelation, fields: tuple[str, ...], target: object, data: _Collections) -> list[Document]:
    """Return the exact top of the members, by the sort and then by ``_id`` ascending."""
    members = [one for one in data[reverse.member].values() if _is_member(reverse, one, target)]
    assert reverse.sort is not None
    members.sort(key=lambda one: order_key(one["_id"]))
    by = reverse.sort
    members.sort(key=lambda one: order_key(one.get(by.field)), reverse=by.direction < 0)
    return [copy_of(member, fields) for member in members[: reverse.limit]]


def _is_member(reverse: RelatedRelation, document: Document, target: object) -> bool:
    if not isinstance(target, ObjectId) or target not in ids_in(document.get(reverse.relation)):
        return False
    return not HiddenField(document).is_out(reverse, target)


def _holder_copy(
    reverse: RelatedRelation, fields: tuple[str, ...], target: object, found: Mapping[str, Any], data: _Collections
) -> Document | None:
    """Return what a `single` reverse must hold: the copy of a member that still embeds the target."""
    member = data[reverse.member].get(found.get("_id"))
    if member is None or target not in ids_in(member.get(reverse.relation)):
        return None
    return copy_of(member, fields)

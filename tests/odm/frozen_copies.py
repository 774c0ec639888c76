"""What frozen copies must say: what their sources were when they were related.

No document says that afterwards, so whoever plays operations notes it: exactly where one operation follows the
other (`Exact`), or from the replies of operations at the same time (`Acknowledged`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gatewayfw.odm.copies.rules import copy_of
from gatewayfw.odm.reading.shapes import copies_in
from gatewayfw.schemas import ModelSchema, Relation, Schemas
from gatewayfw.storage import Document, Storage


def frozen_in(schema: ModelSchema) -> list[Relation]:
    return [relation for relation in schema.relations.values() if relation.frozen]


def _stored(schemas: Schemas, storage: Storage) -> Iterator[tuple[Relation, Any, dict[Any, Document]]]:
    """Yield each frozen relation of each document: the relation, the document's `_id`, its copies by `_id`."""
    for schema in schemas.get_schemas().values():
        relations = frozen_in(schema)
        for document in storage.find(schema.name, {}) if relations else ():
            for relation in relations:
                copies = {copy["_id"]: copy for copy in copies_in(document.get(relation.name))}
                yield relation, document["_id"], copies


class Exact:
    """Knows each frozen copy, if it is told of each operation right after it, and no other is played."""

    def __init__(self, schemas: Schemas, storage: Storage) -> None:
        self._schemas, self._storage = schemas, storage
        self._copies: dict[tuple[str, str, Any], dict[Any, Document]] = {}

    def related(self, schema: ModelSchema, holder: Any, relations: Mapping[str, Any], replace: bool) -> None:
        """Note what relation input has made of a document's frozen copies."""
        for relation in frozen_in(schema):
            if relation.name in relations:
                ids = relations[relation.name]["_ids"]
                before = self._copies.get((schema.name, relation.name, holder), {})
                named = {
                    id_: before[id_] if replace and id_ in before else self._copy(relation, id_)
                    for id_ in (ids if isinstance(ids, list) else [ids])
                }
                self._copies[schema.name, relation.name, holder] = named if replace else {**before, **named}

    def _copy(self, relation: Relation, id_: Any) -> Document:
        fields = self._schemas.get_schema(relation.schema_name).copy_fields(relation.excludes)
        return copy_of(next(self._storage.find(relation.schema_name, {"_id": id_})), fields)

    def problems(self) -> list[str]:
        """Return the frozen copies that are not as noted; forget those that are not stored any more."""
        found, left = [], {}
        for relation, holder, copies in _stored(self._schemas, self._storage):
            key = (relation.model, relation.name, holder)
            noted = self._copies.get(key, {})
            found += [f"{key}: {copy}, not {noted.get(id_)}" for id_, copy in copies.items() if copy != noted.get(id_)]
            left[key] = {id_: noted[id_] for id_ in copies if id_ in noted}
        self._copies = left
        return found


class Acknowledged:
    """Knows what frozen copies and sources were in some reply; replies may come in any order."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas
        self._replies: dict[tuple[str, Any], list[Document]] = {}

    def note(self, model: str, document: Document) -> None:
        """Note the whole document of a reply, of its insert or a change of it."""
        self._replies.setdefault((model, document["_id"]), []).append(document)

    def problems(self, storage: Storage) -> list[str]:
        """Return the frozen copies that no reply had, or that are nothing their source was in any reply."""
        found = []
        for relation, holder, copies in _stored(self._schemas, storage):
            where = f"{relation.model} {holder} {relation.name}"
            replies = self._replies.get((relation.model, holder), ())
            told = [copy for reply in replies for copy in copies_in(reply.get(relation.name))]
            fields = self._schemas.get_schema(relation.schema_name).copy_fields(relation.excludes)
            for id_, copy in copies.items():
                if copy not in told:
                    found.append(f"{where}: no reply had {copy}")
                if copy not in [copy_of(one, fields) for one in self._replies.get((relation.schema_name, id_), ())]:
                    found.append(f"{where}: its source never was {copy}")
        return found

"""Documents and relations as a caller gives them, parsed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bson import ObjectId

from gatewayfw import messages
from gatewayfw.errors import TooLarge, ValidationError
from gatewayfw.odm.hidden import HIDDEN, clock
from gatewayfw.odm.sizes.own_fields import Allowance
from gatewayfw.schemas import ModelSchema, Relation
from gatewayfw.schemas.exactness import check_document
from gatewayfw.schemas.values import id_of

#: Makes the ``_id`` of a document whose caller gives none.
new_id = ObjectId


@dataclass(frozen=True)
class RelationInput:
    """Relation input: the ids of one relation, and the given reverse flags."""

    relation: Relation
    ids: tuple[ObjectId, ...]
    flags: Mapping[str, bool] = field(default_factory=dict)


def parse_inputs(schema: ModelSchema, given: Mapping[str, Any] | None) -> dict[str, RelationInput]:
    """Parse relation input, ``{name: {"_ids": ..., "relatedRelations": ...}}``.

    ``relatedRelations`` is ``{reverse: bool}``.

    ``_ids`` is an id (or a list of one) for `single`, a list of distinct ids for `multiple`.
    Source: specification 7.

    Raises:
        ValidationError: an unknown relation, key or reverse, or a value of another shape.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ValidationError({"relations": [messages.NO_RELATIONS]})
    errors: dict[str, list[str]] = {}
    inputs = {}
    for name, value in given.items():
        path = f"relations.{name}"
        if name not in schema.relations:
            errors[path] = [messages.UNKNOWN]
        elif not isinstance(value, Mapping) or "_ids" not in value:
            errors[path] = [messages.NO_IDS]
        else:
            unknown = [key for key in value if key not in ("_ids", "relatedRelations")]
            errors.update({f"{path}.{key}": [messages.UNKNOWN] for key in unknown})
            relation = schema.relations[name]
            ids = _parse_ids(relation, value["_ids"], f"{path}._ids", errors)
            flags = _parse_flags(relation, value.get("relatedRelations", {}), f"{path}.relatedRelations", errors)
            inputs[name] = RelationInput(relation, ids, flags)
    if errors:
        raise ValidationError(errors)
    return inputs


def parse_new_inputs(
    schema: ModelSchema, given: Sequence[Mapping[str, Any] | None], count: int, most: int
) -> list[dict[str, RelationInput]]:
    """Parse the relation input of ``count`` new documents.

    There is one input for each document, or one that all of them share.

    Raises:
        ValidationError: as from `parse_inputs`, or a required relation is missing or has no ids.
        TooLarge: they have more than ``most`` ids together; the rest is not read.
    """
    shared = count if len(given) == 1 else 1
    parsed, copies = [], 0
    for one in given:
        inputs = parse_inputs(schema, one)
        _check_required(schema, inputs)
        copies += shared * sum(len(one.ids) for one in inputs.values())
        if copies > most:
            raise TooLarge(messages.TOO_MANY_COPIES.format(model=schema.name, max=most))
        parsed.append(inputs)
    return parsed * shared


def sources_in(inputs: Mapping[str, RelationInput]) -> list[tuple[str, object]]:
    """Return the documents that relation input names, as (model, `_id`)."""
    return [(one.relation.schema_name, id_) for one in inputs.values() for id_ in one.ids]


def _parse_ids(relation: Relation, value: object, path: str, errors: dict[str, list[str]]) -> tuple[ObjectId, ...]:
    given = list(value) if isinstance(value, (list, tuple)) else [value] if relation.type == "single" else None
    if given is None:
        errors[path] = [messages.NO_LIST_OF_IDS]
        return ()
    ids = [id_of(one) for one in given]
    if relation.type == "single" and len(ids) != 1:
        errors[path] = [messages.NO_SINGLE_ID]
    elif None in ids:
        errors[path] = [messages.NO_ID]
    elif len(set(ids)) < len(ids):
        errors[path] = [messages.REPEATED_ID]
    elif relation.limit is not None and len(ids) > relation.limit:
        errors[path] = [messages.TOO_MANY_IDS.format(max=relation.limit)]
    return tuple(id_ for id_ in ids if id_ is not None)


def _parse_flags(relation: Relation, value: object, path: str, errors: dict[str, list[str]]) -> dict[str, bool]:
    if not isinstance(value, Mapping):
        errors[path] = [messages.NO_RELATIONS]
        return {}
    for name, flag in value.items():
        if name not in relation.related_relations:
            errors[f"{path}.{name}"] = [messages.UNKNOWN]
        elif not isinstance(flag, bool):
            errors[f"{path}.{name}"] = [messages.NO_BOOLEAN]
    return dict(value)


def _check_required(schema: ModelSchema, inputs: Mapping[str, RelationInput]) -> None:
    missing = [
        name
        for name, relation in schema.relations.items()
        if not relation.optional and not (name in inputs and inputs[name].ids)
    ]
    if missing:
        raise ValidationError({f"relations.{name}": [messages.REQUIRED] for name in missing})


@dataclass(frozen=True)
class NewDocument:
    """A document to insert: pure fields with `_id`, version, relations."""

    fields: Mapping[str, Any]
    version: int
    inputs: Mapping[str, RelationInput]

    def proof(self) -> dict[str, Any]:
        """Return a filter that finds it only if this operation inserted it."""
        mine = {f"{HIDDEN}.v": self.version} if self.version else {}
        return {"_id": self.fields["_id"], **mine}


def parse_document(
    schema: ModelSchema, doc: object, inputs: Mapping[str, RelationInput], allowance: Allowance | None, where: str
) -> NewDocument:
    """Check a new document and give it its `_id`.

    Raises:
        ValidationError: the document does not fit the model; paths begin with ``where``.
        TooLarge: its pure fields are larger than allowed.
    """
    if not isinstance(doc, Mapping):
        raise ValidationError({where: [messages.NO_DOCUMENT]})
    own = id_of(doc["_id"]) if "_id" in doc else new_id()
    if own is None:
        raise ValidationError({f"{where}._id": [messages.NO_ID]})
    pure = {name: value for name, value in doc.items() if name != "_id"}
    try:
        fields = check_document(schema.document, pure)
    except ValidationError as error:
        raise ValidationError({_below(where, path): texts for path, texts in error.errors.items()}) from None
    if allowance is not None:
        allowance.check_new(fields, where)
    # The caller's own _id may have belonged to a deleted document, whose late copies are older than this version.
    version = clock() if "_id" in doc else 0
    return NewDocument({"_id": own, **fields}, version, inputs)


def _below(where: str, path: str) -> str:
    """Return an error's path in one of several documents."""
    return where + path[len("doc") :] if path == "doc" or path.startswith("doc.") else f"{where}.{path}"

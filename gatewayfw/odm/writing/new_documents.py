"""Check documents to insert, and give them their `_id` and version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bson import ObjectId

from gatewayfw.errors import ValidationError
from gatewayfw.odm.copies.rules import clock
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.sizes.own_fields import Allowance
from gatewayfw.odm.writing.relation_input import RelationInput, object_id
from gatewayfw.schemas import ModelSchema
from gatewayfw.schemas.exactness import check_document
from gatewayfw.schemas.messages import NO_ID


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
        raise ValidationError({where: ["Expected an object."]})
    own = object_id(doc["_id"]) if "_id" in doc else ObjectId()
    if own is None:
        raise ValidationError({f"{where}._id": [NO_ID]})
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

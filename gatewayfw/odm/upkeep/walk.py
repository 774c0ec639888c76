"""Walk through all documents in batches, from where an earlier run has ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bson import json_util

from gatewayfw.errors import UsageError
from gatewayfw.odm.ids import START
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.storage import Document, Storage

_JSON = json_util.JSONOptions(json_mode=json_util.JSONMode.CANONICAL, tz_aware=False)


@dataclass(frozen=True)
class Place:
    """How far a run has come, as plain JSON: ``Place(**stored)`` goes on from there.

    Attributes:
        model: the current model.
        last: the ``_id`` of its last finished document, as MongoDB's extended JSON; ValueError if it is not.
        done: finished documents of all models.
        total: documents of all models when the run began, for a progress bar.
    """

    model: str
    last: str
    done: int
    total: int

    def __post_init__(self) -> None:
        numbers = type(self.done) is int and type(self.total) is int
        if not (numbers and isinstance(self.model, str) and isinstance(self.last, str)):
            raise ValueError("a place has a model, its last _id, and two numbers of documents")
        self.last_id()

    def last_id(self) -> object:
        """Return ``last`` as an ``_id``; ValueError if it is not extended JSON."""
        try:
            return json_util.loads(self.last, json_options=_JSON)
        except Exception as error:  # bson raises TypeError, KeyError and its own errors
            raise ValueError("last is not an _id in extended JSON") from error


#: Gives a model's documents after an ``_id``, in batches.
Batches = Callable[[ModelSchema, object], Iterator[Sequence[Document]]]


def walk(
    schemas: Schemas, storage: Storage, batches: Batches, model: str | None, after: Place | None, *, counted: bool
) -> Iterator[tuple[ModelSchema, Sequence[Document], Place | None]]:
    """Yield each batch of the documents of one model, or all, with the place reached.

    At the end of each model comes an empty batch without a place. ``counted`` says that `Place.total` is wanted.

    Raises:
        NotFound: ``model`` or ``after`` names an unknown model.
        UsageError: inside a transaction, or ``after`` is in another model; at the first step, as all.
    """
    if storage.in_transaction():
        raise UsageError("odm.integrity: not inside a transaction")
    models = list(schemas.get_schemas().values()) if model is None else [schemas.get_schema(model)]
    done, last = (0, START) if after is None else (after.done, after.last_id())
    total = sum(storage.count(schema.name, {}) for schema in models) if counted else 0
    if after is not None:
        first = schemas.get_schema(after.model)
        if first not in models:
            raise UsageError(f"odm.integrity: the place is in model {after.model!r}")
        models = models[models.index(first) :]
    for schema in models:
        for batch in batches(schema, last):
            done += len(batch)
            reached = json_util.dumps(batch[-1]["_id"], json_options=_JSON)
            yield schema, batch, Place(schema.name, reached, done, total)
        yield schema, (), None
        last = START

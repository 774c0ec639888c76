"""Find documents that do not fit their models, and note when this was last done.

A document fits if its ``_id`` is an ObjectId, each pure field has a value that the field would store
(`gatewayfw.schemas.forms`), each relation and window is one copy or a list of them as declared, and what is required is
there. Names that the model does not declare are not judged, nor are the fields of copies: `check` compares these with
their sources.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, final

from bson import Binary, ObjectId
from marshmallow import missing

from gatewayfw.odm.notes import read_notes, write_notes
from gatewayfw.odm.upkeep.inspection import Place
from gatewayfw.schemas import ModelSchema, RelatedRelation, Schemas
from gatewayfw.schemas.forms import StoredForm, form_of
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.models import Link
from gatewayfw.storage import Document, Storage
from gatewayfw.storage.order import type_name

#: The ``_id`` of the notes about misfits.
_ID = "misfits"
#: What is told of a value that should be there, and behind the type of one that has only the right type.
MISSING, NOT_ALLOWED = "missing", " (not allowed)"
#: How many ids a group names.
_NAMED = 3


@dataclass(frozen=True)
class Misfits:
    """The documents of a model in which one thing is stored in place of another.

    Attributes:
        path: where: the name of a field, ``address.street``; ``tags.[]`` for the elements of a list, ``marks.*`` for
            the values of a map.
        stored: the name of the type that is stored there, as for ``$type``; ``missing`` where something required is
            not there. `` (not allowed)`` stands behind the right type of a value that the field refuses. Of binary data
            the subtype is told, too: 3 are UUIDs of older drivers.
        count: how many documents.
        ids: the first three of them.
    """

    model: str
    path: str
    stored: str
    count: int
    ids: tuple[object, ...]


FitProgress = Callable[[Place, Sequence[Misfits]], None]


@final
class Fitting:
    """Judges documents of one model."""

    def __init__(self, schemas: Schemas, schema: ModelSchema) -> None:
        self._form = form_of(schema.document)
        self._links = tuple(schemas.links(schema.name).values())
        self.paths = [*schema.pure, *(link.name for link in self._links)]

    def misfits(self, document: Document) -> set[tuple[str, str]]:
        """Return path and stored type of all that does not fit in a document."""
        found = {(path, _told(value, form)) for path, value, form in self._form.misfits(document, "")}
        for link in self._links:
            found.update(_misfits_of(link, document.get(link.name, missing)))
        if not isinstance(document["_id"], ObjectId):
            found.add(("_id", _typed(document["_id"])))
        return found


@final
class Groups:
    """The misfits of one model, in groups; their number is bounded by the model."""

    def __init__(self, model: str, known: Iterable[Misfits] = ()) -> None:
        self._model = model
        self._found = {(one.path, one.stored): (one.count, one.ids) for one in known if one.model == model}

    def add(self, id_: object, misfits: Iterable[tuple[str, str]]) -> None:
        """Add a document to the group of each of its misfits."""
        for key in misfits:
            count, ids = self._found.get(key, (0, ()))
            self._found[key] = count + 1, ids if len(ids) == _NAMED else (*ids, id_)

    def all(self) -> list[Misfits]:
        """Return all groups, by their paths."""
        return [Misfits(self._model, *key, *self._found[key]) for key in sorted(self._found)]


def _misfits_of(link: Link, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the path of each misfit in a relation or window, and what is stored there."""
    is_required = not (isinstance(link, RelatedRelation) or link.optional)
    if value is missing or (value == [] and link.type == "multiple"):
        if is_required:
            yield link.name, MISSING
    elif link.type == "single":
        yield from _misfits_of_copy(link.name, value)
    elif isinstance(value, list):
        for copy in value:
            yield from _misfits_of_copy(f"{link.name}.[]", copy)
    else:
        yield link.name, _typed(value)


def _misfits_of_copy(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield path, _typed(value)
    elif not isinstance(value.get("_id"), ObjectId):
        yield f"{path}._id", _typed(value.get("_id", missing))


def _told(value: Any, form: StoredForm) -> str:
    return _typed(value) + (NOT_ALLOWED if form.has_type(value) else "")


def _typed(value: Any) -> str:
    """Return the name of a value's type, with the subtype of binary data."""
    if value is missing:
        return MISSING
    subtype = f" (subtype {value.subtype})" if isinstance(value, Binary) and value.subtype else ""
    return f"{type_name(value) or type(value).__name__}{subtype}"


# -- the note


@dataclass(frozen=True)
class FitNote:
    """When a model's documents were last judged, in UTC, and the misfits found."""

    at: datetime
    misfits: int


#: The parts of a stored note and their types.
_PARTS: Mapping[str, type] = {"at": datetime, "misfits": int, "form": str}


def read_fit_notes(schemas: Schemas, storage: Storage) -> Mapping[str, FitNote]:
    """Return the notes by model; a model that was changed since then has none."""
    known, models = read_notes(storage, _ID, "models"), schemas.get_schemas()
    return {
        name: FitNote(note["at"], note["misfits"])
        for name, note in known.items()
        if name in models and _is_note(note) and note["form"] == _hash(schemas, models[name])
    }


def write_fit_note(schemas: Schemas, storage: Storage, schema: ModelSchema, groups: Iterable[Misfits]) -> None:
    """Note that a model's documents were judged now."""
    count, now = sum(one.count for one in groups), datetime.now(UTC).replace(tzinfo=None)
    note = {"at": now, "misfits": count, "form": _hash(schemas, schema)}
    write_notes(storage, _ID, "models", {schema.name: note})


def _hash(schemas: Schemas, schema: ModelSchema) -> str:
    """Return a text that tells the form of a model's documents from another one."""
    form = [
        {name: describe(field) for name, field in schema.pure.items()},
        [(link.name, link.type, getattr(link, "optional", True)) for link in schemas.links(schema.name).values()],
    ]
    return sha256(json.dumps(form, sort_keys=True, default=str).encode()).hexdigest()[:32]


def _is_note(note: object) -> bool:
    return isinstance(note, dict) and all(isinstance(note.get(name), kind) for name, kind in _PARTS.items())

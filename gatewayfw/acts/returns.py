"""The declared result of an act, for clients; results are not checked.

``returns=`` of an act is one of:

- ``"one"``, ``"optional"`` or ``"many"``: a document in the shape of ``get``; a document or null; a list of documents;
- a value kind, for a result that ``get`` does not shape, such as ``boolean()``;
- a mapping of names to these. A name that is also in ``get`` is in the result only if it was asked for. A word stands
  for documents in the shape of that part of ``get``, or of the whole ``get`` if it selects from a model:
  ``{"token": string(), "user": "one"}``, ``{"rows": "many", "total": integer()}``.

If left out, it is ``"one"`` where ``get`` selects from a model, else unknown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from marshmallow.fields import Field

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.fields import as_field
from gatewayfw.schemas.get import SelectStruct
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.structs import has_files

Word = Literal["one", "optional", "many"]


@dataclass(frozen=True)
class Selected:
    """Documents in the shape that a ``get`` asks for."""

    word: Word
    #: The part of ``get`` that selects them, and its place: empty for the whole ``get``, else one name.
    select: SelectStruct
    path: tuple[str, ...] = ()


#: The declared result: documents, a value, an object of both, or unknown.
Returns = Selected | Field[Any] | Mapping[str, "Selected | Field[Any]"] | None


def parse_returns(given: Any, get: Field[Any] | None) -> Returns:
    """Return the parsed ``returns=`` of an act with this ``get``.

    Raises:
        DefinitionError: it has none of the forms, or is a word although ``get`` selects nothing.
    """
    if given is None:
        return Selected("one", get) if isinstance(get, SelectStruct) else None
    if not isinstance(given, Mapping):
        return _part(given, get, (), "returns")
    parts: Mapping[str, Field[Any]] = (get.fields or {}) if isinstance(get, ObjectField) else {}
    found: dict[str, Selected | Field[Any]] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise DefinitionError(f"returns: the name {name!r} is not a string")
        part, path = (get, ()) if isinstance(get, SelectStruct) else (parts.get(name), (name,))
        found[name] = _part(value, part, path, f"returns, {name!r}")
    return found


def _part(given: Any, get: Field[Any] | None, path: tuple[str, ...], where: str) -> Selected | Field[Any]:
    if not isinstance(given, str):
        field = as_field(given, where)
        if has_files(field):
            raise DefinitionError(f"{where}: a reply holds no files")
        return field
    if given not in get_args(Word):
        raise DefinitionError(f"{where}: expected 'one', 'optional', 'many' or a value kind")
    if not isinstance(get, SelectStruct):
        raise DefinitionError(f"{where}: {given!r} needs a get that selects from a model")
    return Selected(cast(Word, given), get, path)

"""Where an act may have files, and how they get into the details of a request.

The JSON of a request is validated without its files. They arrive in parts named by their paths, such as
``set.avatar``, are judged one by one, and put in then. So a file stands in ``set`` or in an object in it; lists,
mappings and Schemas cannot hold one.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.kinds.file import FileField, Upload
from gatewayfw.schemas.kinds.foreign import walk

_PLACE = "a file must be a field of set, or of an object in it"


def files_in(parts: Mapping[str, mm.Field[Any]], most: int) -> dict[str, FileField]:
    """Return the files of ``set`` and ``get`` by their paths (``set.avatar``).

    Raises:
        DefinitionError: one stands where it cannot, is nullable or has a default, or may have more than ``most``
            bytes.
    """
    found = dict(_walk(parts["set"], "set"))
    for path, field in found.items():
        if field.allow_none or field.load_default is not missing:
            raise DefinitionError(f"{path}: a file may be optional, but not nullable or defaulted")
        if field.most > most:
            raise DefinitionError(f"{path}: the most of a file is above the setting 'max_upload_bytes' ({most})")
    if has_files(parts["get"]):
        raise DefinitionError(f"get: {_PLACE}")
    return found


def has_files(field: mm.Field[Any]) -> bool:
    """Tell whether a field is a file or has one inside."""
    return any(isinstance(inner, FileField) for _, inner in walk(field))


def without_files(field: mm.Field[Any]) -> mm.Field[Any]:
    """Return a copy of an object without the files in it; any other field as it is."""
    if not isinstance(field, ObjectField) or field.fields is None or not has_files(field):
        return field
    kept = {name: without_files(inner) for name, inner in field.fields.items() if not isinstance(inner, FileField)}
    changed = copy.copy(field)
    changed.fields = MappingProxyType(kept)
    return changed


def expected_files(files: Mapping[str, FileField], details: Mapping[str, Any]) -> dict[str, FileField]:
    """Return the files that a request may have: those of objects that its JSON has."""
    return {path: field for path, field in files.items() if _has_place(path, details)}


def put_files(details: Mapping[str, Any], uploads: Mapping[str, Upload]) -> dict[str, Any]:
    """Return details with uploads at their paths; the given objects stay unchanged."""
    changed = dict(details)
    for path, upload in uploads.items():
        *above, name = path.split(".")
        place = changed
        for key in above:
            place[key] = place = dict(place[key])
        place[name] = upload
    return changed


def _walk(field: mm.Field[Any], path: str) -> Iterator[tuple[str, FileField]]:
    if isinstance(field, FileField):
        yield path, field
    elif isinstance(field, ObjectField):
        for name, inner in (field.fields or {}).items():
            if has_files(inner) and "." in name:
                raise DefinitionError(f"{path}: the name of a file, or of an object with one, cannot contain a dot")
            yield from _walk(inner, f"{path}.{name}")
    elif has_files(field):
        raise DefinitionError(f"{path}: {_PLACE}")


def _has_place(path: str, details: Mapping[str, Any]) -> bool:
    place: Any = details
    for key in path.split(".")[:-1]:
        place = place.get(key) if isinstance(place, Mapping) else None
    return isinstance(place, Mapping)

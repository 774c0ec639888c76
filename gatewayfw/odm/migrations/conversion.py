"""What misfits become without loss: the table of ``convert``. Pure.

Nothing is rounded, and nothing is guessed: a value that does not convert stays as it is.
"""

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from bson import Binary, Decimal128
from bson.binary import OLD_UUID_SUBTYPE, UuidRepresentation
from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.forms import StoredForm
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.checks import load_part
from gatewayfw.schemas.values import id_of, moment_of

#: The orders of bytes in UUIDs of subtype 3, which do not say it themselves.
UUIDS: Mapping[str, int] = {
    "java_legacy": UuidRepresentation.JAVA_LEGACY,
    "csharp_legacy": UuidRepresentation.CSHARP_LEGACY,
    "python_legacy": UuidRepresentation.PYTHON_LEGACY,
}
#: Stands for a value that does not convert.
UNCHANGED: Any = object()
#: A number as JSON writes it; one with a leading zero may be a code.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,39})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,3})?")
#: More than the milliseconds that are stored.
_FINER = re.compile(r"\.\d{3}\d*[1-9]")
#: The highest number up to which floats are exact.
_EXACT = 2**53


def convert(form: StoredForm, value: Any, uuid: str | None = None) -> Any:
    """Return a misfit in the form of its field; `UNCHANGED` if it has no such form.

    Parts of objects, lists and maps are converted, too.
    """
    if form.fits(value):
        return value
    changed = _convert_parts(form, value, uuid)
    if changed is UNCHANGED:
        row = _ROWS.get(getattr(as_kind(form.field), "kind", ""))
        changed = None if row is None else row(form.field, value, uuid)
        changed = UNCHANGED if changed is None else changed
    return changed if changed is not UNCHANGED and form.fits(changed) else UNCHANGED


def _convert_parts(form: StoredForm, value: Any, uuid: str | None) -> Any:
    each = form.each
    if each is not None and isinstance(value, list):
        items = [convert(each, item, uuid) for item in value]
        return UNCHANGED if any(item is UNCHANGED for item in items) else items
    if isinstance(value, dict) and (each is not None or form.parts):
        forms = form.parts if each is None else dict.fromkeys(value, each)
        named = {name: convert(forms[name], value[name], uuid) for name in forms if name in value}
        return UNCHANGED if any(item is UNCHANGED for item in named.values()) else {**value, **named}
    return UNCHANGED


def _number_in(value: Any) -> Decimal | None:
    """Return the exact number that a text or a number is; None for anything else."""
    if isinstance(value, str):
        return Decimal(value) if _NUMBER.fullmatch(value) else None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(int(value))
    if isinstance(value, float):
        number = Decimal(repr(value))
    elif isinstance(value, Decimal128):
        number = value.to_decimal()
    else:
        return None
    return number if number.is_finite() else None


def _integer(_: mm.Field[Any], value: Any, _uuid: str | None) -> Any:
    number = _number_in(value)
    if number is None or number.adjusted() > 19 or number != number.to_integral_value():
        return None
    return None if isinstance(value, float) and abs(value) > _EXACT else int(number)


def _float(_: mm.Field[Any], value: Any, _uuid: str | None) -> Any:
    number = _number_in(value)
    if number is None or number.adjusted() > 19:
        return None
    if number == number.to_integral_value():
        return int(number)
    return float(number) if Decimal(repr(float(number))) == number else None


def _decimal(field: mm.Field[Any], value: Any, _uuid: str | None) -> Any:
    number = _number_in(value)
    return None if number is None else _load(field, format(number, "f"))


def _date(_: mm.Field[Any], value: Any, _uuid: str | None) -> Any:
    return moment_of(value) if isinstance(value, str) and not _FINER.search(value) else None


def _object_id(_: mm.Field[Any], value: Any, _uuid: str | None) -> Any:
    return id_of(value)


def _uuid(field: mm.Field[Any], value: Any, uuid: str | None) -> Any:
    if isinstance(value, Binary) and value.subtype == OLD_UUID_SUBTYPE and len(value) == 16:
        return None if uuid is None else Binary.from_uuid(value.as_uuid(UUIDS[uuid]))
    return _load(field, value) if isinstance(value, str) else None


def _load(field: mm.Field[Any], value: Any) -> Any:
    kind = as_kind(field)
    try:
        return kind.storer()(load_part(kind, value))
    except (ValidationError, Refused):
        return None


#: What converts to each kind: numbers, dates and ids in text, whole floats, UUIDs of subtype 3. None for what does not.
_ROWS: Mapping[str, Callable[[mm.Field[Any], Any, str | None], Any]] = {
    "integer": _integer,
    "number": _float,
    "decimal": _decimal,
    "date": _date,
    "object_id": _object_id,
    "uuid": _uuid,
}

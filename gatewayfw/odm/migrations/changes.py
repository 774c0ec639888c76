"""Pure functions that decide what a migration makes of one stored document."""

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

import marshmallow
from bson import Binary, Decimal128
from bson.binary import OLD_UUID_SUBTYPE, UuidRepresentation
from marshmallow import fields as mm

from gatewayfw.context_variables import Free, calling
from gatewayfw.errors import UsageError, ValidationError
from gatewayfw.odm.copies.rules import HiddenField, merged
from gatewayfw.odm.hidden import HIDDEN
from gatewayfw.odm.migrations.declaration import Migration
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.forms import StoredForm, form_of
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.checks import load_part
from gatewayfw.schemas.relations import check_name
from gatewayfw.schemas.values import id_of, loaded_form, moment_of
from gatewayfw.storage.order import type_name
from gatewayfw.storage.terms import Update
from gatewayfw.storage.update_operators import apply_update

#: Why a document is listed and stays as it is.
Reason = str
WRITTEN_SINCE = "was written meanwhile"
STILL_MATCHES = "would still match after the change"


def decide(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Change | Reason | None:
    """Return the change of a document that meets the condition, or why there is none.

    None where nothing is to be changed.

    ``stored`` has the `fields` of the migration.

    Raises:
        UsageError: the migration's function returned something other than a change of the model.
    """
    schema = schemas.get_schema(migration.model)
    update = _DECIDERS[migration.kind](schemas, migration, stored)
    if isinstance(update, str) or update is None:
        return update
    update = {operator: changes for operator, changes in update.items() if changes}
    if migration.kind != "convert" and migration.meets(apply_update({"_id": None, **stored}, update, {})):
        return STILL_MATCHES
    named = frozenset(name for changes in update.values() for name in changes)
    retires = any(name not in schema.pure and name.partition(".")[0] != HIDDEN for name in update.get("$unset", ()))
    return Change({name: dict(changes) for name, changes in update.items()}, named, frozenset(), retires=retires)


def _rename(_: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update | Reason:
    found = {old: new for old, new in migration.names.items() if old in stored}
    both = [(old, new) for old, new in found.items() if new in stored]
    if both and migration.prefer is None:
        return f"has both {both[0][0]} and {both[0][1]}"
    kept = {new for _old, new in both} if migration.prefer == "new" else set()
    moved = {new: stored[old] for old, new in found.items() if new not in kept}
    return {"$set": moved, "$unset": dict.fromkeys(found, "")}


def _copy(_: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update:
    return {"$set": {new: stored[old] for old, new in migration.names.items() if old in stored and new not in stored}}


def _default(_: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update:
    return {"$set": {name: value for name, value in migration.names.items() if name not in stored}}


def _convert(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update | Reason | None:
    """Return what becomes of the fields that do not fit; the reason if nothing can."""
    changed, left = dict[str, Any](), list[str]()
    for name in _misfits(schemas, migration, stored):
        value = convert(schemas.remembered(_form, migration.model, name), stored[name], migration.uuid)
        if value is UNCHANGED:
            left.append(name)
        else:
            changed[name] = value
    if not changed and left:
        return f"{left[0]}: this {type_name(stored[left[0]])} does not convert without loss"
    return {"$set": changed} if changed else None


def is_left(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> bool:
    """Tell whether a document that meets the condition is left to change.

    Only for ``convert`` the condition does not say it all.
    """
    return migration.kind != "convert" or any(True for _ in _misfits(schemas, migration, stored))


def _misfits(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Iterator[str]:
    for name in migration.names:
        if name in stored and not schemas.remembered(_form, migration.model, name).fits(stored[name]):
            yield name


def _form(schemas: Schemas, model: str, name: str) -> StoredForm:
    return form_of(schemas.get_schema(model).pure[name])


def _drop(_: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update:
    return {"$unset": {name: "" for name in migration.names if name in stored}}


def _reform(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update | Reason:
    """Return the update that makes a list of one copy, or one copy of a list of one."""
    ((name, type_),) = migration.names.items()
    value, hidden = stored[name], HiddenField(stored)
    if type_ == "single" and len(value) != 1:
        return f"{name}: holds {len(value)} documents; take out all but one with remove_relation"
    hidden.renote(schemas.get_relations(migration.model)[name])
    return merged({"$set": {name: [value] if type_ == "multiple" else value[0]}}, hidden.changes(hidden.document()))


def _ask(schemas: Schemas, migration: Migration, stored: Mapping[str, Any]) -> Update | Reason:
    """Return what the migration's function says, checked."""
    assert migration.function is not None
    schema = schemas.get_schema(migration.model)
    reverses = schemas.get_related_relations(schema.name)
    shown = {name: value for name, value in stored.items() if name != HIDDEN and name not in reverses}
    try:
        with calling(schemas, Free.MIGRATION):
            told = migration.function(loaded_form(shown))
    except Exception as error:
        error.add_note(f"in the migration {migration.name!r}, for {schema.name} {stored.get('_id')}")
        raise
    if told is None or told == {}:
        return "the function changes nothing"
    place = f"migration {migration.name!r}: the function"
    if not isinstance(told, Mapping) or not told.keys() <= {"$set", "$unset"}:
        raise UsageError(f"{place} must return $set and $unset, or None")
    values, gone = told.get("$set", {}), told.get("$unset", {})
    if wrong := [name for name in values if name not in schema.pure]:
        raise UsageError(f"{place} sets {wrong[0]!r}, which is not a pure field of model {schema.name!r}")
    for name in gone:
        _check_unset(schemas, schema, name, values, place)
    try:
        checked = {name: check_value(schema.pure[name], value, name) for name, value in values.items()}
    except ValidationError as error:
        return "; ".join(f"{path}: {' '.join(texts)}" for path, texts in error.errors.items())
    return {"$set": checked, "$unset": dict.fromkeys(gone, "")}


def _check_unset(schemas: Schemas, schema: ModelSchema, name: Any, values: Mapping[str, Any], place: str) -> None:
    check_name(name, f"{place} unsets")
    if name in values:
        raise UsageError(f"{place} sets and unsets {name!r}")
    if name in schemas.links(schema.name):
        raise UsageError(f"{place} unsets the relation {name!r}")
    if name in schema.pure and schema.pure[name].required:
        raise UsageError(f"{place} unsets {name!r}, which is required")


_DECIDERS: Mapping[str, Callable[[Schemas, Migration, Mapping[str, Any]], Update | Reason | None]] = {
    "rename": _rename,
    "copy": _copy,
    "default": _default,
    "convert": _convert,
    "drop": _drop,
    "relation": _reform,
    "function": _ask,
}


def frozen_copy(migration: Migration, copy: Mapping[str, Any], shown: frozenset[str]) -> dict[str, Any] | Reason:
    """Return a frozen copy without the old names; its values stay as they were.

    ``shown`` has the pure fields that such a copy holds: what is left out of them goes. A copy with both names is not
    changed without `prefer`.
    """
    changed: dict[str, Any] = {}
    for name, value in copy.items():
        if name not in migration.names:
            changed.setdefault(name, value)
            continue
        new = migration.names[name]
        if new not in shown:  # dropped, or left out of copies
            continue
        if new in copy and migration.prefer is None:
            return f"has both {name} and {new}"
        if new not in copy or migration.prefer == "old":
            changed[new] = value
    return changed


# -- ``convert``: nothing is rounded, and nothing is guessed; a value that does not convert stays as it is

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
        return None if uuid is None else Binary.from_uuid(value.as_uuid(getattr(UuidRepresentation, uuid.upper())))
    return _load(field, value) if isinstance(value, str) else None


def _load(field: mm.Field[Any], value: Any) -> Any:
    kind = as_kind(field)
    try:
        return kind.storer()(load_part(kind, value))
    except (marshmallow.ValidationError, ValidationError):
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

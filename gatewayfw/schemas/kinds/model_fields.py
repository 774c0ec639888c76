"""Which of marshmallow's fields documents cannot hold.

A document's field means the same in each form of a value: what a client sends, what Python passes, what a reply shows.
"""

import copy
from collections.abc import Callable, Iterator
from datetime import UTC
from enum import Enum
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, missing
from marshmallow import fields as mm
from marshmallow.exceptions import RegistryError

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds.base import Kind
from gatewayfw.schemas.kinds.checks import first_message, is_scalar
from gatewayfw.schemas.kinds.foreign_values import check_default, is_own, stored_form
from gatewayfw.schemas.values import storable_key

#: The formats of days and times that copies, clients and sorts agree on.
ISO = (None, "iso", "iso8601")

_MOMENTS = (mm.DateTime, mm.Date, mm.Time)
_WITH_PARTS = (mm.List, mm.Tuple, mm.Mapping, mm.Nested)
_NOT_CALLED = "would not be called, as replies show what is stored: change that in the act, hide fields by excludes"
_ONE_NAME = "give it one name, or move the further keys to a Dict beside it"
_COMPUTED = (mm.Function, mm.Method, mm.Constant)


def refuse_unkept(field: mm.Field[Any], where: str) -> None:
    """Refuse a field whose values would change on their way.

    Raises:
        DefinitionError: it says what to use instead.
    """
    try:
        for inner, path in _walk(field, "", set()):
            if problem := _problem(inner) or _problem_of_default(inner, check_default if path else stored_form):
                raise DefinitionError(f"{where}{path}: {problem}")
    except RegistryError as error:
        raise DefinitionError(f"{where}: {error} Import it before the model.") from None


def _walk(field: mm.Field[Any], path: str, known: set[object]) -> Iterator[tuple[mm.Field[Any], str]]:
    """Yield a field and all fields in it; of a Schema that contains itself once."""
    yield field, path
    if isinstance(field, Kind):
        for below, inner in field.parts(path):
            yield from _walk(inner, below, known)
    elif isinstance(field, mm.List):
        yield from _walk(field.inner, f"{path}[]", known)
    elif isinstance(field, mm.Mapping) and field.value_field is not None:
        yield from _walk(field.value_field, f"{path}.*", known)
    elif isinstance(field, mm.Tuple):
        for place, inner in enumerate(field.tuple_fields):
            yield from _walk(inner, f"{path}[{place}]", known)
    elif isinstance(field, mm.Nested) and (key := schema_key(schema := field.schema)) not in known:
        known.add(key)
        for name, inner in schema.fields.items():
            if not inner.dump_only or isinstance(inner, _COMPUTED):  # of others there is nothing to show
                yield from _walk(inner, f"{path}.{name}", known)


def schema_key(schema: Schema) -> object:
    """Return what Schemas share that describe the same objects."""
    return type(schema), frozenset(schema.load_fields)


def _problem(field: mm.Field[Any]) -> str | None:
    if isinstance(field, (mm.Function, mm.Method)):
        return f"{type(field).__name__} stores nothing: compute the value in the act, and declare its kind here"
    if isinstance(field, mm.Constant):
        return "Constant takes any value for its own: use defaulted(kind, value)"
    if field.load_only:
        return "load_only is for requests, not for what is stored"
    if isinstance(field, mm.Pluck):
        return "Pluck stores less than its Schema has: declare the field that it plucks"
    if field.dump_default is not missing:
        return "dump_default would not be shown, as replies show what is stored: use load_default"
    if is_own(field, "_serialize") and (isinstance(field, _WITH_PARTS) or not is_own(field, "_deserialize")):
        return f"its own _serialize {_NOT_CALLED}"
    if isinstance(field, _MOMENTS) and field.format not in ISO and not is_own(field, "_deserialize"):
        return f"the format {field.format!r} is not ISO 8601, in which values are shown: leave it out"
    if isinstance(field, mm.NaiveDateTime) and field.timezone is not UTC:
        return "values are shown in UTC, with Z: write NaiveDateTime(timezone=datetime.UTC), or use DateTime"
    if isinstance(field, mm.AwareDateTime) and field.default_timezone not in (None, UTC):
        return "what has no zone is in UTC, as Python gets it: write AwareDateTime(default_timezone=datetime.UTC)"
    if isinstance(field, mm.Boolean) and not takes_booleans(field):
        return "values are shown as true and false: have True among truthy, and False among falsy"
    if isinstance(field, mm.Mapping) and field.key_field is not None and not isinstance(field.key_field, mm.String):
        return "keys are text in JSON and in documents: use keys=String()"
    if isinstance(field, mm.Mapping) and isinstance(field.key_field, (mm.Email, mm.Url)):
        return "addresses have a dot, and keys of documents have none: use a list of objects, with the address in each"
    if isinstance(field, mm.Enum) and (lost := [one.name for one in field.enum if not comes_back(field, one)]):
        return f"its member {lost[0]} is neither text nor a number in JSON, or is loaded as another one"
    return _problem_of_schema(field) if isinstance(field, mm.Nested) else None


def _problem_of_default(field: mm.Field[Any], check: Callable[[mm.Field[Any], Any], object]) -> str | None:
    default = field.load_default
    default = default() if getattr(default, "func", None) is copy.deepcopy else default
    if isinstance(field, Kind) or default is missing or callable(default):
        return None
    try:
        check(field, default)
    except ValidationError as error:
        return f"load_default: {first_message(error.messages)}"
    return None


def takes_booleans(field: mm.Boolean) -> bool:
    """Tell whether a field takes true and false, not only other words for them."""
    return True in field.truthy and False in field.falsy


def comes_back(field: mm.Enum[Any], member: Enum) -> bool:
    """Tell whether a field loads as a member what it dumps of it, and JSON has that."""
    dumped = field._serialize(member, None, {})
    try:
        return is_scalar(dumped) and field.deserialize(dumped) is member
    except ValidationError:
        return False


def _problem_of_schema(field: mm.Nested) -> str | None:
    schema = field.schema
    if hooks := [*schema._hooks["pre_dump"], *schema._hooks["post_dump"]]:
        return f"its hook {hooks[0][0]} {_NOT_CALLED}"
    is_open = (field.unknown or schema.unknown) == INCLUDE
    sent = {field.data_key or name: field for name, field in schema.load_fields.items()}
    for name, inner in schema.load_fields.items():
        loaded = inner.attribute or name
        if not storable_key(key := name if inner.data_key is None else inner.data_key) or not key:
            return f"{name}: {key!r} is not a key the database can hold: give it another data_key"
        if is_open and loaded not in sent:
            return f"{name}: in a Schema that takes any key, its name in Python, {loaded!r}, may be one: {_ONE_NAME}"
        if "." in loaded:
            return f"{name}: the attribute {loaded!r} is a path: name the field where it is"
        if sent.get(loaded, inner) is not inner:
            return f"{name}: in Python it has the name {loaded!r}, which is another field's in JSON"
    return None

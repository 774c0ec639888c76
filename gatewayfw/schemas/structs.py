"""Structs: validators of ``details``, and the strict checks of documents.

All use one mechanism. Mode ``create`` is marshmallow's load. Mode ``assert`` loads, dumps the
result and compares it with what was sent, so it accepts exactly what ``create`` leaves unchanged.
A value that a quick test recognises as unchanged is not loaded at all.

The JSON of a request is validated without its files. They arrive in parts named by their paths, such as
``set.avatar``, are judged one by one, and put in then. So a file is a field of ``set``; nothing in it can hold one.
Source: specification 13.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal, cast

import marshmallow
from marshmallow import Schema, missing
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, GatewayError, ValidationError
from gatewayfw.schemas.exactness import differences, load_exactly, refusals
from gatewayfw.schemas.fields import as_field, is_kind
from gatewayfw.schemas.get import Bounds, SelectStruct, bounds_problem
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.kinds.file import FileField, Upload
from gatewayfw.schemas.kinds.foreign import SchemaField, change_parts, walk
from gatewayfw.schemas.maxima import put_maxima
from gatewayfw.schemas.paths import Collected, below
from gatewayfw.schemas.registry import Schemas
from gatewayfw.schemas.values import copy_parts

Mode = Literal["assert", "create"]

_PARTS = ("set", "get")
#: The path of an error about ``details`` as a whole.
_WHOLE = "details"


class Struct:
    """A compiled validator of ``details``.

    Attributes:
        fields: the field of ``set`` and of ``get``; None when the validator is a function.
        files: the files of ``set`` by their paths (``set.avatar``).
    """

    files: Mapping[str, FileField] = MappingProxyType({})

    def __init__(self, root: mm.Field[Any], fields: Mapping[str, mm.Field[Any]]) -> None:
        self.fields: Mapping[str, mm.Field[Any]] | None = fields
        self._takes = as_kind(root).quick_test()
        self._load = as_kind(root).loader(fill=True)
        self._root = root
        self._get = fields["get"] if isinstance(fields["get"], SelectStruct) else None

    @cached_property
    def without_files(self) -> Struct:
        """The same struct for the JSON of a request whose files come beside it."""
        parts = {**(self.fields or {})}
        given = copy.copy(cast(ObjectField, parts["set"]))
        kept = {name: inner for name, inner in (given.fields or {}).items() if not isinstance(inner, FileField)}
        given.fields = MappingProxyType(kept)
        parts["set"] = given
        return Struct(as_kind(self._root).with_parts([parts[name] for name, _ in as_kind(self._root).parts()]), parts)

    @property
    def validator(self) -> Any:
        """The validator it was compiled from."""
        return self._root.schema if isinstance(self._root, SchemaField) else self._root

    def is_within(self, bounds: Bounds) -> bool:
        """Tell whether each select struct in ``get`` has the limits of ``bounds``."""
        return all(select.bounds is bounds for path, select in self.selects() if path.partition(".")[0] == "get")

    @cached_property
    def selected(self) -> tuple[tuple[str, SelectStruct], ...]:
        """The same as `selects` gives, to be asked for by each request."""
        return tuple(self.selects())

    def selects(self) -> Iterator[tuple[str, SelectStruct]]:
        """Yield path and select struct for each in ``set`` and ``get``, none in a Schema."""
        found = (place for part, field in (self.fields or {}).items() for place in walk(field, part))
        return ((path.replace("[]", ""), field) for path, field in found if isinstance(field, SelectStruct))

    def check(self, details: Mapping[str, Any], mode: Mode, bounds: Bounds | None = None) -> dict[str, Any]:
        """Return what the act gets: ``details`` as sent or, in ``create``, loaded.

        A ``get`` beyond ``bounds`` is refused before any other error is reported.

        Raises:
            ValidationError: the details are invalid; the error has every refused value by path.
        """
        if self._takes is not None:
            whole = self._load(details) if self._load is not None and mode == "create" else details
            if self._takes(whole):
                if details.get("get") and (self._get is None or self._get.bounds is not bounds):
                    _check_bounds(details, bounds)  # else the test has judged that
                return dict(whole)
        _check_bounds(details, bounds)
        collected = Collected()
        if mode == "assert":
            # What has no quick test may have hooks, and these may change what they get.
            load_exactly(self._root, details, "", collected, fill=False, copies=self._takes is None)
            collected.refuse()
            return dict(details)
        try:
            return dict(self._root.deserialize(details))
        except marshmallow.ValidationError as error:
            collected.add_each(refusals(self._root, error.messages, "", details))
        raise collected.refusal()


class FunctionStruct(Struct):
    """A validator that is a function ``(details) -> details or None``.

    None means that ``details`` stay as they are. Mode ``create`` takes what the function changes, in place
    or in its result; mode ``assert`` refuses changes.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.fields = None
        self._get = None
        self._function = function

    def check(self, details: Mapping[str, Any], mode: Mode, bounds: Bounds | None = None) -> dict[str, Any]:
        """Return ``details`` as sent or, in ``create``, as the function returned them.

        A ``get`` beyond ``bounds`` is refused before the function is called.

        Raises:
            ValidationError: ``details`` is not an object with ``set`` and ``get``; or the function
                raised an error; or, with ``assert``, it changed values, which are listed by path.
                Clients see the text of a ValueError (of exactly this class) or of a marshmallow
                ValidationError, and nothing of other errors.
            GatewayError: the function raised it; it is passed on unchanged.
            DefinitionError: the function returned something other than ``details`` or None.
        """
        _check_bounds(details, bounds)
        collected = Collected()
        _check_shape(details, collected)
        collected.refuse()
        given = copy_parts(details)
        try:
            result = self._function(given)
        except GatewayError:
            raise
        except Exception as error:
            raise _translate(error) from error
        result = given if result is None else result
        _check_shape(result, collected)
        if collected.errors:
            raise DefinitionError("a validator function must return details, with set and get, or None")
        if mode == "create":
            return dict(result)
        collected.add_each(differences(details, result, ""))
        collected.refuse()
        return dict(details)


def compile_struct(validator: Any, registry: Schemas, bounds: Bounds | None = None) -> Struct:
    """Return the struct of a validator in any accepted form.

    These are a mapping or ``object_`` with ``set`` and ``get``, a marshmallow Schema class or instance with these
    fields, a function ``(details) -> details or None`` (mode ``assert`` refuses its changes), or a struct.

    A select struct in ``get`` has the limits of ``bounds``, by default those of the settings. A Schema
    keeps its own ``unknown``, messages and lengths: see `gatewayfw.schemas.kinds.foreign.SchemaField`.
    Elsewhere a text without a maximum takes at most ``max_text`` characters, and a list of ids at most
    ``max_ids`` ids (settings).

    Raises:
        DefinitionError: it has none of these forms, ``set`` or ``get`` is missing, there is another
            key, a select struct belongs to another gateway, a text may be longer than the setting
            ``max_body_text``, or a default is longer than its text may be.
    """
    bounds = bounds or registry.settings
    if isinstance(validator, Struct):
        if validator.is_within(bounds):
            return validator
        validator = validator.validator
    if isinstance(validator, Schema) or (isinstance(validator, type) and issubclass(validator, Schema)):
        schema = SchemaField(validator)
        fields = schema.schema.load_fields  # a dictionary of its own
        fields.update((name, _within(field, bounds)) for name, field in fields.items() if _key(name, field) == "get")
        return _make_struct(schema, fields, registry)
    if isinstance(validator, Mapping):
        validator = as_field(validator, "validator")
    if isinstance(validator, ObjectField):
        bounded = put_maxima(validator, registry.settings, "validator", ids=True)
        within = change_parts(bounded, lambda field, path: _within(field, bounds) if path == "get" else field)
        parts = cast(ObjectField, within)
        return _make_struct(parts, parts.fields or {}, registry)
    named = is_kind(validator) or isinstance(validator, type)
    if named or isinstance(validator, mm.Field) or not callable(validator):
        name = validator.__name__ if named else type(validator).__name__
        raise DefinitionError(f"validator: expected an object with set and get, a schema or a function, not {name}")
    return FunctionStruct(validator)


def _make_struct(root: mm.Field[Any], fields: Mapping[str, mm.Field[Any]], registry: Schemas) -> Struct:
    keyed = [(_key(name, field), field) for name, field in fields.items()]
    if sorted(name for name, _ in keyed) != sorted(_PARTS):
        listed = ", ".join(name for name, _ in keyed) or "nothing"
        raise DefinitionError(f"validator: expected exactly set and get, not {listed}")
    parts = dict(keyed)
    struct = Struct(root, {part: parts[part] for part in _PARTS})
    for _, select in struct.selects():
        if select.schemas is not registry:
            raise DefinitionError(f"validator: the select struct of {select.model!r} belongs to another gateway")
    struct.files = _files_in(struct.fields or {}, registry.settings.max_upload_bytes)
    return struct


def _files_in(parts: Mapping[str, mm.Field[Any]], most: int) -> dict[str, FileField]:
    """Return the files of ``set`` by their paths (``set.avatar``).

    Raises:
        DefinitionError: one stands elsewhere, is nullable or has a default, or may have more than ``most`` bytes.
    """
    given = parts["set"]
    named = {f"set.{name}": field for name, field in (getattr(given, "fields", None) or {"": given}).items()}
    found = {path: field for path, field in named.items() if isinstance(field, FileField)}
    for path, other in {**named, "get": parts["get"]}.items():
        if path not in found and has_files(other):
            raise DefinitionError(f"{path}: a file must be a field of set itself")
    for path, field in found.items():
        if field.allow_none or field.load_default is not missing:
            raise DefinitionError(f"{path}: a file may be optional, but not nullable or defaulted")
        if field.most > most:
            raise DefinitionError(f"{path}: the most of a file is above the setting 'max_upload_bytes' ({most})")
    return found


def has_files(field: mm.Field[Any]) -> bool:
    """Tell whether a field is a file or has one inside."""
    return any(isinstance(inner, FileField) for _, inner in walk(field))


def put_files(details: Mapping[str, Any], uploads: Mapping[str, Upload]) -> dict[str, Any]:
    """Return details with uploads at their paths; the given objects stay unchanged."""
    files = {path.removeprefix("set."): upload for path, upload in uploads.items()}
    return {**details, "set": {**details["set"], **files}}


def _key(name: str, field: mm.Field[Any]) -> str:
    return field.data_key if field.data_key is not None else name


def _within(field: mm.Field[Any], bounds: Bounds) -> mm.Field[Any]:
    if isinstance(field, SelectStruct):
        return field if field.bounds is bounds else field.within(bounds)
    return change_parts(field, lambda inner, _: _within(inner, bounds))


def _check_bounds(details: Any, bounds: Bounds | None) -> None:
    get = details.get("get") if bounds is not None and isinstance(details, Mapping) else None
    if bounds is not None and get and isinstance(get, Mapping) and (problem := bounds_problem(get, bounds)):
        raise ValidationError({"get": [problem]})


def _check_shape(details: Any, collected: Collected) -> None:
    if not isinstance(details, Mapping):
        collected.add(_WHOLE, messages.NO_OBJECT)
        return
    for part in _PARTS:
        if part not in details:
            collected.add(part, messages.REQUIRED)
        elif not isinstance(details[part], Mapping):
            collected.add(part, messages.NO_OBJECT)
    for key in details:
        if key not in _PARTS:
            collected.add(below("", key), messages.UNKNOWN)


def _translate(error: Exception) -> ValidationError:
    collected = Collected()
    if isinstance(error, marshmallow.ValidationError) and isinstance(error.messages, dict):
        collected.add_all(error.messages, "")
        return collected.refusal()
    if isinstance(error, marshmallow.ValidationError):
        collected.add_all(error.messages, _WHOLE)
    elif type(error) is ValueError:
        collected.add(_WHOLE, str(error))
    failure = ValidationError(collected.errors)
    if collected.errors:
        failure.message = " ".join(collected.errors[_WHOLE])
    return failure

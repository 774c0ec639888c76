"""Structs: validators of ``details``, and the strict checks of documents.

One mechanism serves all. Mode ``create`` is marshmallow's load. Mode ``assert`` loads, dumps
what was loaded, and wants to find exactly what was sent: so it accepts just what ``create``
leaves unchanged. What a quick test knows to be unchanged is not loaded at all.
Source: specification 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from operator import is_
from typing import Any, Literal, cast

import marshmallow
from marshmallow import Schema
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError, GatewayError, ValidationError
from gatewayfw.schemas.exactness import REQUIRED, UNKNOWN, check_keys, compare, load_exactly
from gatewayfw.schemas.fields import as_field, is_kind
from gatewayfw.schemas.kinds import as_kind, quick_of
from gatewayfw.schemas.kinds.foreign import SchemaField
from gatewayfw.schemas.kinds.object import ObjectField
from gatewayfw.schemas.kinds.quick import SENT
from gatewayfw.schemas.levels import Bounds, SelectStruct, bounds_problem
from gatewayfw.schemas.maxima import bounded
from gatewayfw.schemas.paths import Collected, below
from gatewayfw.schemas.registry import Schemas
from gatewayfw.schemas.values import SCALARS, same

Mode = Literal["assert", "create"]

_PARTS = ("set", "get")
#: The path of an error about ``details`` as a whole.
_WHOLE = "details"
_NOT_OBJECT = "Not a valid mapping type."


class Struct:
    """A compiled validator of ``details``.

    Attributes:
        fields: the field of ``set`` and of ``get``; None when the validator is a function.
    """

    def __init__(self, root: mm.Field[Any], fields: Mapping[str, mm.Field[Any]]) -> None:
        self.fields: Mapping[str, mm.Field[Any]] | None = fields
        self._takes = as_kind(root).quick_test(SENT)
        self._load = as_kind(root).loader(fill=True)
        self._given = root
        self._get = fields["get"] if isinstance(fields["get"], SelectStruct) else None

    @cached_property
    def _root(self) -> mm.Field[Any]:
        """The field of ``details``, made when a quick test first refuses some.

        Most acts never need it.
        """
        root: Any = as_kind(self._given).make_quick()
        if root is not self._given:
            root.hasty = None  # that test has been asked by then
        return root  # type: ignore[no-any-return]  # a field

    @property
    def validator(self) -> Any:
        """What it was compiled from."""
        return self._given.schema if isinstance(self._given, SchemaField) else self._given

    def is_within(self, bounds: Bounds) -> bool:
        """Tell whether each select struct in ``get`` takes what ``bounds`` says."""
        return all(select.bounds is bounds for path, select in self.selects() if path.partition(".")[0] == "get")

    def selects(self) -> Iterator[tuple[str, SelectStruct]]:
        """Yield the select structs in ``set`` and ``get``, each after its path.

        Those in a Schema are not seen.
        """
        for part, field in (self.fields or {}).items():
            yield from _selects(field, part)

    def check(self, details: Mapping[str, Any], mode: Mode, bounds: Bounds | None = None) -> dict[str, Any]:
        """Return what the act gets: ``details`` as sent, or, in ``create``, loaded.

        A ``get`` beyond ``bounds`` is refused before any other error is reported.

        Raises:
            ValidationError: every refused value, by path.
        """
        if self._takes is not None:
            whole = self._load(details) if self._load is not None and mode == "create" else details
            is_bound = self._get is not None and self._get.bounds is bounds  # then the test has judged that
            if self._takes(whole) and (is_bound or self._is_within(details.get("get"), bounds)):
                return dict(whole)
        _check_bounds(details, bounds)
        collected = Collected()
        if mode == "assert":
            load_exactly(self._root, details, "", collected, fill=False)
            _refuse(collected)
            return dict(details)
        try:
            return dict(self._root.deserialize(details))
        except marshmallow.ValidationError as error:
            collected.add_all(error.messages, "")
            raise ValidationError(_named(collected)) from None

    @staticmethod
    def _is_within(get: Any, bounds: Bounds | None) -> bool:
        """Tell whether a `get` that the quick test took keeps to the act's bounds, too."""
        return bounds is None or not isinstance(get, Mapping) or bounds_problem(get, bounds) is None


class FunctionStruct(Struct):
    """A validator that is a function ``(details) -> details or None``.

    None keeps what it was given.

    What it changes, in place or in its result, is for mode ``create``; mode ``assert`` refuses it.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.fields = None
        self._get = None
        self._function = function

    def check(self, details: Mapping[str, Any], mode: Mode, bounds: Bounds | None = None) -> dict[str, Any]:
        """Return ``details`` as sent, or, in ``create``, as the function gave them.

        A ``get`` beyond ``bounds`` is refused before the function is called.

        Raises:
            ValidationError: ``details`` is not an object with ``set`` and ``get``; or the function
                raised: the text of a ValueError (of exactly this class) or of a marshmallow
                ValidationError is shown to the client, of others nothing; or, with ``assert``,
                it changed a value, by path.
            GatewayError: one that the function raised, as it is.
            DefinitionError: the function returned something else than ``details`` or None.
        """
        _check_bounds(details, bounds)
        collected = Collected()
        _shape(details, collected)
        _refuse(collected)
        given = _copied(details)
        try:
            result = self._function(given)
        except GatewayError:
            raise
        except Exception as error:
            raise _translated(error) from error
        result = given if result is None else result
        _shape(result, collected)
        if collected.errors:
            raise DefinitionError("a validator function must return details, with set and get, or None")
        if mode == "create":
            return dict(result)
        if not same(details, result):
            compare(None, details, result, "", collected, fill=False)
        _refuse(collected)
        return dict(details)


def compile_struct(validator: Any, registry: Schemas, bounds: Bounds | None = None) -> Struct:
    """Return the struct of a validator in any accepted form.

    A select struct in ``get`` takes what ``bounds`` says, else what the settings say.

    A mapping or ``object_`` with ``set`` and ``get``, a marshmallow Schema class or instance with
    these fields, a function ``(details) -> details or None`` (mode ``assert`` refuses what it
    changes), or a struct. A Schema keeps its own ``unknown``, messages and lengths: see
    `gatewayfw.schemas.kinds.foreign.SchemaField`. Elsewhere a text without a maximum takes at most as many
    characters as the setting ``max_text`` says, a list of ids as many as ``max_ids``.

    Raises:
        DefinitionError: it is none of these, ``set`` or ``get`` is missing or another key is
            there, a select struct belongs to another gateway, or a text may be longer than the
            setting ``max_body_text``, or its default than its maximum.
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
        return _struct(schema, fields, registry)
    if isinstance(validator, Mapping):
        validator = as_field(validator, "validator")
    if isinstance(validator, ObjectField):
        parts = cast(ObjectField, bounded(validator, registry.maxima(ids=True), "validator"))
        inside = (_within(field, bounds) if path == "get" else field for path, field in parts.parts())
        parts = cast(ObjectField, parts.with_parts(list(inside)))
        return _struct(parts, parts.fields or {}, registry)
    named = is_kind(validator) or isinstance(validator, type)
    if named or isinstance(validator, mm.Field) or not callable(validator):
        name = validator.__name__ if named else type(validator).__name__
        raise DefinitionError(f"validator: expected an object with set and get, a schema or a function, not {name}")
    return FunctionStruct(validator)


def check_document(pure: Mapping[str, mm.Field[Any]] | ObjectField, doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new document as stored: strictly checked, with its defaults.

    ``doc`` holds pure fields only; ``_id`` is the caller's matter and unknown here. A mapping of
    fields is looked at each time; ``ModelSchema.document`` is prepared.

    Raises:
        ValidationError: every refused value, by path (``doc.email``).
    """
    if not isinstance(pure, ObjectField):
        return _stored(ObjectField(pure, required=True), doc, "doc", fill=True)  # type: ignore[no-any-return]  # a dict
    quick = quick_of(pure)
    if quick is not None:
        loaded = quick.fill(doc)
        if quick.test(loaded):
            return quick.store(loaded)  # type: ignore[no-any-return]  # a dict
    return _stored(pure, doc, "doc", fill=True)  # type: ignore[no-any-return]  # a dict


def check_value(field: mm.Field[Any], value: Any, path: str) -> Any:
    """Return one value as stored: strictly checked, nothing coerced or filled in.

    Raises:
        ValidationError: every refused value, by path from ``path``.
    """
    quick = quick_of(field)
    if quick is not None and quick.test(loaded := quick.load(value)):
        return quick.store(loaded)
    return _stored(field, value, path, fill=False)


def _stored(field: mm.Field[Any], value: Any, path: str, *, fill: bool) -> Any:
    collected = Collected()
    quick = quick_of(field)
    loaded = load_exactly(field, value if quick is None else quick.load(value), path, collected, fill=fill)
    _refuse(collected)
    stored = as_kind(field).storer()(loaded)
    check_keys(stored, path, collected)
    _refuse(collected)
    return stored


def _struct(root: mm.Field[Any], fields: Mapping[str, mm.Field[Any]], registry: Schemas) -> Struct:
    names = [_key(name, field) for name, field in fields.items()]
    if sorted(names) != sorted(_PARTS):
        listed = ", ".join(names) or "nothing"
        raise DefinitionError(f"validator: expected exactly set and get, not {listed}")
    parts = dict(zip(names, fields.values(), strict=True))
    struct = Struct(root, {part: parts[part] for part in _PARTS})
    for _, select in struct.selects():
        if select.schemas is not registry:
            raise DefinitionError(f"validator: the select struct of {select.model!r} belongs to another gateway")
    return struct


def _key(name: str, field: mm.Field[Any]) -> str:
    return field.data_key if field.data_key is not None else name


def _within(field: mm.Field[Any], bounds: Bounds) -> mm.Field[Any]:
    """Return a field whose select structs take ``bounds``; itself where they do."""
    if isinstance(field, SelectStruct):
        return field if field.bounds is bounds else field.within(bounds)
    kind = as_kind(field)
    parts = [inner for _, inner in kind.parts()]
    inside = [_within(inner, bounds) for inner in parts]
    return field if all(map(is_, inside, parts)) else kind.with_parts(inside)


def _selects(field: mm.Field[Any], path: str) -> Iterator[tuple[str, SelectStruct]]:
    if isinstance(field, SelectStruct):
        yield path, field
    for part, inner in as_kind(field).parts(path):
        yield from _selects(inner, part.removesuffix("[]"))


def _check_bounds(details: Any, bounds: Bounds | None) -> None:
    if bounds is None or not isinstance(details, Mapping):
        return
    get = details.get("get")
    if isinstance(get, Mapping) and (problem := bounds_problem(get, bounds)):
        raise ValidationError({"get": [problem]})


def _shape(details: Any, collected: Collected) -> None:
    if not isinstance(details, Mapping):
        collected.add(_WHOLE, _NOT_OBJECT)
        return
    for part in _PARTS:
        if part not in details:
            collected.add(part, REQUIRED)
        elif not isinstance(details[part], Mapping):
            collected.add(part, _NOT_OBJECT)
    for key in details:
        if key not in _PARTS:
            collected.add(below("", key), UNKNOWN)


def _copied(value: Any) -> Any:
    """Return a copy whose objects and lists a validator function may change."""
    if isinstance(value, list):
        return [_copied(item) for item in value]
    if isinstance(value, dict) or (type(value) not in SCALARS and isinstance(value, Mapping)):
        return {key: _copied(item) for key, item in value.items()}
    return value


def _translated(error: Exception) -> ValidationError:
    collected = Collected()
    if isinstance(error, marshmallow.ValidationError) and isinstance(error.messages, dict):
        collected.add_all(error.messages, "")
        return ValidationError(_named(collected))
    if isinstance(error, marshmallow.ValidationError):
        collected.add_all(error.messages, _WHOLE)
    elif type(error) is ValueError:
        collected.add(_WHOLE, str(error))
    failure = ValidationError(collected.errors)
    if collected.errors:
        failure.message = " ".join(collected.errors[_WHOLE])
    return failure


def _refuse(collected: Collected) -> None:
    if collected.errors:
        raise ValidationError(_named(collected))


def _named(collected: Collected) -> dict[str, list[str]]:
    return {path or _WHOLE: texts for path, texts in collected.errors.items()}

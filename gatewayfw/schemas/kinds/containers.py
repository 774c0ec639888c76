"""The kinds of values with parts: lists, mappings, objects, and any value."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from types import MappingProxyType
from typing import Any

from marshmallow import fields as mm
from marshmallow import missing, validate

from gatewayfw import messages
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Ability, Constant, Description, KindField
from gatewayfw.schemas.kinds.checks import change_each, described_lengths, lengths, load_part, maximum_checks
from gatewayfw.schemas.kinds.descriptions import describe, describe_all
from gatewayfw.schemas.kinds.foreign import as_kind, largest_of
from gatewayfw.schemas.kinds.quick import INFINITY, Load, Store, Test, object_loader, object_storer, object_test
from gatewayfw.schemas.kinds.sizes import DOCUMENT, ENDLESS, list_bytes
from gatewayfw.schemas.paths import below
from gatewayfw.schemas.values import cut, encodable, plain, storable, storable_key


class ContainerField(KindField, own=True):
    """A kind whose values have parts, each with a field of its own.

    Attributes:
        fields: the fields of an object by name; None where all parts are of one kind, or of any.
        inner: the field of every part, where they are of one kind.
    """

    fields: Mapping[str, mm.Field[Any]] | None = None
    inner: mm.Field[Any]
    default_error_messages = {"invalid": messages.NO_OBJECT, "unknown": messages.UNKNOWN}

    def split(self, value: Any) -> Mapping[Any, Any]:
        """Return the parts of a value by key or index; `missing` where one is not there."""
        raise NotImplementedError

    def join(self, parts: dict[Any, Any]) -> Any:
        return parts

    def with_parts(self, parts: Sequence[mm.Field[Any]]) -> mm.Field[Any]:
        changed: Any = copy.copy(self)
        (changed.inner,) = parts
        return changed  # type: ignore[no-any-return]  # a copy of the field

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self._check_whole(value)
        sent = self.split(value)
        loaded = change_each(sent.items(), lambda key, item: self._load_part(key, item, value))
        if all(map(is_, loaded.values(), sent.values())):
            return value
        return self.join({key: item for key, item in loaded.items() if item is not missing})

    def _check_whole(self, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise self.make_error("invalid")

    def _load_part(self, key: Any, item: Any, value: Any) -> Any:
        field = self.part(key)
        if field is None:
            raise self.make_error("unknown")
        return load_part(field, item, key, value)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if value is None or self.is_free:
            return value
        return {key: self.part(key)._serialize(item, key, value) for key, item in value.items()}  # type: ignore[union-attr]  # loaded

    def operand(self, value: Any, path: str) -> Any:
        if self.is_free or not isinstance(value, Mapping):
            return super().operand(value, path)
        parts = {key: self.part(key) for key in value}
        if unknown := [key for key, field in parts.items() if field is None]:
            message = str(self.error_messages["unknown"])
            raise Refused({below(path, key): [message] for key in unknown})
        names = [name for name in self.fields if name in value] if self.fields else list(value)  # as they are stored
        return {key: as_kind(field).operand(value[key], f"{path}.{key}") for key in names if (field := parts[key])}

    def _store_operand(self, value: Any) -> Any:
        return None

    def unstated(self, path: str) -> Iterator[str]:
        if self.fields is None and lengths(self)[1] is None:
            yield path
        for place, inner in self.parts(path):
            yield from as_kind(inner).unstated(place)


class ArrayField(ContainerField, mm.List[Any], own=True):
    """A list whose elements are all of one kind, ``inner``.

    A list above its maximum length is refused before its elements are checked.
    """

    kind = "array"
    abilities = frozenset({Ability.LIST})
    tested = (validate.Length,)
    default_error_messages = {"invalid": messages.NO_LIST}

    @property
    def elements(self) -> mm.Field[Any]:  # type: ignore[override]  # by what is inside
        return self.inner

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        return ((f"{path}[]", self.inner),)

    def part(self, key: Any) -> mm.Field[Any] | None:
        return self.inner if isinstance(key, int) else None

    def split(self, value: Any) -> Mapping[Any, Any]:
        return dict(enumerate(value))

    def join(self, parts: dict[Any, Any]) -> Any:
        return list(parts.values())

    def _check_whole(self, value: Any) -> None:
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for most, check in maximum_checks(self).items():
            if len(value) > most:
                check(value)

    def _load_part(self, key: Any, item: Any, value: Any) -> Any:
        return load_part(self.inner, item)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else [self.inner._serialize(item, attr, obj) for item in value]

    def _test(self) -> Test | None:
        item = as_kind(self.inner).quick_test()
        if item is None:
            return None
        least, most = lengths(self)
        end = INFINITY if most is None else most
        return lambda value: type(value) is list and least <= len(value) <= end and all(map(item, value))

    def loader(self, *, fill: bool) -> Load | None:
        item = as_kind(self.inner).loader(fill=fill)
        if item is None:
            return None

        def load(value: Any) -> Any:
            if type(value) is not list:
                return value
            loaded = list(map(item, value))
            return value if all(map(is_, loaded, value)) else loaded

        return load

    def storer(self) -> Store:
        inner = as_kind(self.inner).storer()
        return lambda value: None if value is None else [inner(item) for item in value]

    def operand(self, value: Any, path: str) -> Any:
        """Return the stored form of a whole list, or of one element.

        A list counts as a whole list, unless the elements are lists themselves: then it is one element.
        Anything else is one element.
        """
        if value is None:
            return None
        inner = as_kind(self.inner)
        if not isinstance(value, (list, tuple)):
            return inner.operand(value, path)
        try:
            return [inner.operand(one, f"{path}.{at}") for at, one in enumerate(value)]
        except Refused:
            if inner.elements is None:
                raise
        return inner.operand(value, path)

    @property
    def largest(self) -> int:  # type: ignore[override]  # by what is inside
        most = lengths(self)[1]
        return ENDLESS if most is None else list_bytes(most, as_kind(self.inner).largest)

    def description(self) -> Description:
        return {"kind": "array", "items": describe(self.inner), **described_lengths(self, "minItems", "maxItems")}


class MappingField(ContainerField, mm.Dict, own=True):
    """An object of any keys; ``inner`` is the field of each value."""

    kind = "mapping"
    sets_parts = True
    default_error_messages = {"unknown": messages.NO_MAP_KEY}

    def __init__(self, inner: mm.Field[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = inner

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        return ((f"{path}.*", self.inner),)

    def part(self, key: Any) -> mm.Field[Any] | None:
        return self.inner if isinstance(key, str) and encodable(key) else None

    def split(self, value: Any) -> Mapping[Any, Any]:
        return value  # type: ignore[no-any-return]  # a mapping

    def _load_part(self, key: Any, item: Any, value: Any) -> Any:
        if self.part(key) is None:
            raise self.make_error("unknown")
        return load_part(self.inner, item)

    def _test(self) -> Test | None:
        item = as_kind(self.inner).quick_test()
        if item is None:
            return None
        return lambda value: (
            type(value) is dict
            and all(map(storable_key, value))
            and all(map(encodable, value))
            and all(map(item, value.values()))
        )

    def loader(self, *, fill: bool) -> Load | None:
        item = as_kind(self.inner).loader(fill=fill)
        if item is None:
            return None

        def load(value: Any) -> Any:
            if type(value) is not dict:
                return value
            loaded = {key: item(one) for key, one in value.items()}
            return value if all(map(is_, loaded.values(), value.values())) else loaded

        return load

    def storer(self) -> Store:
        inner = as_kind(self.inner).storer()
        return lambda value: None if value is None else {key: inner(item) for key, item in value.items()}

    def description(self) -> Description:
        return {"kind": "mapping", "values": describe(self.inner)}


class ObjectField(ContainerField, mm.Dict, own=True):
    """An object with exactly the keys of ``fields``, or with any keys if it is None."""

    kind = "object_"
    sets_parts = True

    def __init__(self, fields: Mapping[str, mm.Field[Any]] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.fields = None if fields is None else MappingProxyType(dict(fields))

    @property
    def is_free(self) -> bool:  # type: ignore[override]  # by what it was made with
        return self.fields is None

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        return tuple((below(path, name), inner) for name, inner in (self.fields or {}).items())

    def with_parts(self, parts: Sequence[mm.Field[Any]]) -> mm.Field[Any]:
        changed = copy.copy(self)
        changed.fields = MappingProxyType(dict(zip(self.fields or {}, parts, strict=True)))
        return changed

    def part(self, key: Any) -> mm.Field[Any] | None:
        return (self.fields or {}).get(key)

    def split(self, value: Any) -> Mapping[Any, Any]:
        return {} if self.fields is None else {**dict.fromkeys(self.fields, missing), **value}

    def _check_whole(self, value: Any) -> None:
        super()._check_whole(value)
        if self.is_free and not plain(value):
            raise self.make_error("invalid")

    def _test(self) -> Test | None:
        if self.fields is None:
            return lambda value: type(value) is dict and storable(value)
        must: dict[str, Any] = {}
        may: dict[str, Any] = {}
        for name, inner in self.fields.items():
            test = as_kind(inner).quick_test() if storable_key(name) else None
            if test is None:
                return None
            (must if inner.required or inner.load_default is not missing else may)[name] = test
        return object_test(must, may)

    def loader(self, *, fill: bool) -> Load | None:
        fields = self.fields or {}
        loaders = {name: loader for name, field in fields.items() if (loader := as_kind(field).loader(fill=fill))}
        filled = {name: field for name, field in fields.items() if fill and not field.required}
        constants = {name: _constant_of(one) for name, one in filled.items() if isinstance(one.load_default, Constant)}
        return object_loader(tuple(fields), constants, loaders) if constants or loaders else None

    def storer(self) -> Store:
        if self.fields is None:
            return cut
        return object_storer({name: as_kind(field).storer() for name, field in self.fields.items()})

    def _store_operand(self, value: Any) -> Any:
        return cut(value) if self.is_free and isinstance(value, Mapping) and plain(value) else None

    @property
    def largest(self) -> int:  # type: ignore[override]  # by what is inside
        return ENDLESS if self.fields is None else DOCUMENT + largest_of(self.fields)

    def description(self) -> Description:
        return {"kind": "object", "fields": None if self.fields is None else describe_all(self.fields)}


class AnyField(KindField, mm.Raw, own=True):
    """Any JSON value, even null; server code may pass ObjectIds and datetimes, too."""

    kind = "any_"
    abilities = frozenset({Ability.CALCULATE})
    sets_parts = True
    is_free = True
    default_error_messages = {"invalid": messages.NO_JSON}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not plain(value):
            raise self.make_error("invalid")
        return value

    def _test(self) -> Test | None:
        return storable if self.allow_none else lambda value: value is not None and storable(value)

    def storer(self) -> Store:
        return cut

    def _store_operand(self, value: Any) -> Any:
        return cut(value) if plain(value) else None

    def description(self) -> Description:
        return {"kind": "any"}


def _constant_of(field: mm.Field[Any]) -> Callable[[], Any]:
    value = field.load_default.value
    return (lambda: value) if value is None or isinstance(value, (str, int, float)) else field.load_default

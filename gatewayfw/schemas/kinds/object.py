"""Objects: with the fields they name, or with any keys."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from marshmallow import ValidationError, missing
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Constant, Description, KindField, cut
from gatewayfw.schemas.kinds.checks import Parts, load_part
from gatewayfw.schemas.kinds.foreign import as_kind, describe_all, largest_of, unstated_in
from gatewayfw.schemas.kinds.quick import Load, Purpose, Store, Test, as_it_is
from gatewayfw.schemas.kinds.sizes import DOCUMENT, ENDLESS
from gatewayfw.schemas.messages import UNKNOWN
from gatewayfw.schemas.paths import below
from gatewayfw.schemas.values import plain


class ObjectField(KindField, mm.Dict, own=True):
    """An object with exactly the keys of ``fields``, or with any keys if it is None."""

    kind = "object_"
    sets_parts = True
    default_error_messages = {"unknown": UNKNOWN}

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

    def items(self, sent: Any) -> Iterator[tuple[Any, mm.Field[Any], Any]]:
        return ((name, inner, sent.get(name, missing)) for name, inner in (self.fields or {}).items())

    @property
    def dumps_itself(self) -> bool:  # type: ignore[override]  # by what is inside
        """Whether all values dump as themselves."""
        return all(getattr(field, "dumps_itself", False) for field in (self.fields or {}).values())

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if (quick := self.load_quickly(value)) is not missing:
            return quick
        fields = self.fields
        if not isinstance(value, Mapping) or (fields is None and not plain(value)):
            raise self.make_error("invalid")
        if fields is None:
            return value
        loaded: dict[Any, Any] = {}
        errors: dict[Any, ValidationError] = {}
        changed = False
        for name, field in fields.items():
            sent = value.get(name, missing)
            try:
                item = load_part(field, sent, name, value)
            except ValidationError as error:
                errors[name] = error
                continue
            changed = changed or item is not sent
            if item is not missing:
                loaded[name] = item
        for key in value:
            if key not in fields and len(errors) <= Refused.MOST:
                errors[key] = self.make_error("unknown")
        if errors:
            raise Parts(errors, loaded)
        return loaded if changed else value

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if value is None or self.fields is None or self.dumps_itself:
            return value
        return {key: self.fields[key]._serialize(item, key, value) for key, item in value.items()}

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        if self.fields is None:
            free = purpose.free
            return [lambda value: type(value) is dict and free(value)]
        must: dict[str, Any] = {}
        may: dict[str, Any] = {}
        for name, inner in self.fields.items():
            test = as_kind(inner).quick_test(purpose) if purpose.name(name) else None
            if test is None:
                return None
            (must if inner.required or inner.load_default is not missing else may)[name] = test
        return [_fields_test(must, may)]

    def loader(self, *, fill: bool) -> Load | None:
        return _fields_loader(self.fields, fill=fill) if self.own and self.fields else None

    def storer(self) -> Store:
        return cut if self.fields is None else _fields_storer(self.fields)

    def operand(self, value: Any, path: str) -> Any:
        fields = self.fields
        if fields is None or not isinstance(value, Mapping):
            return super().operand(value, path)
        unknown = [key for key in value if key not in fields]
        if unknown:
            raise Refused({below(path, key): [UNKNOWN] for key in unknown})
        return {key: as_kind(fields[key]).operand(item, f"{path}.{key}") for key, item in value.items()}

    def _store_operand(self, value: Any) -> Any:
        return cut(value) if isinstance(value, Mapping) and plain(value) else None

    def largest(self) -> int:
        return ENDLESS if self.fields is None else DOCUMENT + largest_of(self.fields)

    def unstated(self, path: str) -> Iterator[str]:
        return unstated_in(self.fields, path) if self.fields else super().unstated(path)

    def description(self) -> Description:
        return {"kind": "object", "fields": None if self.fields is None else describe_all(self.fields)}


def _fields_test(must: Mapping[str, Test], may: Mapping[str, Test]) -> Test:
    """Return the test for an object with the keys of ``must`` and perhaps of ``may``.

    It takes no other keys.
    """
    needed, possible, count = tuple(must.items()), tuple(may.items()), len(must)

    def test(value: Any) -> bool:
        if type(value) is not dict:
            return False
        try:
            for name, inner in needed:
                if not inner(value[name]):
                    return False
        except KeyError:
            return False
        others = len(value) - count
        if others:
            for name, inner in possible:
                if name in value:
                    if not inner(value[name]):
                        return False
                    others -= 1
        return not others

    return test


def _fields_loader(fields: Mapping[str, mm.Field[Any]], *, fill: bool) -> Load | None:
    loaders = {name: loader for name, field in fields.items() if (loader := as_kind(field).loader(fill=fill))}
    constants = {
        name: _constant_of(field.load_default) for name, field in fields.items() if fill and _is_constant(field)
    }
    if not constants and not loaders:
        return None
    filled, loads = tuple(constants.items()), tuple(loaders.items())

    def load(value: Any) -> Any:
        if type(value) is not dict:
            return value
        changed: dict[str, Any] = {}
        for name, constant in filled:
            if name not in value:
                changed[name] = loaders.get(name, as_it_is)(constant())
        for name, inner in loads:
            if name in value and (loaded := inner(value[name])) is not value[name]:
                changed[name] = loaded
        if not changed or not value.keys() <= fields.keys():
            return value
        changed = {**value, **changed}
        return {name: changed[name] for name in fields if name in changed}  # as loading orders them

    return load


def _is_constant(field: mm.Field[Any]) -> bool:
    return isinstance(field.load_default, Constant) and not field.required


def _constant_of(default: Constant) -> Callable[[], Any]:
    value = default.value
    return (lambda: value) if value is None or isinstance(value, (str, int, float)) else default


def _fields_storer(fields: Mapping[str, mm.Field[Any]]) -> Store:
    storers = {name: as_kind(field).storer() for name, field in fields.items()}
    converted = [(name, inner) for name, inner in storers.items() if inner is not as_it_is]

    def store(value: Any) -> Any:
        if value is None:
            return None
        whole = dict(value)
        for name, inner in converted:
            if name in whole:
                whole[name] = inner(whole[name])
        return whole

    return store

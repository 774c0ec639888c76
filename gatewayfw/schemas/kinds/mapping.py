"""Objects of any keys whose values are of one kind."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Description
from gatewayfw.schemas.kinds.checks import change_each, load_part
from gatewayfw.schemas.kinds.foreign import as_kind, describe
from gatewayfw.schemas.kinds.inner import InnerField
from gatewayfw.schemas.kinds.quick import Load, Purpose, Store, Test
from gatewayfw.schemas.paths import below
from gatewayfw.schemas.values import encodable


class MappingField(InnerField, mm.Dict, own=True):
    """An object of any keys; ``inner`` is the field of each value."""

    kind = "mapping"
    sets_parts = True
    default_error_messages = {"key": "Not a valid key."}

    def __init__(self, inner: mm.Field[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.inner = inner

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        return ((f"{path}.*", self.inner),)

    def part(self, key: Any) -> mm.Field[Any] | None:
        return self.inner if isinstance(key, str) else None

    def items(self, sent: Any) -> Iterator[tuple[Any, mm.Field[Any], Any]]:
        return ((key, self.inner, item) for key, item in sent.items() if _is_key(key))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if (quick := self.load_quickly(value)) is not missing:
            return quick
        if not isinstance(value, Mapping):
            raise self.make_error("invalid")
        loaded = change_each(value.items(), self._load_item)
        return value if all(map(operator.is_, loaded.values(), value.values())) else loaded

    def _load_item(self, key: Any, item: Any) -> Any:
        if not _is_key(key):
            raise self.make_error("key")
        return load_part(self.inner, item)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if value is None or self.dumps_itself:
            return value
        return {key: self.inner._serialize(item, key, value) for key, item in value.items()}

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        item, name = as_kind(self.inner).quick_test(purpose), purpose.name
        if item is None:
            return None

        def test(value: Any) -> bool:
            return (
                type(value) is dict
                and all(map(_is_key, value))
                and all(map(name, value))
                and all(map(item, value.values()))
            )

        return [test]

    def loader(self, *, fill: bool) -> Load | None:
        item = as_kind(self.inner).loader(fill=fill) if self.own else None
        if item is None:
            return None

        def load(value: Any) -> Any:
            if type(value) is not dict:
                return value
            loaded = {key: item(one) for key, one in value.items()}
            return value if all(map(operator.is_, loaded.values(), value.values())) else loaded

        return load

    def storer(self) -> Store:
        inner = as_kind(self.inner).storer()
        return lambda value: None if value is None else {key: inner(item) for key, item in value.items()}

    def operand(self, value: Any, path: str) -> Any:
        if not isinstance(value, Mapping):
            return super().operand(value, path)
        unknown = [key for key in value if not _is_key(key)]
        if unknown:
            raise Refused({below(path, key): [str(self.error_messages["key"])] for key in unknown})
        inner = as_kind(self.inner)
        return {key: inner.operand(item, f"{path}.{key}") for key, item in value.items()}

    def _store_operand(self, value: Any) -> Any:
        return None

    def unstated(self, path: str) -> Iterator[str]:
        yield path
        yield from as_kind(self.inner).unstated(f"{path}.*")

    def description(self) -> Description:
        return {"kind": "mapping", "values": describe(self.inner)}


def _is_key(key: object) -> bool:
    return isinstance(key, str) and encodable(key)

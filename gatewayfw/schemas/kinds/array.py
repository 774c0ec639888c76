"""Lists of values of one kind."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

from marshmallow import fields as mm
from marshmallow import missing

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.kinds.base import Ability, Description, Maxima
from gatewayfw.schemas.kinds.checks import change_each, described_lengths, lengths, load_part, maximum_checks
from gatewayfw.schemas.kinds.foreign import as_kind, describe
from gatewayfw.schemas.kinds.ids import ObjectIdField
from gatewayfw.schemas.kinds.inner import InnerField
from gatewayfw.schemas.kinds.quick import Load, Purpose, Store, Test
from gatewayfw.schemas.kinds.sizes import ENDLESS, list_bytes
from gatewayfw.schemas.kinds.text import with_maximum


class ArrayField(InnerField, mm.List[Any], own=True):
    """A list whose elements are all of one kind, ``inner``.

    A list above its maximum length is refused before its elements are checked.
    """

    kind = "array"
    abilities = frozenset({Ability.LIST})

    @property
    def elements(self) -> mm.Field[Any]:
        return self.inner

    def parts(self, path: str = "") -> Sequence[tuple[str, mm.Field[Any]]]:
        return ((f"{path}[]", self.inner),)

    def part(self, key: Any) -> mm.Field[Any] | None:
        return self.inner if isinstance(key, int) else None

    def items(self, sent: Any) -> Iterator[tuple[Any, mm.Field[Any], Any]]:
        return ((index, self.inner, item) for index, item in enumerate(sent))

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if (quick := self.load_quickly(value)) is not missing:
            return quick
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for most, check in maximum_checks(self).items():
            if len(value) > most:
                check(value)
        loaded = change_each(enumerate(value), lambda index, item: load_part(self.inner, item))
        return value if all(map(operator.is_, loaded.values(), value)) else list(loaded.values())

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if value is None or self.dumps_itself:
            return value
        return [self.inner._serialize(item, attr, obj) for item in value]

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        item = as_kind(self.inner).quick_test(purpose)
        return None if item is None else [_is_list, lambda value: all(map(item, value))]

    def loader(self, *, fill: bool) -> Load | None:
        item = as_kind(self.inner).loader(fill=fill) if self.own else None
        if item is None:
            return None

        def load(value: Any) -> Any:
            if type(value) is not list:
                return value
            loaded = list(map(item, value))
            return value if all(map(operator.is_, loaded, value)) else loaded

        return load

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        if maxima.ids is None or not isinstance(self.inner, ObjectIdField):
            return self
        return with_maximum(self, maxima.ids)

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

    def largest(self) -> int:
        most = lengths(self)[1]
        return ENDLESS if most is None else list_bytes(most, as_kind(self.inner).largest())

    def unstated(self, path: str) -> Iterator[str]:
        if lengths(self)[1] is None:
            yield path
        yield from as_kind(self.inner).unstated(f"{path}[]")

    def description(self) -> Description:
        return {"kind": "array", "items": describe(self.inner), **described_lengths(self, "minItems", "maxItems")}


def _is_list(value: Any) -> bool:
    return type(value) is list

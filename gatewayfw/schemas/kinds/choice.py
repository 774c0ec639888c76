"""Enumerated values, and any value."""

from __future__ import annotations

from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import Ability, Description, KindField
from gatewayfw.schemas.kinds.numbers import comparable_number
from gatewayfw.schemas.kinds.quick import Store, Test
from gatewayfw.schemas.kinds.sizes import NUMBER, TEXT
from gatewayfw.schemas.values import cut, encodable, plain, storable


class EnumsField(KindField, mm.Raw, own=True):
    """One of the given values, by value and type."""

    kind = "enums"
    sorts = True
    default_error_messages = {"invalid": "Must be one of: {choices}."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        choices = self.metadata["choices"]
        if not any(type(choice) is type(value) and choice == value for choice in choices):
            raise self.make_error("invalid", choices=", ".join(map(str, choices)))
        return value

    def _test(self) -> Test | None:
        choices = self.metadata["choices"]
        types = set(map(type, choices))
        if types == {str}:
            texts = frozenset(choices)
            return lambda value: type(value) is str and value in texts
        if not types <= {str, int, float, bool} or not all(map(plain, choices)):
            return None
        known = {(type(choice), choice) for choice in choices}
        return lambda value: type(value) in types and (type(value), value) in known

    def _store_operand(self, value: Any) -> Any:
        return value if any(_is_like(choice, value) for choice in self.metadata["choices"]) else None

    @property
    def largest(self) -> int:  # type: ignore[override]  # by its choices
        return max(map(_encoded_bytes, self.metadata["choices"]))

    def description(self) -> Description:
        return {"kind": "enums", "choices": list(self.metadata["choices"])}


class AnyField(KindField, mm.Raw, own=True):
    """Any JSON value, even null; server code may pass ObjectIds and datetimes, too."""

    kind = "any_"
    abilities = frozenset({Ability.CALCULATE})
    sets_parts = True
    is_free = True
    default_error_messages = {"invalid": "Not a valid value."}

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


def _is_like(choice: object, value: Any) -> bool:
    if isinstance(choice, bool):
        return isinstance(value, bool)
    if isinstance(choice, str):
        return isinstance(value, str) and encodable(value)
    return comparable_number(value) is not None


def _encoded_bytes(choice: object) -> int:
    return TEXT + len(choice.encode()) if isinstance(choice, str) else NUMBER

"""The fields of a listing's filter and count, resolved when first used."""

from __future__ import annotations

from typing import Any

from marshmallow import ValidationError
from marshmallow import fields as mm
from marshmallow.fields import Field

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.odm.listings.conditions import conditions_of
from gatewayfw.odm.listings.declaration import Declaration
from gatewayfw.odm.listings.resolution import resolve, resolved
from gatewayfw.schemas import Schemas
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.quick import Test

#: What of a field's description also holds for what it is compared with: its type, not its bounds.
_COMPARED = ("kind", "of", "format", "choices", "places", "description")


class FilterField(KindField, mm.Raw, own=True):
    """What a client filters by: names with a value, or an object of operators.

    It is handed on as it was sent, in both modes; `Listing.page` takes it so.
    """

    kind = "filter"

    def __init__(self, schemas: Schemas, declaration: Declaration) -> None:
        super().__init__()
        self.schemas = schemas
        self.declaration = declaration

    def takes(self, value: Any) -> bool:
        """Tell whether a filter is right."""
        try:
            self._judge(value)
        except Refused:
            return False
        return True

    def description(self) -> Description:
        found = resolve(self.schemas, self.declaration)
        fields = {
            name: {
                "value": _describe_operand(one.field),
                "operators": list(one.operators),
                **({"list": True} if one.is_list else {}),
            }
            for name, one in found.filters.items()
        }
        return {"kind": "filter", "fields": fields}

    def _judge(self, value: Any) -> None:
        conditions_of(resolved(self.schemas, self.declaration), value, self.schemas.settings.max_ids, "")

    def _test(self) -> Test | None:
        return self.takes

    def _store_operand(self, value: Any) -> Any:
        return value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        try:
            self._judge(value)
        except Refused as refused:
            raise ValidationError(_nested(refused.errors)) from None
        return value


def _describe_operand(field: Field[Any]) -> Description:
    described = describe(field)
    whole = {"whole": True} if described["kind"] == "decimal" else {}
    return {**{name: described[name] for name in _COMPARED if name in described}, **whole, "presence": "required"}


def _nested(errors: dict[str, list[str]]) -> Any:
    """Return errors by dotted path as marshmallow nests them."""
    return errors[""] if list(errors) == [""] else dict(errors)


class CountField(KindField, mm.Raw, own=True):
    """The number of matching rows; beyond ``most`` it is ``{"atLeast": most}``.

    Results have it, input does not.
    """

    kind = "count"

    def __init__(self, most: int) -> None:
        super().__init__(required=True)
        self.most = most

    def description(self) -> Description:
        return {"kind": "count", "most": self.most}

    def _test(self) -> Test | None:
        return None

    def _store_operand(self, value: Any) -> Any:
        return value

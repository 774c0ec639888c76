"""Fields of a user's own that tell what they were called with."""

from __future__ import annotations

import copy
from typing import Any

from marshmallow import ValidationError
from marshmallow import fields as mm


class Placed(mm.Raw):
    """Loads and dumps a value as what the field was given."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return value, attr, data

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value, attr, obj


class Refusing(mm.Raw):
    """Refuses each value, and counts them."""

    asked = 0

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.asked += 1
        raise ValidationError("No.")


class Alone(mm.Raw):
    """Loads a copy, and dumps a value as it is where no place is told."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return copy.copy(value)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value if (attr, obj) == (None, {}) else None

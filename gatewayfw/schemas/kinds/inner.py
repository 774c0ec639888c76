"""What kinds of one inner kind share: lists and mappings."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from marshmallow import fields as mm

from gatewayfw.schemas.kinds.base import KindField


class InnerField(KindField):
    """A kind whose values hold values of one other kind, ``inner``."""

    inner: mm.Field[Any]

    def with_parts(self, parts: Sequence[mm.Field[Any]]) -> mm.Field[Any]:
        changed: Any = copy.copy(self)
        (changed.inner,) = parts
        return changed  # type: ignore[no-any-return]  # a copy of the field

    @property
    def dumps_itself(self) -> bool:  # type: ignore[override]  # by what is inside
        """Whether all inner values dump as themselves."""
        return getattr(self.inner, "dumps_itself", False)

"""The settings' maxima for texts and lists of ids that state none.

A kind is made before there is a gateway with settings. So the maxima go on copies, when a validator or a
model is compiled. Marshmallow's own fields and Schemas keep their own limits.
"""

from __future__ import annotations

from operator import is_not
from typing import Any

from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds import Constant, Maxima, as_kind
from gatewayfw.schemas.kinds.checks import first_message


def put_maxima(field: mm.Field[Any], maxima: Maxima, where: str, path: str = "") -> mm.Field[Any]:
    """Return a copy of a field with a maximum on each text and list of ids in it.

    Returns the field itself where nothing changes. Where one states a minimum above the maximum, that
    minimum is its maximum, too.

    Raises:
        DefinitionError: a text's own ``size`` is above ``maxima.stated``, or a default is longer than
            allowed. The message starts with ``where`` and names the ``path``.
    """
    kind = as_kind(field)
    if parts := kind.parts(path):
        inside = [put_maxima(inner, maxima, where, below) for below, inner in parts]
        if any(map(is_not, inside, (old for _, old in parts))):
            kind = as_kind(kind.with_parts(inside))
    try:
        changed = kind.bound(maxima)
        if changed is not field:
            _check_default(changed)
    except DefinitionError as error:
        raise DefinitionError(f"{where}, field {path!r}: {error.message}") from None
    return changed


def _check_default(field: mm.Field[Any]) -> None:
    """Refuse a constant default above the new maximum."""
    if isinstance(field.load_default, Constant):
        try:
            field.deserialize(field.load_default())
        except ValidationError as error:
            raise DefinitionError(f"it refuses its default: {first_message(error.messages)}") from None

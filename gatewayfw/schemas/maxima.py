"""The settings' maxima for texts, binary data and lists of ids that state none.

A kind is made before there is a gateway with settings. So the maxima go on copies, when a validator or a
model is compiled. Marshmallow's own fields and Schemas keep their own limits.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds import Constant
from gatewayfw.schemas.kinds.checks import first_message, length_check, length_checks, lengths, maximum_checks
from gatewayfw.schemas.kinds.containers import ArrayField
from gatewayfw.schemas.kinds.foreign import change_parts
from gatewayfw.schemas.kinds.ids_and_dates import BinaryField, ObjectIdField
from gatewayfw.schemas.kinds.text import EmailField, StringField


@dataclass(frozen=True)
class Maxima:
    """The longest text and list of ids where the kind states no maximum.

    Attributes:
        text: most characters of a text.
        stated: most characters that a kind may state itself.
        ids: most ids in a list; None for any number.
    """

    text: int
    stated: int
    ids: int | None = None


def put_maxima(field: mm.Field[Any], maxima: Maxima, where: str, path: str = "") -> mm.Field[Any]:
    """Return a copy of a field with a maximum on each text and list of ids in it.

    Returns the field itself where nothing changes. Where one states a minimum above the maximum, that
    minimum is its maximum, too.

    Raises:
        DefinitionError: a text's own ``size`` is above ``maxima.stated``, or a default is longer than
            allowed. The message starts with ``where`` and names the ``path``.
    """
    inside = change_parts(field, lambda inner, below: put_maxima(inner, maxima, where, below), path)
    try:
        changed = _bound(inside, maxima)
        if changed is not field and isinstance(changed.load_default, Constant):
            changed.deserialize(changed.load_default())
    except DefinitionError as error:
        raise DefinitionError(f"{where}, field {path!r}: {error.message}") from None
    except ValidationError as error:
        reason = f"it refuses its default: {first_message(error.messages)}"
        raise DefinitionError(f"{where}, field {path!r}: {reason}") from None
    return changed


def _bound(field: mm.Field[Any], maxima: Maxima) -> mm.Field[Any]:
    if isinstance(field, ArrayField):
        has_ids = maxima.ids is not None and isinstance(field.inner, ObjectIdField)
        return _with_maximum(field, maxima.ids) if has_ids else field
    if isinstance(field, BinaryField):
        _check_stated(field, maxima.stated // 4 * 3, "bytes that binary data")  # as base64
    elif isinstance(field, StringField) and not isinstance(field, EmailField):
        _check_stated(field, maxima.stated, "characters that a text")
    else:
        return field
    return _with_maximum(field, maxima.text)


def _check_stated(field: mm.Field[Any], most: int, what: str) -> None:
    ends = [end for check in length_checks(field) for end in (check.min, check.max, check.equal) if end is not None]
    if max(ends, default=0) > most:
        raise DefinitionError(
            f"size {max(ends)} is above the {most} {what} in a request may have; "
            "raise the setting 'max_body_text', or state a smaller size"
        )


def _with_maximum(field: Any, most: Any) -> mm.Field[Any]:
    if maximum_checks(field):
        return field  # type: ignore[no-any-return]  # a field
    least = lengths(field)[0]
    most = max(most, least)
    changed = copy.copy(field)
    changed.validators = [length_check(None, most), *field.validators]
    changed.metadata = {**field.metadata, "size": (least or None, most)}
    changed.states_maximum = False
    return changed  # type: ignore[no-any-return]  # a copy of the field

"""The settings' maxima for texts, binary data and lists of ids that state none.

A kind is made before there is a gateway with settings. So the maxima go on copies, when a validator or a
model is compiled. Marshmallow's own fields and Schemas keep their own limits.
"""

import copy
from typing import Any

from marshmallow import ValidationError
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds import Constant
from gatewayfw.schemas.kinds.checks import first_message, length_check, length_checks, lengths, maximum_checks
from gatewayfw.schemas.kinds.containers import ArrayField
from gatewayfw.schemas.kinds.encoded import BinaryField, ObjectIdField
from gatewayfw.schemas.kinds.foreign import change_parts
from gatewayfw.schemas.kinds.text import EmailField, StringField
from gatewayfw.settings import Settings


def put_maxima(
    field: mm.Field[Any], settings: Settings, where: str, path: str = "", *, ids: bool = False
) -> mm.Field[Any]:
    """Return a copy of a field with a maximum on each text in it.

    With ``ids`` lists of ids have one, too. Returns the field itself where nothing changes. Where one states a minimum
    above the maximum, that minimum is its maximum, too.

    Raises:
        DefinitionError: a text's own ``size`` is above ``max_body_text``, or a default is longer than
            allowed. The message starts with ``where`` and names the ``path``.
    """
    inside = change_parts(field, lambda inner, below: put_maxima(inner, settings, where, below, ids=ids), path)
    try:
        changed = _bound(inside, settings, ids)
        if changed is not field and isinstance(changed.load_default, Constant):
            changed.deserialize(changed.load_default())
    except DefinitionError as error:
        raise DefinitionError(f"{where}, field {path!r}: {error.message}") from None
    except ValidationError as error:
        reason = f"it refuses its default: {first_message(error.messages)}"
        raise DefinitionError(f"{where}, field {path!r}: {reason}") from None
    return changed


def _bound(field: mm.Field[Any], settings: Settings, ids: bool) -> mm.Field[Any]:
    if isinstance(field, ArrayField):
        return _with_maximum(field, settings.max_ids) if ids and isinstance(field.inner, ObjectIdField) else field
    if isinstance(field, BinaryField):
        _check_stated(field, settings.max_body_text // 4 * 3, "bytes that binary data")  # as base64
    elif isinstance(field, StringField) and not isinstance(field, EmailField):
        _check_stated(field, settings.max_body_text, "characters that a text")
    else:
        return field
    return _with_maximum(field, settings.max_text)


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

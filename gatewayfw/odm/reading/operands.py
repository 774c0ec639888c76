"""Pure functions that return the stored form of values that filters compare with.

Only the type is checked: a filter may ask for a number beyond a field's range, or a text longer than its
size. Every field may be compared with None. All our choice.
"""

from __future__ import annotations

from typing import Any, final

from marshmallow.fields import Field

from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import as_kind

_ANY: Field[Any] = any_()


@final
class Operators(dict[str, Any]):
    """Operators that the server's code applies to values of any content or keys.

    ``{"$pull": {"marks": Operators({"$gt": 3})}}``, ``{"notes": Operators({"$exists": True})}``.

    Fields of a described kind do not need this class. In others a plain object always counts as a value, because it may
    come from a client, and one with ``$`` in its keys is refused: otherwise ``{"$ne": None}`` in place of a value would
    select or pull them all. Our choice.
    """


def stored_operand(field: Field[Any] | None, value: Any, path: str) -> Any:
    """Return the stored form of a compared value; ``field`` None takes any value.

    A list is compared with a whole list, or with one element if elements are lists; anything
    else is compared with each element. A value that a user's marshmallow field refuses is compared as it is.

    Raises:
        ValidationError: the value cannot be this field's; the error is at ``path``.
    """
    return as_kind(_ANY if field is None else field).operand(value, path)

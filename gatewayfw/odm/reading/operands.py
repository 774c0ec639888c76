"""What a field may be compared with in a filter, in its stored form. Pure.

Only the type is judged: a number beyond a field's range, or a text longer than its size, is a
fair question. None compares with every field. All our choice.
"""

from __future__ import annotations

from typing import Any, final

from marshmallow.fields import Field

from gatewayfw.schemas.fields import any_
from gatewayfw.schemas.kinds import as_kind

_ANY: Field[Any] = any_()


@final
class Operators(dict[str, Any]):
    """Operators on values of any content or keys, said by code.

    ``{"$pull": {"marks": Operators({"$gt": 3})}}``, ``{"notes": Operators({"$exists": True})}``.

    Values of a described kind need no such word. Of others a plain object is always a value, as it
    may come from a client, and one with ``$`` in its keys is refused: else ``{"$ne": None}`` in
    the place of a value would select or pull them all. Our choice.
    """


def stored_operand(field: Field[Any] | None, value: Any, path: str) -> Any:
    """Return the stored form of a compared value; ``field`` None takes any.

    A list is compared with a whole list, or with one element where elements are lists; anything
    else with each element. What a marshmallow field of the user's refuses is compared as it is.

    Raises:
        ValidationError: the value cannot be this field's; ``path`` says where it stands.
    """
    return as_kind(_ANY if field is None else field).operand(value, path)

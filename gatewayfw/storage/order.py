"""MongoDB's order of values, for sorting in this process, and names of types.

Source: https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/;
https://www.mongodb.com/docs/manual/reference/bson-types/.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from bson import Binary, Code, DatetimeMS, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.binary import UUID_SUBTYPE

from gatewayfw.errors import StorageError
from gatewayfw.storage.terms import Document

_EPOCH, _MILLISECOND = datetime(1970, 1, 1), timedelta(milliseconds=1)
#: The keys of an empty list, which sorts before null, of null, and of not-a-number.
EMPTY, NULL, _NAN = (-1, 0), (0, 0), (1, 0)
#: The names of types by the first part of a key, numbers apart.
_NAMES = {
    **{-2: "minKey", 0: "null", 3: "string", 4: "object", 5: "array", 6: "binData", 7: "objectId", 8: "bool"},
    **{9: "date", 10: "timestamp", 11: "regex", 12: "javascript", 13: "javascriptWithScope", 15: "maxKey"},
}
_NUMBERS = frozenset({"int", "long", "double", "decimal"})
#: All names that ``$type`` may be given; ``number`` stands for several.
TYPE_NAMES = frozenset({*_NAMES.values(), *_NUMBERS, "number"})
#: Why a document with a list of objects is refused.
AMBIGUOUS = "a number in a path is the place of an element and also a field of one"


def order_key(value: Any) -> tuple[int, Any]:
    """Return a key that orders values as MongoDB does.

    The order is null, numbers, texts, objects, lists, binary data, ids, booleans, dates, and what no kind allows.
    """
    if value is None:
        return NULL
    if isinstance(value, str):
        return (3, value) if not isinstance(value, Code) else _rare_key(value)
    if isinstance(value, bool):
        return (8, value)
    if isinstance(value, (int, float)):
        return (2, value) if value == value else _NAN  # noqa: PLR0124  # only not-a-number differs from itself
    if isinstance(value, ObjectId):
        return (7, value.binary)
    if isinstance(value, datetime):
        naive = value if value.tzinfo is None else value.astimezone(UTC).replace(tzinfo=None)
        return (9, (naive - _EPOCH) // _MILLISECOND)
    return _rare_key(value)


def _rare_key(value: Any) -> tuple[int, Any]:
    if isinstance(value, (MinKey, MaxKey)):
        return (-2, 0) if isinstance(value, MinKey) else (15, 0)
    if isinstance(value, Code):
        return (12, str(value)) if value.scope is None else (13, (str(value), order_key(value.scope)))
    if isinstance(value, Regex):
        return (11, (value.pattern, value.flags))
    if isinstance(value, Timestamp):
        return (10, (value.time, value.inc))
    if isinstance(value, DBRef):
        value = value.as_doc()
    if isinstance(value, Decimal128):
        value = value.to_decimal()
    if isinstance(value, Decimal):
        return _NAN if value.is_nan() else (2, value)
    if isinstance(value, UUID):
        return (6, (16, UUID_SUBTYPE, value.bytes))
    if isinstance(value, bytes):
        return (6, (len(value), value.subtype if isinstance(value, Binary) else 0, bytes(value)))
    if isinstance(value, Mapping):
        keys = ((name, order_key(inner)) for name, inner in value.items())
        return (4, tuple((2 if key is _NAN else key[0], name, key) for name, key in keys))
    if isinstance(value, (list, tuple)):
        return (5, tuple(map(order_key, value)))
    return (9, int(value)) if isinstance(value, DatetimeMS) else (14, str(value))


def type_name(value: Any) -> str:
    """Return the name of a stored value's type; empty for what BSON has not."""
    if isinstance(value, (Mapping, list)):  # their keys would take long
        return "object" if isinstance(value, Mapping) else "array"
    rank = order_key(value)[0]
    if rank not in (1, 2):
        return _NAMES.get(rank, "")
    if not isinstance(value, int):
        return "double" if isinstance(value, float) else "decimal"
    return "int" if -(2**31) <= value < 2**31 and not isinstance(value, Int64) else "long"


def spread(names: str | Sequence[str]) -> frozenset[str]:
    """Return the names of types that one name or several stand for."""
    given = {names} if isinstance(names, str) else set(names)
    return frozenset(given | _NUMBERS if "number" in given else given)


def is_place(name: str) -> bool:
    """Tell whether a part of a path is the place of an element in a list, too.

    With a leading zero it is none, but to updates.
    """
    return is_number(name) and (name == "0" or name[0] != "0")


def is_number(name: str) -> bool:
    """Tell whether a part of a path has digits only, those of ASCII."""
    return name.isascii() and name.isdigit()


def rank(documents: Iterable[Document], sort: Sequence[tuple[str, int]]) -> list[Document]:
    """Return whole documents in the order of a sort; ties keep their order.

    Of a list the lowest element counts or, in descending order, the highest.

    Raises:
        StorageError: a number in a path is the place of an element and also a field of one.
    """
    ranked = list(documents)
    for path, direction in reversed(sort):
        names, best = path.split("."), max if direction == -1 else min
        ranked.sort(key=lambda document: best(keys_at(document, names), default=NULL), reverse=direction == -1)
    return ranked


def keys_at(value: Any, names: Sequence[str]) -> Iterator[tuple[int, Any]]:
    """Yield the keys of the values at a path; each element of a list counts.

    A list at a place in a list, which the path names last, counts as a whole.

    Raises:
        StorageError: as for `rank`.
    """
    if not names:
        if isinstance(value, list):
            yield from map(order_key, value) if value else (EMPTY,)
        else:
            yield order_key(value)
    elif isinstance(value, list):
        if is_place(names[0]) and int(names[0]) < len(value):
            if any(isinstance(inner, Mapping) and names[0] in inner for inner in value):
                raise StorageError(AMBIGUOUS)
            inner = value[int(names[0])]
            yield from keys_at(inner, names[1:]) if names[1:] or inner == [] else (order_key(inner),)
            return
        for inner in value:
            yield from keys_at(inner, names) if isinstance(inner, Mapping) else (NULL,)
    elif isinstance(value, Mapping) and names[0] in value:
        yield from keys_at(value[names[0]], names[1:])
    else:
        yield NULL

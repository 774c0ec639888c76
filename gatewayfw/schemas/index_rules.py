"""What MongoDB 6 refuses of an index, told when the model is defined. Pure.

MongoDB would leave out such an index, and only the log would tell. Compared with MongoDB 6.
Source: https://www.mongodb.com/docs/manual/core/index-partial/.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

import bson
from bson.errors import BSONError

from gatewayfw.schemas.values import MOST_NAMES, encodable

#: The most bytes of the fields of an index, as BSON.
_MOST_BYTES = 2_048
#: The most fields of one index, and the most seconds until a document expires.
_MOST_KEYS, _MOST_SECONDS = 32, 2**31 - 1
#: The operators of a partial filter on one field. Memory takes only names for ``$type``.
_OPERATORS = ("$eq", "$gt", "$gte", "$lt", "$lte", "$in", "$exists", "$type")
_LOCALE = re.compile(r"simple|[a-z]{2,3}(?:_[A-Z][A-Za-z]*)*(?:@collation=[a-z]+)?")


_COLLATION = (
    *("locale", "strength", "caseLevel", "caseFirst", "numericOrdering"),
    *("alternate", "maxVariable", "backwards", "normalization"),
)


def _is_index_name(value: object) -> bool:
    return isinstance(value, str) and value not in ("", "*", "_id_") and "\0" not in value and encodable(value)


def _is_collation(value: object) -> bool:
    if not isinstance(value, Mapping) or not value.keys() <= set(_COLLATION):
        return False
    return isinstance(value.get("locale"), str) and _LOCALE.fullmatch(value["locale"]) is not None


#: Options of an index: what each must be, and the function that checks it.
INDEX_OPTIONS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {
    "name": ("a name", _is_index_name),
    **dict.fromkeys(("unique", "sparse"), ("true or false", lambda value: isinstance(value, bool))),
    "expireAfterSeconds": (
        f"an integer in 0..{_MOST_SECONDS}",
        lambda value: type(value) is int and 0 <= value <= _MOST_SECONDS,
    ),
    "partialFilterExpression": ("an object", lambda value: isinstance(value, Mapping)),
    "collation": ("an object with locale, of what MongoDB takes", _is_collation),
}


def default_name(keys: Mapping[str, int]) -> str:
    """Return the name that MongoDB gives to an index."""
    return "_".join(f"{path}_{direction}" for path, direction in keys.items())


def find_index_fault(keys: Mapping[str, int], options: Mapping[str, Any]) -> str | None:
    """Return what is wrong with an index whose parts are right; None for nothing."""
    if len(keys) > _MOST_KEYS:
        return f"indexSpec has {len(keys)} fields, more than the {_MOST_KEYS} of an index"
    if len(bson.encode(keys)) > _MOST_BYTES:
        return f"the names in indexSpec have more than {_MOST_BYTES} bytes"
    if options.get("name", "").endswith(("_1", "_-1")) and options["name"] != default_name(keys):
        return f"the name {options['name']!r} is one that MongoDB gives to an index on other keys"
    if list(keys) == ["_id"] and (options or keys["_id"] != 1):
        return "MongoDB has the index on _id alone, ascending and without options"
    if len(keys) > 1 and "expireAfterSeconds" in options:
        return "expireAfterSeconds takes an index on one field"
    if "partialFilterExpression" not in options:
        return None
    if options.get("sparse"):
        return "sparse and partialFilterExpression do not go together"
    try:
        bson.encode(options["partialFilterExpression"])
        for key, condition in options["partialFilterExpression"].items():
            _check_condition(key, condition)
    except (BSONError, OverflowError, ValueError) as error:
        return f"partialFilterExpression: {error}"
    return None


def _check_condition(key: str, condition: Any) -> None:
    if not key:
        raise ValueError("keys must not be empty")
    if key.startswith("$"):
        raise ValueError(f"{key} is not allowed there")
    if len(key.split(".")) > MOST_NAMES:
        raise ValueError(f"a path has more than {MOST_NAMES} names")
    for name, operand in condition.items() if _has_operators(condition) else ():
        if name not in _OPERATORS:
            problem = f"{name} is not allowed there" if name.startswith("$") else "mixes operators and fields"
            raise ValueError(f"{key}: {problem}")
        if name == "$exists" and operand is not True:
            raise ValueError(f"{key}: $exists takes true")
        if name == "$in" and (not isinstance(operand, (list, tuple)) or any(map(_has_operators, operand))):
            raise ValueError(f"{key}: $in takes a list of values")


def _has_operators(value: Any) -> bool:
    return isinstance(value, Mapping) and any(key.startswith("$") for key in value)

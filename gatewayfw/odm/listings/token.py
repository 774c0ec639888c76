"""Tokens: where the next page of a listing begins. Pure.

A token is base64 of BSON, so that values keep their types. It names the listing, filter and sort it
was made for, and the sort value and id of the last row shown. It is not signed: whoever invents one
chooses where to begin in what they may read anyway. All our choice.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import bson
from bson import Binary, Decimal128, Int64, ObjectId
from bson.errors import BSONError

from gatewayfw.odm.listings.declaration import Declaration

#: Characters of a token, at most: a sort value of 1,024 bytes takes about 1,500.
MOST_CHARACTERS = 2_048
_FOREIGN = "no token of this list"
_KEYS = ["d", "v", "i"]
#: The exact types of stored sort values; of the subclasses that BSON has, such as code, none is one.
_SCALARS = frozenset({str, int, float, bool, bytes, datetime, Binary, Decimal128, Int64, ObjectId, type(None)})


def digest(declaration: Declaration, conditions: Sequence[Any], sort: str) -> bytes:
    """Return eight bytes that stand for a listing with a client's filter and sort."""
    parts = {"l": declaration.text, "c": list(conditions), "s": sort}
    return blake2b(bson.encode(parts), digest_size=8).digest()


def write_token(about: bytes, value: Any, id_: ObjectId) -> str:
    """Return the token of the page after a row.

    ``about`` is a `digest`, ``value`` the row's stored sort value.

    Raises:
        ValueError: no page can begin after these, or only by a longer token.
    """
    is_ordered = type(value) in _SCALARS and value == value  # not a number comes after nothing
    if not is_ordered or type(id_) is not ObjectId:
        raise ValueError(_FOREIGN)
    token = urlsafe_b64encode(bson.encode({"d": about, "v": value, "i": id_})).decode().rstrip("=")
    if len(token) > MOST_CHARACTERS:
        raise ValueError(_FOREIGN)
    return token


def read_token(token: str, about: bytes) -> tuple[Any, ObjectId]:
    """Return the sort value and the id that a token holds.

    Raises:
        ValueError: it is none of ours, or of another listing, filter or sort.
    """
    found = _decoded(token) if len(token) <= MOST_CHARACTERS else {}
    if list(found) != _KEYS or found["d"] != about or write_token(about, found["v"], found["i"]) != token:
        raise ValueError(_FOREIGN)
    return found["v"], found["i"]


def _decoded(token: str) -> dict[str, Any]:
    try:
        return bson.decode(urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    except (BSONError, ArithmeticError, ValueError) as error:
        raise ValueError(_FOREIGN) from error

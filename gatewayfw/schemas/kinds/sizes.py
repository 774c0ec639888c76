"""How many bytes values take in BSON: https://bsonspec.org."""

from collections.abc import Iterable

#: Stands for "no maximum"; sums and products of it are never smaller.
ENDLESS = 1 << 62
#: The most bytes of a character in UTF-8; the bytes of an ObjectId, of a number or date, and of a Decimal128.
LETTER, ID, NUMBER, DECIMAL = 4, 12, 8, 16
#: Bytes of an empty document or list, and around a text: its length and its end.
DOCUMENT, TEXT = 5, 5
#: The most bytes of a day or a time as text.
MOMENT = TEXT + 16
#: Bytes around binary data: its length and its subtype.
BINARY = 5
UUID = BINARY + 16
#: Bytes of an element besides its name and value: the type, and the end of the name.
ELEMENT = 2


def element_bytes(name: str, value: int) -> int:
    """Return the bytes of one field: its name and a value of ``value`` bytes."""
    return ELEMENT + len(name.encode()) + value


def list_bytes(count: int, value: int) -> int:
    """Return the bytes of a list: a document whose names are the numbers from 0."""
    digits: int = count + sum(max(0, count - 10**power) for power in range(1, len(str(count))))
    return DOCUMENT + count * (ELEMENT + value) + digits


def choice_bytes(choices: Iterable[object]) -> int:
    """Return the most bytes of some texts and numbers."""
    return max((TEXT + len(one.encode()) if isinstance(one, str) else NUMBER for one in choices), default=0)

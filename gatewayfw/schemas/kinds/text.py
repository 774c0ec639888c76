"""Texts, e-mail addresses and web addresses, and choices, which mostly are texts."""

import re
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.schemas.kinds.base import Description, KindField
from gatewayfw.schemas.kinds.checks import FullMatch, choices, described_exceptions, described_lengths, lengths
from gatewayfw.schemas.kinds.numbers import comparable_number
from gatewayfw.schemas.kinds.quick import INFINITY, Test
from gatewayfw.schemas.kinds.sizes import ENDLESS, LETTER, TEXT, choice_bytes
from gatewayfw.schemas.values import encodable, plain

#: Bytes of UTF-8; no address is longer. Source: RFC 5321, section 4.5.3.1; RFC 3696, erratum 1690.
LONGEST_EMAIL = 254


class StringField(KindField, mm.String, own=True):
    """A str without lone surrogates, which UTF-8 cannot carry.

    Its checks run one after the other until one refuses. A pattern comes after the lengths, because it
    may take long on a long text.
    """

    kind = "string"
    sorts = True
    is_text = True
    default_error_messages = {"invalid": messages.NO_TEXT}
    tested: tuple[type, ...] = (validate.Length,)  # with the type in one test, since nearly every text has a maximum

    def _validate(self, value: Any) -> None:
        for check in self.validators:
            check(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not encodable(value):
            raise self.make_error("invalid")
        return value

    def _test(self) -> Test | None:
        least, most = lengths(self)
        end = INFINITY if most is None else most
        return lambda value: type(value) is str and least <= len(value) <= end and (value.isascii() or encodable(value))

    def _store_operand(self, value: Any) -> Any:
        return value if isinstance(value, str) and encodable(value) else None

    @property
    def largest(self) -> int:  # type: ignore[override]  # by what it states
        return largest_text(self)

    def description(self) -> Description:
        return described_text(self)


class EmailField(StringField, own=True):
    """A string of at most 254 bytes that passes marshmallow's Email check.

    No address is longer, and checking a long text is slow.
    """

    kind = "email"
    largest = TEXT + LONGEST_EMAIL
    tested = ()

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.encode()) > LONGEST_EMAIL:
            raise ValidationError(messages.NO_EMAIL)
        return text

    def _test(self) -> Test | None:
        return _is_address

    def description(self) -> Description:
        return {"kind": "email"}


class UrlField(StringField, own=True):
    """An http or https address, such as ``https://example.org/a?b=c``."""

    kind = "url"

    def description(self) -> Description:
        return described_text(self, format="uri")


class EnumsField(KindField, mm.Raw, own=True):
    """One of the given values, by value and type."""

    kind = "enums"
    sorts = True
    default_error_messages = {"invalid": messages.NO_CHOICE}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        choices = self.metadata["choices"]
        if not any(type(choice) is type(value) and choice == value for choice in choices):
            raise self.make_error("invalid", choices=list(choices))
        return value

    def _test(self) -> Test | None:
        choices = self.metadata["choices"]
        types = set(map(type, choices))
        if types == {str}:
            texts = frozenset(choices)
            return lambda value: type(value) is str and value in texts
        if not types <= {str, int, float, bool} or not all(map(plain, choices)):
            return None
        known = {(type(choice), choice) for choice in choices}
        return lambda value: type(value) in types and (type(value), value) in known

    def _store_operand(self, value: Any) -> Any:
        return value if any(_is_like(choice, value) for choice in self.metadata["choices"]) else None

    @property
    def largest(self) -> int:  # type: ignore[override]  # by its choices
        return choice_bytes(self.metadata["choices"])

    def description(self) -> Description:
        return {"kind": "enums", "choices": list(self.metadata["choices"])}


def described_text(field: mm.Field[Any], **more: Any) -> Description:
    """Return the description of a text: its lengths and its pattern, or its choices."""
    known = choices(field)
    if known is not None:
        return {"kind": "enums", "choices": known}
    described: Description = {"kind": "string", **described_lengths(field, "minLength", "maxLength"), **more}
    described |= described_exceptions(field)
    if not getattr(field, "states_maximum", True):
        described["sized"] = False
    for check in field.validators:
        # Marshmallow's own pattern check matches only the beginning of the text; UNICODE is set by itself.
        if isinstance(check, FullMatch) and not check.regex.flags & ~re.UNICODE:
            described["pattern"] = check.regex.pattern
    return described


def largest_text(field: mm.Field[Any]) -> int:
    """Return the most bytes of a text that a field allows."""
    known, most = choices(field), lengths(field)[1]
    if known is not None:
        return choice_bytes(known)
    return ENDLESS if most is None else TEXT + most * LETTER


def _is_address(value: Any) -> bool:
    if type(value) is not str or not (value.isascii() or encodable(value)):
        return False
    return len(value.encode()) <= LONGEST_EMAIL


def _is_like(choice: object, value: Any) -> bool:
    if isinstance(choice, bool):
        return isinstance(value, bool)
    if isinstance(choice, str):
        return isinstance(value, str) and encodable(value)
    return comparable_number(value) is not None

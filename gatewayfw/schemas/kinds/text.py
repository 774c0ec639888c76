"""Texts, e-mail addresses and web addresses."""

from __future__ import annotations

import copy
import re
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas.kinds.base import Description, KindField, Maxima
from gatewayfw.schemas.kinds.checks import FullMatch, choices, described_lengths, length_checks, lengths, maximum_checks
from gatewayfw.schemas.kinds.quick import INFINITY, Purpose, Test
from gatewayfw.schemas.kinds.sizes import ENDLESS, LETTER, TEXT
from gatewayfw.schemas.values import encodable

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

    def _validate(self, value: Any) -> None:
        for check in self.validators:
            check(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not encodable(value):
            raise self.make_error("invalid")
        return value

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        """Return one test of type and lengths, since nearly every text has a maximum."""
        least, most = lengths(self)
        end = INFINITY if most is None else most
        return [
            lambda value: type(value) is str and least <= len(value) <= end and (value.isascii() or encodable(value))
        ]

    def _checks_beside(self) -> list[Any]:
        return [check for check in self.validators if type(check) is not validate.Length]

    def _store_operand(self, value: Any) -> Any:
        return value if isinstance(value, str) and encodable(value) else None

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        check_stated(self, maxima.stated, "characters that a text")
        return with_maximum(self, maxima.text)

    def largest(self) -> int:
        most = lengths(self)[1]
        return ENDLESS if most is None else TEXT + most * LETTER

    def description(self) -> Description:
        return described_text(self) if self.states_maximum else described_text(self, sized=False)


class EmailField(StringField, own=True):
    """A string of at most 254 bytes that passes marshmallow's Email check.

    No address is longer, and checking a long text is slow.
    """

    kind = "email"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.encode()) > LONGEST_EMAIL:
            raise ValidationError(validate.Email.default_message)
        return text

    def _tests(self, purpose: Purpose) -> list[Test] | None:
        return [_is_address]

    def _checks_beside(self) -> list[Any]:
        return list(self.validators)

    def bound(self, maxima: Maxima) -> mm.Field[Any]:
        return self

    def largest(self) -> int:
        return TEXT + LONGEST_EMAIL

    def description(self) -> Description:
        return {"kind": "email"}


class UrlField(StringField, own=True):
    """An http or https address, such as ``https://example.org/a?b=c``."""

    kind = "url"

    def description(self) -> Description:
        more = {} if self.states_maximum else {"sized": False}
        return described_text(self, format="uri", **more)


def described_text(field: mm.Field[Any], **more: Any) -> Description:
    """Return the description of a text: its lengths and its pattern, or its choices."""
    known = choices(field)
    if known is not None:
        return {"kind": "enums", "choices": known}
    described: Description = {"kind": "string", **described_lengths(field, "minLength", "maxLength"), **more}
    for check in field.validators:
        # Marshmallow's own pattern check matches only the beginning of the text; UNICODE is set by itself.
        if isinstance(check, FullMatch) and not check.regex.flags & ~re.UNICODE:
            described["pattern"] = check.regex.pattern
    return described


def check_stated(field: mm.Field[Any], most: int, what: str) -> None:
    """Check that a field states no size larger than a request may hold.

    ``what`` names the unit and what it measures, for the message.

    Raises:
        DefinitionError: the stated size is larger.
    """
    ends = [end for check in length_checks(field) for end in (check.min, check.max, check.equal) if end is not None]
    if max(ends, default=0) > most:
        raise DefinitionError(
            f"size {max(ends)} is above the {most} {what} in a request may have; "
            "raise the setting 'max_body_text', or state a smaller size"
        )


def with_maximum(field: Any, most: int) -> mm.Field[Any]:
    """Return a text or list with this maximum, unless it states its own.

    Where it states a minimum above this maximum, that minimum is its maximum, too.
    """
    if maximum_checks(field):
        return field  # type: ignore[no-any-return]  # a field
    least = lengths(field)[0]
    most = max(most, least)
    changed = copy.copy(field)
    changed.validators = [validate.Length(max=most), *field.validators]
    changed.metadata = {**field.metadata, "size": (least or None, most)}
    changed.states_maximum = False
    return changed  # type: ignore[no-any-return]  # a copy of the field


def _is_address(value: Any) -> bool:
    if type(value) is not str or not (value.isascii() or encodable(value)):
        return False
    return len(value.encode()) <= LONGEST_EMAIL

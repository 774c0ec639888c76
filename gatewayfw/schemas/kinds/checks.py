"""What a field refuses: lengths, ranges, choices, and values that do not load."""

import copy
from collections.abc import Callable, Iterable, Mapping
from enum import Flag
from functools import partial
from typing import Any

from marshmallow import ValidationError, validate
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.messages import KNOWN, Text


class FullMatch(validate.Regexp):
    """A pattern that the whole value must match."""

    default_message = messages.NO_MATCH

    def __call__(self, value: Any) -> Any:
        if self.regex.fullmatch(value) is None:
            raise ValidationError(self.error)
        return value


def length_check(least: int | None, most: int | None) -> validate.Length:
    """Return the check of a length; the bounds are inclusive, None for an open end."""
    text = messages.TOO_LONG if least is None else messages.TOO_SHORT if most is None else messages.NO_LENGTH_BETWEEN
    return validate.Length(least, most, error=text)


def range_check(least: Any, most: Any) -> validate.Range:
    """Return the check of a number; the bounds are inclusive, None for an open end."""
    text = messages.TOO_GREAT if least is None else messages.TOO_SMALL if most is None else messages.NO_NUMBER_BETWEEN
    return validate.Range(least, most, error=text)


def length_checks(field: mm.Field[Any]) -> list[validate.Length]:
    """Return the length checks of a field."""
    return [check for check in field.validators if isinstance(check, validate.Length)]


def lengths(field: mm.Field[Any]) -> tuple[int, int | None]:
    """Return the least and greatest length that a field allows; None for no greatest."""
    least, most = 0, None
    for check in length_checks(field):
        low, high = (check.min, check.max) if check.equal is None else (check.equal, check.equal)
        least = max(least, low or 0)
        most = high if most is None else most if high is None else min(most, high)
    return least, most


def maximum_checks(field: mm.Field[Any]) -> dict[int, validate.Length]:
    """Return the checks that bound the length, keyed by the greatest length allowed."""
    ends = ((check.max if check.equal is None else check.equal, check) for check in length_checks(field))
    return {end: check for end, check in ends if end is not None}


def described_lengths(field: mm.Field[Any], least: str, most: str) -> dict[str, Any]:
    """Return the least and greatest length under two names, without absent bounds."""
    low, high = lengths(field)
    return {**({least: low} if low else {}), **({} if high is None else {most: high})}


def described_range(field: mm.Field[Any]) -> dict[str, Any]:
    """Return a field's ``minimum`` and ``maximum``, or the bounds that it excludes."""
    found: dict[str, Any] = {}
    for check in field.validators:
        if isinstance(check, validate.Range):
            low = "minimum" if check.min_inclusive else "exclusiveMinimum"
            high = "maximum" if check.max_inclusive else "exclusiveMaximum"
            found |= {name: end for name, end in ((low, check.min), (high, check.max)) if end is not None}
    return found


def choices(field: mm.Field[Any]) -> list[Any] | None:
    """Return the values that a field's one choice check allows; else None."""
    found = [check.choices for check in field.validators if type(check) is validate.OneOf]
    found += [[check.comparable] for check in field.validators if type(check) is validate.Equal]
    return list(found[0]) if len(found) == 1 and all(map(is_scalar, found[0])) else None


def described_exceptions(field: mm.Field[Any]) -> dict[str, Any]:
    """Return the values that a field refuses, as ``noneOf``; empty for none."""
    found = [one for check in field.validators if type(check) is validate.NoneOf for one in check.iterable]
    return {"noneOf": found} if found and all(map(is_scalar, found)) else {}


def is_scalar(value: object) -> bool:
    """Tell whether JSON has a literal for a value: text or a number."""
    return isinstance(value, (str, int, float))


def first_message(texts: Any) -> str:
    """Return the first message of a marshmallow error."""
    while isinstance(texts, (dict, list)):
        texts = next(iter(texts.values() if isinstance(texts, dict) else texts), messages.INVALID)
    return str(texts)


def plain_message(field: mm.Field[Any] | None, name: str, default: str) -> str:
    """Return a field's own message unless it is formatted with values."""
    text = default if field is None else field.error_messages.get(name, default)
    return text if isinstance(text, str) and "{" not in text else default


def load_part(field: mm.Field[Any], value: Any, *place: Any) -> Any:
    """Return what a field loads, maybe with its name and the object it is in.

    Raises:
        marshmallow.ValidationError: the field refuses it. Some of marshmallow's raise another error for
            moments at the ends of time.
    """
    try:
        return field.deserialize(value, *place)
    except OverflowError:
        raise ValidationError(messages.INVALID) from None


class Parts(ValidationError):
    """What is wrong with the parts of an object or a list.

    Attributes:
        parts: the errors by key or index.
        loaded: the loaded values of the other parts, by key or index.
    """

    def __init__(self, parts: Mapping[Any, ValidationError], loaded: Mapping[Any, Any]) -> None:
        super().__init__({key: error.messages for key, error in parts.items()})
        self.parts = parts
        self.loaded = loaded


def change_each(entries: Iterable[tuple[Any, Any]], change: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    """Return what ``change`` makes of each item of an object or list, by its key.

    Raises:
        Parts: some are refused; only as many as an error shows, and one more.
    """
    done: dict[Any, Any] = {}
    errors: dict[Any, ValidationError] = {}
    for key, item in entries:
        try:
            done[key] = change(key, item)
        except ValidationError as error:
            errors[key] = error
            if len(errors) > Refused.MOST:
                break
    if errors:
        raise Parts(errors, done)
    return done


def put_codes(field: mm.Field[Any]) -> None:
    """Give the texts of a user's field codes, those of its author included.

    A text that only its author's class knows has none.
    """
    defaults = [vars(cls).get("default_error_messages", {}) for cls in reversed(type(field).__mro__)]
    known = {key: KNOWN[text] for own in defaults for key, text in own.items() if str(text) in KNOWN}
    field.error_messages = {key: coded(text, known.get(key)) for key, text in field.error_messages.items()}
    if isinstance(field, mm.Enum) and isinstance(text := field.error_messages["unknown"], Text):
        choices = [_shown(field, member) for member in field.enum]
        listed = Text(text, "not_a_choice", choices=choices)
        number = Text(text, "wrong_type", expected="integer")
        field.error_messages["unknown"] = number if takes_several(field) else listed
    if isinstance(field, mm.Tuple):
        field.validate_length = _with_code(field.validate_length, field)
    field.validators = [_with_code(check, field) for check in field.validators]


def takes_several(field: mm.Enum[Any]) -> bool:
    """Tell whether a field takes the values of several members together."""
    return issubclass(field.enum, Flag) and bool(field.by_value)


def coded(text: Any, like: Text | None) -> Any:
    """Return a text with the code of another, unless it has one.

    An object or a list becomes a list of its texts: its keys are no parts of the value that is refused.
    """
    if isinstance(text, (dict, list)):
        return [coded(one, like) for one in (text.values() if isinstance(text, dict) else text)]
    is_plain = isinstance(text, (str, int)) and not isinstance(text, Text)
    return Text(str(text), *like.codes, **like.bounds) if is_plain and like is not None else text


def _with_code(check: Any, field: mm.Field[Any]) -> Any:
    row = next((row for kind, row in CHECKS.items() if isinstance(check, kind)), None)
    if row is None or isinstance(check.error, Text):
        return check
    changed = copy.copy(check)
    if isinstance(check, validate.And):
        changed.validators = tuple(_with_code(one, field) for one in check.validators)
    else:
        changed.error = row(check, partial(_shown, getattr(field, "inner", field)))
    return changed


def _shown(field: mm.Field[Any], value: Any) -> Any:
    """Return a bound as JSON: as text what the field cannot dump."""
    try:
        dumped = field._serialize(value, None, None)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        dumped = value
    return dumped if is_scalar(dumped) else str(dumped)


def _between(check: Any, shown: Callable[[Any], Any]) -> Text:
    if getattr(check, "equal", None) is not None:
        return Text(check.error or check.message_equal, "wrong_length")
    below, above, ends = "too_short", "too_long", {}
    if isinstance(check, validate.Range):
        below = "too_small" if check.min_inclusive else "not_greater"
        above = "too_large" if check.max_inclusive else "not_less"
        ends = {"minimum": shown(check.min), "maximum": shown(check.max)}
    codes = [below] * (check.min is not None) + [above] * (check.max is not None)
    own = check.message_all if len(codes) > 1 else check.message_min if check.max is None else check.message_max
    return Text(check.error or own, *(codes or ["invalid"]), **ends)


#: The text of each class of checks, given one and what shows a bound as JSON.
CHECKS: Mapping[type, Callable[[Any, Callable[[Any], Any]], Any]] = {
    validate.And: lambda check, shown: check.error,
    validate.Length: _between,
    validate.Range: _between,
    validate.OneOf: lambda check, shown: Text(check.error, "not_a_choice", choices=list(map(shown, check.choices))),
    validate.NoneOf: lambda check, shown: Text(check.error, "excluded", choices=list(map(shown, check.iterable))),
    validate.Equal: lambda check, shown: Text(check.error, "not_a_choice", choices=[shown(check.comparable)]),
    validate.Regexp: lambda check, shown: Text(check.error, "no_match", pattern=None),
    validate.Email: lambda check, shown: coded(check.error, messages.NO_EMAIL),
    validate.URL: lambda check, shown: coded(check.error, messages.NO_URL),
}

"""The value kinds: functions that return strict marshmallow fields.

Source: specification 8.1; the bounds are our choice.
"""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from marshmallow import Schema, ValidationError, validate
from marshmallow import fields as mm

from gatewayfw import messages
from gatewayfw.errors import DefinitionError
from gatewayfw.messages import Text
from gatewayfw.schemas.definition_types import Kind, Kinds, UntypedDict
from gatewayfw.schemas.exactness import changes
from gatewayfw.schemas.kinds import Constant, KindField
from gatewayfw.schemas.kinds.checks import FullMatch, first_message, length_check, range_check
from gatewayfw.schemas.kinds.containers import AnyField, ArrayField, MappingField, ObjectField
from gatewayfw.schemas.kinds.encoded import BinaryField, DateField, ObjectIdField, UuidField
from gatewayfw.schemas.kinds.file import SIGNATURES, FileField, parse_size
from gatewayfw.schemas.kinds.foreign import SchemaField, adopt, walk
from gatewayfw.schemas.kinds.numbers import MOST_DIGITS, BooleanField, DecimalField, IntegerField, NumberField
from gatewayfw.schemas.kinds.text import EmailField, EnumsField, StringField, UrlField
from gatewayfw.schemas.values import finite_number, plain, storable_key


def string(*, size: Any = None, pattern: str | re.Pattern[str] | None = None) -> mm.Field[Any]:
    """Return the kind of text: ``size`` in characters, ``pattern`` for the whole text.

    ``size`` is an exact number or a pair (least, most), with None for an open end. Without a maximum, acts and models
    take at most ``max_text`` characters (a setting). A maximum above the setting ``max_body_text`` raises a
    DefinitionError when the act or model is defined.
    """
    checks = _size_checks(size)
    if pattern is not None:
        try:
            compiled = re.compile(pattern)
            compiled.fullmatch("")
        except (re.error, TypeError):
            raise DefinitionError("string: pattern must be a regular expression for text") from None
        told = None if compiled.flags & ~re.UNICODE else compiled.pattern
        checks.append(FullMatch(compiled, error=Text(messages.NO_MATCH, "no_match", pattern=told)))
    return StringField(required=True, validate=checks, metadata=_drop_none(size=size, pattern=pattern))


def number(*, minimum: float | None = None, maximum: float | None = None) -> mm.Field[Any]:
    """Return the kind of ints and floats; the bounds are inclusive."""
    checks = _range_checks("number", minimum, maximum, (int, float))
    return NumberField(required=True, validate=checks, metadata=_drop_none(minimum=minimum, maximum=maximum))


def integer(*, minimum: int | None = None, maximum: int | None = None) -> mm.Field[Any]:
    """Return the kind of ints; the bounds are inclusive."""
    checks = _range_checks("integer", minimum, maximum, (int,))
    return IntegerField(required=True, validate=checks, metadata=_drop_none(minimum=minimum, maximum=maximum))


def decimal(*, places: int, minimum: Any = None, maximum: Any = None) -> mm.Field[Any]:
    """Return the kind of exact decimals with fixed ``places``, such as ``"12.50"``.

    `create` gives a `decimal.Decimal`; it takes whole numbers, too, but never floats. The database holds a
    Decimal128 of at most 34 digits. Values with more places are refused, not rounded. The bounds are
    inclusive; give text, whole numbers or decimals.
    """
    if not _is_count(places) or places > MOST_DIGITS:
        raise DefinitionError(f"decimal: places must be a number from 0 to {MOST_DIGITS}")
    field = DecimalField(required=True, metadata=_drop_none(places=places, minimum=minimum, maximum=maximum))
    try:
        least, most = (None if bound is None else field.deserialize(bound) for bound in (minimum, maximum))
    except ValidationError as error:
        raise DefinitionError(f"decimal: minimum and maximum: {first_message(error.messages)}") from None
    if least is not None and most is not None and least > most:
        raise DefinitionError("decimal: minimum is above maximum")
    field.validators = [range_check(least, most)] if (least, most) != (None, None) else []
    return field


def binary(*, size: Any = None) -> mm.Field[Any]:
    """Return the kind of bytes, base64 in JSON; ``size`` in bytes, as for `string`."""
    return BinaryField(required=True, validate=_size_checks(size), metadata=_drop_none(size=size))


def boolean() -> mm.Field[Any]:
    """Return the kind of true or false."""
    return BooleanField(required=True)


def object_(fields: Kinds | None = None) -> mm.Field[Any]:
    """Return the kind of objects with the given fields, or with any keys."""
    if fields is None:
        return ObjectField(None, required=True)
    if not isinstance(fields, Mapping):
        raise DefinitionError(f"object_: expected a mapping of fields, not {type(fields).__name__}")
    return _object_of(fields, "", "")


def array(kind: Kind | UntypedDict, *, size: Any = None) -> mm.Field[Any]:
    """Return the kind of lists of ``kind``; ``size`` as for `string`."""
    inner = as_field(kind, "array")
    return ArrayField(inner, required=True, validate=_size_checks(size), metadata=_drop_none(size=size))


def mapping(kind: Kind | UntypedDict) -> mm.Field[Any]:
    """Return the kind of objects with any keys and values of ``kind``."""
    return MappingField(as_field(kind, "mapping"), required=True)


def nullable(kind: Kind | UntypedDict) -> mm.Field[Any]:
    """Return a copy of ``kind`` that takes null, too, so clients can clear a field."""
    field = copy.copy(as_field(kind, "nullable"))
    field.allow_none = True
    return field


def optional(kind: Kind | UntypedDict) -> mm.Field[Any]:
    """Return a copy of ``kind`` that may be absent, but not null (see `nullable`)."""
    field = copy.copy(as_field(kind, "optional"))
    field.required = False
    return field


def defaulted(kind: Kind | UntypedDict, default: Any) -> mm.Field[Any]:
    """Return a copy of ``kind`` with a default, for mode ``create`` and inserts.

    ``default`` takes the place of a missing value. It is a value, which is copied for each use, or a function that
    makes one. In mode ``assert`` the field must be present.

    Raises:
        DefinitionError: the kind refuses the default, or one of our kinds would have to convert it.
    """
    field = optional(kind)
    if callable(default):
        field.load_default = default
        return field
    try:
        loaded = copy.copy(field).deserialize(default)  # which remembers how, and the field may change yet
    except ValidationError as error:
        raise DefinitionError(f"defaulted: the kind refuses its default: {first_message(error.messages)}") from None
    if isinstance(field, KindField):
        if changes(field, default, loaded):
            raise DefinitionError("defaulted: the kind takes its default only after changing it")
        field.load_default = Constant(default)
    else:  # marshmallow does not copy a default
        field.load_default = Constant(default, optional(kind).deserialize)
    field.metadata = {**field.metadata, "default": default}
    return field


def object_id(*, of: str | None = None) -> mm.Field[Any]:
    """Return the kind of ids: 24 hexadecimal digits; `create` gives an `ObjectId`.

    ``of`` tells clients which model the ids belong to; nothing is looked up.
    """
    if of is not None and not isinstance(of, str):
        raise DefinitionError(f"object_id: of must be the name of a model, not {type(of).__name__}")
    return ObjectIdField(required=True, metadata=_drop_none(of=of))


def described(kind: Kind | UntypedDict, text: str) -> mm.Field[Any]:
    """Return a copy of ``kind`` with a description for clients.

    For a marshmallow field, give ``metadata={"description": text}``. Source: our choice.
    """
    if not isinstance(text, str):
        raise DefinitionError(f"described: the description must be text, not {type(text).__name__}")
    field = copy.copy(as_field(kind, "described"))
    field.metadata = {**field.metadata, "description": text}
    return field


def enums(*choices: Any) -> mm.Field[Any]:
    """Return the kind of one of the given strings, numbers or booleans.

    They may also be given as one list.
    """
    if len(choices) == 1 and isinstance(choices[0], (list, tuple)):
        choices = tuple(choices[0])
    if not choices or not all(isinstance(choice, (str, int, float)) and plain(choice) for choice in choices):
        raise DefinitionError("enums: expected one or more strings, numbers or booleans")
    return EnumsField(required=True, metadata={"choices": tuple(choices)})


def any_() -> mm.Field[Any]:
    """Return the kind of any JSON value."""
    return AnyField(required=True, allow_none=True)


def date() -> mm.Field[Any]:
    """Return the kind of ISO 8601 dates, with or without a time; no offset means UTC.

    `create` gives a naive `datetime` in UTC, in whole milliseconds, as documents hold it.
    """
    return DateField(required=True)


def email() -> mm.Field[Any]:
    """Return the kind of e-mail addresses.

    Case is kept, so two spellings are two addresses: store ``.lower()``.
    """
    return EmailField(required=True, validate=validate.Email(error=messages.NO_EMAIL))


def url() -> mm.Field[Any]:
    """Return the kind of http and https addresses, of at most `max_text` characters."""
    return UrlField(required=True, validate=validate.URL(schemes={"http", "https"}, error=messages.NO_URL))


def uuid() -> mm.Field[Any]:
    """Return the kind of UUIDs: text in JSON, loaded as `uuid.UUID`, stored as binary."""
    return UuidField(required=True)


def file(*, most: int | str, types: Sequence[str] = ()) -> mm.Field[Any]:
    """Return the kind of files that requests bring; `fn` gets an `Upload`.

    ``most`` is the greatest size, in bytes or as text: ``"500kB"``, ``"10MB"`` (kB are 1,000 bytes). ``types`` are the
    media types that the first bytes of the content may have, such as ``["image/png", "image/jpeg"]``, in order of
    preference; without them any content is taken. An act has its files in ``set`` itself; such a request is
    ``multipart/form-data``.

    Raises:
        DefinitionError: ``most`` is not a size, or a type cannot be recognized by the first bytes of a file.
    """
    size = parse_size(most)
    if size is None:
        raise DefinitionError("file: most must be a number of bytes above 0, or text such as '10MB'")
    if isinstance(types, str) or not isinstance(types, (list, tuple, set, frozenset)):
        raise DefinitionError("file: types must be a list of media types")
    listed = tuple(types) if isinstance(types, (list, tuple)) else tuple(sorted(types, key=repr))
    if unknown := [name for name in listed if name not in SIGNATURES]:
        raise DefinitionError(f"file: cannot tell {unknown[0]!r} by its first bytes; known are {', '.join(SIGNATURES)}")
    return FileField(required=True, metadata={"most": size, "types": listed})


class Constructors:
    """The value kinds as methods, for code that has only a gateway at hand."""

    string = staticmethod(string)
    number = staticmethod(number)
    integer = staticmethod(integer)
    decimal = staticmethod(decimal)
    boolean = staticmethod(boolean)
    binary = staticmethod(binary)
    object_ = staticmethod(object_)
    array = staticmethod(array)
    mapping = staticmethod(mapping)
    nullable = staticmethod(nullable)
    optional = staticmethod(optional)
    defaulted = staticmethod(defaulted)
    described = staticmethod(described)
    object_id = staticmethod(object_id)
    enums = staticmethod(enums)
    any_ = staticmethod(any_)
    date = staticmethod(date)
    email = staticmethod(email)
    url = staticmethod(url)
    uuid = staticmethod(uuid)
    file = staticmethod(file)

    # The contract's spellings of the kinds above.
    object = object_
    any = any_
    objectIdValidation = object_id


#: Every value kind by name; ``field.kind`` holds that name, also in copies such as `optional` makes.
KINDS: Mapping[str, Callable[..., mm.Field[Any]]] = MappingProxyType(
    {
        name: kind.__func__
        for name, kind in vars(Constructors).items()
        if isinstance(kind, staticmethod) and kind.__name__ == name
    }
)


def is_kind(value: object) -> bool:
    """Tell whether a value is one of the functions in ``KINDS`` that nobody called."""
    return any(kind is value for kind in KINDS.values())


def as_field(value: Any, where: str, path: str = "") -> mm.Field[Any]:
    """Return the field that a kind, a mapping or a marshmallow object stands for.

    A kind may be given as a function, without calling it.

    Raises:
        DefinitionError: it is none of these; the message starts with ``where`` and names the ``path``.
    """
    if is_kind(value) or (isinstance(value, type) and issubclass(value, mm.Field)):
        try:
            value = value()
        except (TypeError, DefinitionError):
            raise DefinitionError(_say_where(where, path, f"{value.__name__} needs arguments")) from None
    if isinstance(value, mm.Field):
        if value.data_key is not None or value.attribute is not None or value.dump_only:
            problem = "data_key, attribute and dump_only work in a marshmallow Schema only"
            raise DefinitionError(_say_where(where, path, problem))
        return adopt(value)
    if isinstance(value, Schema) or (isinstance(value, type) and issubclass(value, Schema)):
        return SchemaField(value)
    if isinstance(value, Mapping):
        return _object_of(value, where, path)
    expected = "a value kind, a marshmallow field or schema, or a mapping"
    raise DefinitionError(_say_where(where, path, f"expected {expected}, not {type(value).__name__}"))


def _object_of(fields: Mapping[Any, Any], where: str, path: str) -> mm.Field[Any]:
    parsed: dict[str, mm.Field[Any]] = {}
    for name, value in fields.items():
        if not isinstance(name, str):
            whose = where if where or path else "object_"
            raise DefinitionError(_say_where(whose, path, f"the field name {name!r} is not a string"))
        parsed[name] = as_field(value, where, f"{path}.{name}" if path else name)
    return ObjectField(parsed, required=True)


def _say_where(where: str, path: str, problem: str) -> str:
    place = ", ".join(filter(None, [where, path and f"field {path!r}"]))
    return f"{place}: {problem}"


def check_stored_names(field: mm.Field[Any], where: str) -> None:
    """Check that the database can hold the field names inside an object kind.

    Raises:
        DefinitionError: one starts with ``$`` or contains ``.`` or NUL.
    """
    for _, inner in walk(field):
        for name in inner.fields or () if isinstance(inner, ObjectField) else ():
            if not storable_key(name):
                raise DefinitionError(f"{where}: the database cannot hold a field named {name!r}")


def _drop_none(**arguments: Any) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value is not None}


def _size_checks(size: Any) -> list[Any]:
    if size is None:
        return []
    if _is_count(size):
        return [validate.Length(equal=size, error=messages.NO_LENGTH)]
    if isinstance(size, (tuple, list)) and len(size) == 2 and all(end is None or _is_count(end) for end in size):
        least, most = size
        if least is None or most is None or least <= most:
            return [length_check(least, most)] if (least, most) != (None, None) else []
    raise DefinitionError("size must be a number of at least 0, or a pair (least, most)")


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _range_checks(kind: str, minimum: Any, maximum: Any, types: tuple[type, ...]) -> list[Any]:
    for bound in (minimum, maximum):
        if bound is not None and not (finite_number(bound) and isinstance(bound, types)):
            raise DefinitionError(f"{kind}: minimum and maximum must be finite numbers of this kind")
    if minimum is not None and maximum is not None and minimum > maximum:
        raise DefinitionError(f"{kind}: minimum is above maximum")
    return [range_check(minimum, maximum)] if minimum is not None or maximum is not None else []

"""The strict marshmallow fields behind the value kinds.

Loading a field coerces (mode ``create``); where it coerces, the value before and after differ,
and that is how mode ``assert`` sees it (`gatewayfw.schemas.structs`). Loading what was loaded
changes nothing. No message of these fields holds the value.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from bson import ObjectId
from marshmallow import INCLUDE, Schema, ValidationError, missing, utils, validate
from marshmallow import fields as mm

from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas.values import HEX_ID, INTEGER, encodable, finite_number, moment_of, plain, read_number

#: Errors of one object or list after which the rest is not judged.
_MOST = Refused.MOST
#: Bytes of UTF-8; no address is longer. Source: RFC 5321, section 4.5.3.1, as corrected by erratum 1690 of RFC 3696.
LONGEST_EMAIL = 254


class Parts(ValidationError):
    """What is wrong with the parts of an object or a list.

    Attributes:
        parts: the errors by key or index.
        loaded: what the other parts were loaded as, by key or index.
    """

    def __init__(self, parts: Mapping[Any, ValidationError], loaded: Mapping[Any, Any]) -> None:
        super().__init__({key: error.messages for key, error in parts.items()})
        self.parts = parts
        self.loaded = loaded


class Kind:
    """What our fields share: a name, the identity as dump, and defaults that are checked too."""

    kind = ""
    load_default: Any
    #: What `gatewayfw.schemas.kinds.quick` keeps about this field.
    quick: Any = None

    @property
    def dumps_itself(self) -> bool:
        """Whether the dump of a loaded value is that value."""
        return True

    def deserialize(self, value: Any, attr: str | None = None, data: Any = None, **kwargs: Any) -> Any:
        field: Any = self  # a Field beside this class
        if value is not missing and value is not None and not field.pre_load and not field.post_load:
            loaded = field._deserialize(value, attr, data, **kwargs)
            if field.validators:
                field._validate(loaded)
            return loaded
        if value is missing and callable(self.load_default):
            value = self.load_default()
        return super().deserialize(value, attr, data, **kwargs)  # type: ignore[misc]  # of the Field beside it

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return value


class Measured(Kind):
    """What fields share whose values have a length."""

    #: Whether the maximum is one of the definition, not one of a setting.
    states_maximum = True

    def maxima(self) -> dict[int, validate.Length]:
        """Return the checks that refuse a value for being too long, by the greatest length each allows."""
        field: Any = self  # a Field beside this class
        checks = [check for check in field.validators if isinstance(check, validate.Length)]
        ends = [check.max if check.equal is None else check.equal for check in checks]
        return {end: check for end, check in zip(ends, checks, strict=True) if end is not None}


class StringField(Measured, mm.String):
    """A str; a lone surrogate, which no UTF-8 can carry, is refused.

    Its checks are made one after the other until one refuses: a pattern, which may take long on a
    long text, comes after the lengths.
    """

    kind = "string"

    def _validate(self, value: Any) -> None:
        for check in self.validators:
            check(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str) or not encodable(value):
            raise self.make_error("invalid")
        return value


class EmailField(StringField):
    """A string that marshmallow's Email check passes, of 254 bytes at most.

    No address is longer, and the check of a long text is slow.
    """

    kind = "email"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.encode()) > LONGEST_EMAIL:
            raise ValidationError(validate.Email.default_message)
        return text


class NumberField(Kind, mm.Float):
    """An int within 64 bits or a finite float; text that reads as one becomes it."""

    kind = "number"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = read_number(value)
        if not finite_number(value):
            raise self.make_error("invalid")
        return value


class IntegerField(Kind, mm.Integer):
    """An int within 64 bits; integral text and floats become it."""

    kind = "integer"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, str):
            value = int(value) if INTEGER.fullmatch(value) else None
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, float) or not finite_number(value):
            raise self.make_error("invalid")
        return value


class BooleanField(Kind, mm.Boolean):
    """A bool; marshmallow's words for true and false, and 1 and 0, become it."""

    kind = "boolean"

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, (str, int)):
            if value in self.truthy:
                return True
            if value in self.falsy:
                return False
        raise self.make_error("invalid")


class ObjectIdField(Kind, mm.String):
    """24 hexadecimal digits, kept as sent; server code may pass an ObjectId."""

    kind = "object_id"
    default_error_messages = {"invalid": "Not a valid ObjectId (24 hexadecimal digits)."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if isinstance(value, ObjectId) or (isinstance(value, str) and HEX_ID.fullmatch(value)):
            return value
        raise self.make_error("invalid")


class DateField(Kind, mm.String):
    """An ISO 8601 date or date and time, kept as sent; server code may pass a datetime."""

    kind = "date"
    default_error_messages = {"invalid": "Not a valid ISO 8601 date."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if moment_of(value) is None:
            raise self.make_error("invalid")
        return value


class EnumsField(Kind, mm.Raw):
    """One of the given values, by value and type."""

    kind = "enums"
    default_error_messages = {"invalid": "Must be one of: {choices}."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        choices = self.metadata["choices"]
        if not any(type(choice) is type(value) and choice == value for choice in choices):
            raise self.make_error("invalid", choices=", ".join(map(str, choices)))
        return value


class AnyField(Kind, mm.Raw):
    """Any JSON value, null included; server code may pass ObjectIds and datetimes in it."""

    kind = "any_"
    default_error_messages = {"invalid": "Not a valid value."}

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not plain(value):
            raise self.make_error("invalid")
        return value


class ArrayField(Measured, mm.List[Any]):
    """A list whose elements are of one kind, which ``inner`` holds.

    One longer than its maximum is refused before its elements are judged.
    """

    kind = "array"
    #: What surely loads unchanged; see `gatewayfw.schemas.kinds.quick.hastened`.
    takes: Callable[[Any], object] | None = None

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if self.takes is not None and self.takes(value):
            return value
        if not isinstance(value, list):
            raise self.make_error("invalid")
        for most, check in self.maxima().items():
            if len(value) > most:
                check(value)
        loaded: list[Any] = []
        errors: dict[Any, ValidationError] = {}
        for index, item in enumerate(value):
            try:
                loaded.append(self.inner.deserialize(item))
            except ValidationError as error:
                errors[index] = error
                if len(errors) > _MOST:
                    break
        if errors:
            good = (index for index in range(len(value)) if index not in errors)
            raise Parts(errors, dict(zip(good, loaded, strict=False)))
        return value if all(map(operator.is_, loaded, value)) else loaded

    @property
    def dumps_itself(self) -> bool:
        """Whether the dumps of all elements are the elements."""
        return getattr(self.inner, "dumps_itself", False)

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if self.dumps_itself:
            return value
        return [self.inner._serialize(item, attr, obj) for item in value]


class ObjectField(Kind, mm.Dict):
    """An object: with exactly the keys of ``fields``, or with any where that is None."""

    kind = "object_"
    default_error_messages = {"unknown": "Unknown field."}
    #: What surely loads unchanged; see `gatewayfw.schemas.kinds.quick.hastened`.
    takes: Callable[[Any], object] | None = None

    def __init__(self, fields: Mapping[str, mm.Field[Any]] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.fields = None if fields is None else MappingProxyType(dict(fields))

    @property
    def dumps_itself(self) -> bool:
        """Whether the dumps of all values are the values."""
        return all(getattr(field, "dumps_itself", False) for field in (self.fields or {}).values())

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if self.takes is not None and self.takes(value):
            return value
        fields = self.fields
        if not isinstance(value, Mapping) or (fields is None and not plain(value)):
            raise self.make_error("invalid")
        if fields is None:
            return value
        loaded: dict[Any, Any] = {}
        errors: dict[Any, ValidationError] = {}
        changed = False
        for name, field in fields.items():
            sent = value.get(name, missing)
            try:
                item = field.deserialize(sent, name, value)
            except ValidationError as error:
                errors[name] = error
                continue
            changed = changed or item is not sent
            if item is not missing:
                loaded[name] = item
        for key in value:
            if key not in fields and len(errors) <= _MOST:
                errors[key] = self.make_error("unknown")
        if errors:
            raise Parts(errors, loaded)
        return loaded if changed else value

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        if self.fields is None or self.dumps_itself:
            return value
        return {key: self.fields[key]._serialize(item, key, value) for key, item in value.items()}


class SchemaField(mm.Nested):
    """The value a user's marshmallow Schema describes.

    Its own rules hold, ``unknown`` included, and its own messages are shown to clients:
    messages that format ``{input}`` echo values, so give such fields other ``error_messages``.
    """

    kind = "schema"

    def __init__(self, schema: Schema | type[Schema]) -> None:
        super().__init__(schema() if isinstance(schema, type) else schema, required=True)
        # Dumped is what was loaded, nothing else: load_only fields too, no dump_default, and an
        # absent key named "items" is absent, where marshmallow would take dict.items.
        own = self.schema
        own.load_fields = {name: copy.copy(field) for name, field in own.load_fields.items()}
        for field in own.load_fields.values():
            field.dump_default = missing
        own.dump_fields = own.load_fields
        if type(own).get_attribute is Schema.get_attribute:
            own.get_attribute = _own_key  # type: ignore[method-assign]  # our copy, not the user's schema

    def _serialize(  # type: ignore[override]  # Nested and Field of marshmallow 4.4 disagree on a name
        self, value: Any, attr: str | None, obj: Any, **kwargs: Any
    ) -> Any:
        dumped = super()._serialize(value, attr, obj, **kwargs)  # type: ignore[no-untyped-call]  # marshmallow 4.4
        if self.schema.unknown == INCLUDE and isinstance(value, Mapping) and isinstance(dumped, dict):
            known = {field.attribute or name for name, field in self.schema.load_fields.items()}
            dumped.update((key, item) for key, item in value.items() if key not in known)
        return dumped


class FullMatch(validate.Regexp):
    """A pattern that the whole value must match."""

    def __call__(self, value: Any) -> Any:
        if self.regex.fullmatch(value) is None:
            raise ValidationError(self.error)
        return value


def _own_key(obj: Any, attr: str, default: Any) -> Any:
    if isinstance(obj, Mapping) and "." not in attr:
        return obj.get(attr, default)
    return utils.get_value(obj, attr, default)

"""Hypothesis strategies of values that a field takes, made from the field.

They know every value kind of models and the common fields of marshmallow. For any other field, or one with a user's own
check, they draw likely values and keep those that it takes. If it takes hardly any, hypothesis gives up: then the test
needs its own strategy.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC
from decimal import Context, Decimal
from typing import Any, TypeAlias

from hypothesis import strategies as st
from marshmallow import fields as mm
from marshmallow import missing, validate

from gatewayfw.errors import ValidationError
from gatewayfw.schemas import Mode, Schemas, compile_struct
from gatewayfw.schemas.kinds import KindField
from gatewayfw.schemas.kinds.checks import FullMatch, lengths
from gatewayfw.schemas.kinds.numbers import MOST_DIGITS
from gatewayfw.schemas.values import HIGHEST, LOWEST, finite_number

Values = st.SearchStrategy[Any]

_INT64 = (LOWEST, HIGHEST)
#: How much longer than the least a drawn text or list is at most.
_MORE = 8
#: Longest text or list that is drawn piece by piece.
_SHORT = 32
_ENDLESS = 2**31
_CONTEXT = Context(prec=MOST_DIGITS)
_LETTERS = st.characters(codec="utf-8")
WORDS = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=8)
#: Keys that reader and database take: no NUL, no dot, no ``$``.
_KEYS = st.text(st.characters(codec="utf-8", exclude_characters="\0.$"), max_size=4)

INT64 = st.integers(*_INT64)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
IDS = st.text("0123456789abcdefABCDEF", min_size=24, max_size=24)
TEXTS = st.text(_LETTERS, max_size=_MORE)
SCALARS = st.none() | st.booleans() | INT64 | FLOATS | TEXTS | IDS
#: JSON that the reader takes and the database can hold.
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)
OBJECTS = st.dictionaries(_KEYS, JSON, max_size=3)
DATES = (
    st.dates().map(str)
    | st.datetimes().map(lambda moment: moment.isoformat())
    | st.datetimes().map(lambda moment: moment.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z"))
)
URLS = WORDS.map("https://{}.example.org/".format)
EMAILS = st.builds("{}@{}.{}".format, WORDS, WORDS, st.sampled_from(["org", "com", "example"]))

#: Makes a strategy of values that a field takes.
Draw: TypeAlias = "Callable[[Maker, Any], Values]"


@dataclass(frozen=True)
class Maker:
    """Makes strategies for the fields of one gateway.

    In mode ``create`` they leave out what has a default, and have values that are converted.
    """

    schemas: Schemas
    mode: Mode

    def values(self, field: mm.Field[Any]) -> Values:
        """Return a strategy of values that the field takes.

        In mode ``assert`` it takes them unchanged.
        """
        likely = self.likely(field)
        return likely if _is_known(field) else likely.filter(self._taken_by(field))

    def likely(self, field: mm.Field[Any]) -> Values:
        """Return a strategy of values the field takes, a user's own checks apart."""
        for check in _checks(field, validate.OneOf):
            return st.sampled_from(list(check.choices))
        made = self.maker_of(field)(self, field)
        return st.none() | made if field.allow_none else made

    def maker_of(self, field: mm.Field[Any]) -> Draw:
        """Return how values of a field are made."""
        if isinstance(field, KindField):
            return MAKERS.get(field.kind, MAKERS["any_"])
        return next((_FOREIGN[cls] for cls in type(field).__mro__ if cls in _FOREIGN), MAKERS["any_"])

    def fields(self, fields: Mapping[str, mm.Field[Any]], make: Callable[[mm.Field[Any]], Values]) -> Values:
        """Return a strategy of objects with these fields; ``make`` gives that of each."""
        required: dict[str, Values] = {}
        optional: dict[str, Values] = {}
        for name, field in fields.items():
            filled = self.mode == "create" or field.load_default is missing
            key = name if field.data_key is None else field.data_key
            (optional if filled and not field.required else required)[key] = make(field)
        return st.fixed_dictionaries(required, optional=optional)

    def coerced(self, values: Values, *forms: Callable[[Any], Any]) -> Values:
        """Return the values, and with ``create`` their other forms too."""
        return st.one_of(values, *map(values.map, forms)) if self.mode == "create" else values

    def _taken_by(self, field: mm.Field[Any]) -> Callable[[Any], bool]:
        struct = compile_struct({"set": {"x": field}, "get": {}}, self.schemas)

        def taken(value: Any) -> bool:
            try:
                struct.check({"set": {"x": value}, "get": {}}, self.mode)
            except ValidationError:
                return False
            return True

        return taken


def _text(maker: Maker, field: mm.Field[Any]) -> Values:
    for check in _checks(field, validate.Regexp):
        drawn = st.from_regex(check.regex, fullmatch=isinstance(check, FullMatch), alphabet=_LETTERS)
        return _fitting(drawn, field)
    return _repeated(lambda low, high: st.text(_LETTERS, min_size=low, max_size=high), *_size(field))


def _repeated(make: Callable[[int, int], Values], least: int, most: int) -> Values:
    """Return texts or lists of at least so many; long ones repeat a short one."""
    if least <= _SHORT:
        return make(least, min(most, least + _MORE))
    return make(1, _SHORT).map(lambda part: (part * (least // len(part) + 1))[:least])


def _fitting(texts: Values, field: mm.Field[Any]) -> Values:
    least, most = _size(field)
    return texts.filter(lambda text: least <= len(text) <= most)


def _integer(maker: Maker, field: mm.Field[Any]) -> Values:
    # A float of an integer is the same integer up to 2**53.
    low, high = _range(field)
    drawn = st.integers(math.ceil(low), math.floor(high))
    return maker.coerced(drawn, str, lambda value: float(value) if abs(value) < 2**53 else value)


def _float(maker: Maker, field: mm.Field[Any]) -> Values:
    low, high = _range(field, -math.inf, math.inf)
    drawn = st.floats(
        None if low == -math.inf else float(low), None if high == math.inf else float(high), allow_nan=False
    )
    return drawn.filter(lambda value: finite_number(value) and low <= value <= high)


def _number(maker: Maker, field: mm.Field[Any]) -> Values:
    low, high = _range(field)
    whole = st.integers(math.ceil(low), math.floor(high)) if math.ceil(low) <= math.floor(high) else st.nothing()
    return maker.coerced(whole | _float(maker, field), str)


def _decimal(maker: Maker, field: mm.Field[Any]) -> Values:
    places = field.metadata["places"]
    high = min(10 ** (9 + places), 10**MOST_DIGITS - 1)
    low = -high
    for check in _checks(field, validate.Range):
        low = low if check.min is None else int(check.min.scaleb(places, _CONTEXT))
        high = max(high, low) if check.max is None else int(check.max.scaleb(places, _CONTEXT))
    units = st.integers(min(low, high), high)
    return units.map(lambda count: f"{Decimal(count).scaleb(-places, _CONTEXT):f}")


def _binary(maker: Maker, field: mm.Field[Any]) -> Values:
    least, most = _size(field)
    return st.binary(min_size=least, max_size=min(most, least + _MORE)).map(
        lambda data: b64encode(data).decode("ascii")
    )


def _boolean(maker: Maker, field: Any) -> Values:
    if maker.mode == "assert":
        return st.booleans()
    return st.booleans() | st.sampled_from(sorted(field.truthy | field.falsy, key=str))


def _list(field: mm.Field[Any], item: Values) -> Values:
    return _repeated(lambda low, high: st.lists(item, min_size=low, max_size=high), *_size(field))


def _nested(maker: Maker, field: Any) -> Values:
    schema = field.schema
    fields = {name: inner for name, inner in schema.load_fields.items() if not inner.dump_only}
    one = maker.fields(fields, maker.likely)
    return st.lists(one, max_size=3) if field.many or schema.many else one


def _enum(maker: Maker, field: Any) -> Values:
    names = [field.field._serialize(one.value, None, None) if field.by_value else one.name for one in field.enum]
    return st.sampled_from(names)


#: How values of each of our kinds are made, by its name; any value drawn is taken.
MAKERS: Mapping[str, Draw] = {
    "string": _text,
    "email": lambda maker, field: _fitting(EMAILS, field),
    "url": lambda maker, field: _fitting(URLS, field),
    "uuid": lambda maker, _: st.uuids().map(str),
    "number": _number,
    "integer": _integer,
    "decimal": _decimal,
    "binary": _binary,
    "boolean": _boolean,
    "object_id": lambda maker, _: IDS,
    "date": lambda maker, _: DATES,
    "enums": lambda maker, field: st.sampled_from(list(field.metadata["choices"])),
    "any_": lambda maker, _: JSON,
    "array": lambda maker, field: _list(field, maker.values(field.inner)),
    "mapping": lambda maker, field: st.dictionaries(_KEYS, maker.values(field.inner), max_size=3),
    "object_": lambda maker, field: maker.fields(field.fields, maker.values) if field.fields is not None else OBJECTS,
}
#: How values of marshmallow's own fields are made, by the class; the nearest class of a field counts.
_FOREIGN: Mapping[type, Draw] = {
    mm.String: _text,
    mm.Email: lambda maker, field: _fitting(EMAILS, field),
    mm.Url: lambda maker, _: URLS,
    mm.UUID: lambda maker, _: st.uuids().map(str),
    mm.Integer: _integer,
    mm.Float: _float,
    mm.Number: _number,
    mm.Boolean: _boolean,
    mm.Date: lambda maker, _: st.dates().map(str),
    mm.DateTime: lambda maker, _: st.datetimes().map(lambda moment: moment.isoformat()),
    mm.Time: lambda maker, _: st.times().map(str),
    mm.IPv4: lambda maker, _: st.ip_addresses(v=4).map(str),
    mm.IPv6: lambda maker, _: st.ip_addresses(v=6).map(str),
    mm.List: lambda maker, field: _list(field, maker.likely(field.inner)),
    mm.Tuple: lambda maker, field: st.tuples(*map(maker.likely, field.tuple_fields)).map(list),
    mm.Dict: lambda maker, _: OBJECTS,
    mm.Nested: _nested,
    mm.Enum: _enum,
    mm.Constant: lambda maker, field: st.just(field.constant),
}
_KNOWN_CHECKS = (validate.Length, validate.Range, validate.Email, validate.URL, FullMatch)


def _is_known(field: mm.Field[Any]) -> bool:
    """Tell whether a field is a value kind of this package with no check but ours."""
    return isinstance(field, KindField) and all(type(check) in _KNOWN_CHECKS for check in field.validators)


def _checks(field: mm.Field[Any], kind: type) -> Iterator[Any]:
    return (check for check in field.validators if isinstance(check, kind))


def _size(field: mm.Field[Any]) -> tuple[int, int]:
    least, most = lengths(field)
    return least, _ENDLESS if most is None else most


def _range(field: mm.Field[Any], low: float = _INT64[0], high: float = _INT64[1]) -> tuple[float, float]:
    for check in _checks(field, validate.Range):
        low = low if check.min is None else max(low, check.min)
        high = high if check.max is None else min(high, check.max)
    return low, high

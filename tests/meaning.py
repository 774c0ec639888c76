"""Random fields of models with values in two forms: what JSON sends, and what Python code passes."""

from __future__ import annotations

import enum
from base64 import b64encode
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import ip_interface
from types import SimpleNamespace
from typing import Any

from bson import Int64, ObjectId
from hypothesis import strategies as st
from marshmallow import EXCLUDE, INCLUDE, Schema, missing, post_load, pre_load
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    email,
    enums,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    string,
    url,
    uuid,
)
from gatewayfw.schemas.kinds.model_fields import refuse_unkept

Forms = st.SearchStrategy[tuple[Any, Any]]


class Colour(enum.Enum):
    """An enum whose names and values differ."""

    RED = "r"
    BLUE = "b"


class Rights(enum.Flag):
    """Values of which several may stand together."""

    READ = 1
    WRITE = 2


class Pair(mm.Field):
    """A field that loads a tuple from text."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if not isinstance(value, str):
            raise self.make_error("validator_failed")
        return tuple(map(int, value.split(",")))

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return None if value is None else ",".join(map(str, value))


@dataclass(frozen=True)
class Meaning:
    """A field, and values that it takes as ``(JSON, Python)``."""

    field: Any
    forms: Forms


def both(python: st.SearchStrategy[Any], json: Callable[[Any], Any] = lambda value: value) -> Forms:
    """Return a strategy of values in both forms."""
    return python.map(lambda value: (json(value), value))


_texts = st.text(max_size=4)
_words = st.text("abcxyz", min_size=1, max_size=4)
_int64 = st.integers(-(2**63), 2**63 - 1)
_floats = st.floats(allow_nan=False, allow_infinity=False)
_numbers = _int64 | _floats
_moments = st.datetimes()
_zones = st.sampled_from([None, UTC, timezone(timedelta(hours=2)), timezone(-timedelta(hours=9, minutes=30))])
_zoned = st.builds(
    lambda moment, zone: moment.replace(tzinfo=zone), st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30)), _zones
)
_aware = _zoned.filter(lambda moment: moment.tzinfo is not None)
_decimals = st.decimals(-1000, 10**20, places=2, allow_nan=False, allow_infinity=False)
_json = st.recursive(
    st.none() | st.booleans() | _int64 | _floats | _texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_words, inner, max_size=2),
    max_leaves=4,
)
_durations = st.timedeltas(-timedelta(365), timedelta(365))
iso = datetime.isoformat


def _interfaces(**version: Any) -> st.SearchStrategy[Any]:
    return st.tuples(st.ip_addresses(**version), st.integers(0, 32)).map(ip_interface)


class Tagged(Schema):
    """A Schema with a default that code can change."""

    tags = mm.List(mm.Integer(), load_default=[1])


#: Fields that need no others; ours first.
LEAVES: dict[str, Callable[[], Meaning]] = {
    "string": lambda: Meaning(string(), both(_texts)),
    "integer": lambda: Meaning(integer(), both(_int64)),
    "number": lambda: Meaning(number(), both(_numbers)),
    "boolean": lambda: Meaning(boolean(), both(st.booleans())),
    "date": lambda: Meaning(date(), both(_zoned, iso)),
    "decimal": lambda: Meaning(decimal(places=2), both(_decimals, "{:f}".format)),
    "binary": lambda: Meaning(binary(), both(st.binary(max_size=4), lambda data: b64encode(data).decode())),
    "uuid": lambda: Meaning(uuid(), both(st.uuids(), str)),
    "object_id": lambda: Meaning(object_id(), both(st.binary(min_size=12, max_size=12).map(ObjectId), str)),
    "enums": lambda: Meaning(enums("a", 1, 2.5, True), both(st.sampled_from(["a", 1, 2.5, True]))),
    "email": lambda: Meaning(email(), both(_words.map("{}@example.org".format))),
    "url": lambda: Meaning(url(), both(_words.map("https://{}.example.org/".format))),
    "any_": lambda: Meaning(any_(), both(_json)),
    "String": lambda: Meaning(mm.String(), both(_texts)),
    "Email": lambda: Meaning(mm.Email(), both(_words.map("{}@example.org".format))),
    "Url": lambda: Meaning(mm.Url(), both(_words.map("https://{}.example.org/".format))),
    "UUID": lambda: Meaning(mm.UUID(), both(st.uuids(), str)),
    "Integer": lambda: Meaning(mm.Integer(), both(_int64)),
    "strict Integer": lambda: Meaning(mm.Integer(strict=True), both(_int64)),
    "Integer as text": lambda: Meaning(mm.Integer(as_string=True), both(_int64, str)),
    "Float": lambda: Meaning(mm.Float(), both(_floats)),
    "Float as text": lambda: Meaning(mm.Float(as_string=True), both(_floats, str)),
    "Decimal": lambda: Meaning(mm.Decimal(), both(_decimals, str)),
    "Decimal as text": lambda: Meaning(mm.Decimal(places=2, as_string=True), both(_decimals, str)),
    "Boolean": lambda: Meaning(mm.Boolean(), both(st.booleans())),
    "DateTime": lambda: Meaning(mm.DateTime(), both(_zoned, iso)),
    "DateTime in ISO": lambda: Meaning(mm.DateTime(format="iso8601"), both(_zoned, iso)),
    "NaiveDateTime": lambda: Meaning(mm.NaiveDateTime(timezone=UTC), both(_moments, iso)),
    "NaiveDateTime of a zone": lambda: Meaning(mm.NaiveDateTime(timezone=UTC), both(_aware, iso)),
    "AwareDateTime": lambda: Meaning(mm.AwareDateTime(), both(_aware, iso)),
    "AwareDateTime with a default": lambda: Meaning(mm.AwareDateTime(default_timezone=UTC), both(_zoned, iso)),
    "Date": lambda: Meaning(mm.Date(), both(st.dates(), str)),
    "Time": lambda: Meaning(mm.Time(), both(st.times(), str)),
    "TimeDelta": lambda: Meaning(mm.TimeDelta(), both(_durations, timedelta.total_seconds)),
    "TimeDelta in days": lambda: Meaning(
        mm.TimeDelta(precision="days"), both(st.integers(-9, 9).map(timedelta), lambda time: time.days)
    ),
    "Enum": lambda: Meaning(mm.Enum(Colour), both(st.sampled_from(Colour), lambda one: one.name)),
    "Enum by value": lambda: Meaning(
        mm.Enum(Colour, by_value=True), both(st.sampled_from(Colour), lambda one: one.value)
    ),
    "IP": lambda: Meaning(mm.IP(), both(st.ip_addresses(), str)),
    "IPv4": lambda: Meaning(mm.IPv4(), both(st.ip_addresses(v=4), str)),
    "IPv6": lambda: Meaning(mm.IPv6(), both(st.ip_addresses(v=6), str)),
    "IPInterface": lambda: Meaning(mm.IPInterface(), both(_interfaces(), str)),
    "IPv4Interface": lambda: Meaning(mm.IPv4Interface(), both(_interfaces(v=4), str)),
    "IPv6Interface": lambda: Meaning(mm.IPv6Interface(), both(_interfaces(v=6), str)),
    "Flags": lambda: Meaning(
        mm.Enum(Rights, by_value=True), both(st.integers(0, 3).map(Rights), lambda rights: rights.value)
    ),
    "a pair": lambda: Meaning(
        Pair(allow_none=True), both(st.tuples(_int64, _int64), lambda pair: ",".join(map(str, pair)))
    ),
    "Raw": lambda: Meaning(mm.Raw(allow_none=True), both(_json)),
    "a long under Raw": lambda: Meaning(mm.Raw(), _int64.map(lambda number: (number, Int64(number)))),
    "Dict": lambda: Meaning(mm.Dict(), both(st.dictionaries(_words, _json, max_size=2))),
    "a default": lambda: Meaning(mm.Nested(Tagged), both(st.sampled_from([{}, {"tags": [2]}]))),
}


#: Fields that take a number as text, too, which no export says.
ALSO_TEXT = {"Integer as text", "Float as text"}


class Person(Schema):
    """A Schema of which another field may take a part."""

    name = mm.String()


class Seen(Schema):
    """A Schema with a hook that changes what it gets in place."""

    class Meta:
        """What the hook adds is not loaded."""

        unknown = EXCLUDE

    @pre_load
    def see(self, data: Any, **kwargs: Any) -> Any:
        """Note that the data was here; what is no object is refused after the hooks."""
        if isinstance(data, dict):
            data["seen"] = True
        return data


class Objects(Schema):
    """A Schema that makes objects."""

    @post_load
    def make(self, data: Any, **kwargs: Any) -> Any:
        """Make an object with the names in Python."""
        return SimpleNamespace(**data)


class Hashed(mm.String):
    """A field that loads another text than it is given."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return super()._deserialize(value, attr, data, **kwargs) + "#"


class Moved(Schema):
    """A Schema whose object has other names than its JSON."""

    lat = mm.Integer()

    @post_load
    def move(self, data: Any, **kwargs: Any) -> Any:
        """Make an object."""
        return SimpleNamespace(x=data["lat"])


class Half(Schema):
    """A Schema whose hook takes one of two names only, of an object or of a mapping."""

    lat = mm.Integer()
    note = mm.String()

    def __init__(self, made: Callable[..., Any]) -> None:
        super().__init__()
        self.made = made

    @post_load
    def halve(self, data: Any, **kwargs: Any) -> Any:
        """Make an object without the note."""
        return self.made(lat=data["lat"])


class Taken(Schema):
    """A Schema whose hook takes a name away in place."""

    lat = mm.Integer()
    note = mm.String()

    @pre_load
    def take(self, data: Any, **kwargs: Any) -> Any:
        """Drop the note."""
        data.pop("note", None)
        return data


_halves = both(st.just({"lat": 1, "note": "a"}))
_ids = st.binary(min_size=12, max_size=12).map(ObjectId)
#: Fields, or their values, that would change on their way: they must be refused, or else mean one thing.
DOUBTFUL: dict[str, Callable[[], Meaning]] = {
    "Pluck": lambda: Meaning(mm.Pluck(Person, "name"), _texts.map(lambda text: (text, {"name": text}))),
    "Function": lambda: Meaning(mm.Function(deserialize=str.upper), both(_words)),
    "Constant": lambda: Meaning(mm.Constant("a"), both(_words)),
    "a day and its hour": lambda: Meaning(
        mm.DateTime(format="%d/%m/%Y %H"),
        both(st.datetimes(datetime(1000, 1, 1)), lambda moment: moment.strftime("%d/%m/%Y %H")),
    ),
    "timestamp": lambda: Meaning(
        mm.DateTime(format="timestamp"),
        both(_aware, lambda moment: moment.timestamp()).filter(lambda pair: pair[0] >= 0),
    ),
    "NaiveDateTime": lambda: Meaning(mm.NaiveDateTime(), both(_moments, iso)),
    "NaiveDateTime ahead": lambda: Meaning(
        mm.NaiveDateTime(timezone=timezone(timedelta(hours=1))), both(_moments, iso)
    ),
    "numbers as keys": lambda: Meaning(
        mm.Dict(keys=mm.Integer()), both(st.just({1: 2}), lambda found: {str(key): one for key, one in found.items()})
    ),
    "own booleans": lambda: Meaning(
        mm.Boolean(truthy={"ja"}, falsy={"nein"}), both(st.booleans(), lambda value: "ja" if value else "nein")
    ),
    "a hash": lambda: Meaning(Hashed(), both(_words)),
    "a path as a key": lambda: Meaning(mm.Nested({"a": mm.String(data_key="a.b")}), both(st.just({"a.b": "c"}))),
    "another zone by default": lambda: Meaning(
        mm.AwareDateTime(default_timezone=timezone(timedelta(hours=1))), both(_moments, iso)
    ),
    "an object with other names": lambda: Meaning(
        mm.Nested(Moved), both(_int64, lambda number: {"lat": number}).map(lambda pair: (pair[0], SimpleNamespace(x=1)))
    ),
    "an object without a name": lambda: Meaning(mm.Nested(Half(SimpleNamespace)), _halves),
    "a name taken in place": lambda: Meaning(mm.Nested(Taken), _halves),
    "a mapping without a name": lambda: Meaning(mm.Nested(Half(dict)), _halves),
    "objects without a name": lambda: Meaning(
        mm.Dict(keys=mm.String(), values=mm.Tuple([mm.Nested(Half(dict)), mm.List(mm.Nested(Half(dict)))])),
        _halves.map(lambda pair: ({"a": [{"lat": 1}, [pair[0]]]},) * 2),
    ),
    "an object without further keys": lambda: Meaning(
        mm.Nested(Objects(unknown=INCLUDE)), both(st.just({"a": 1}), lambda found: found)
    ),
    "an id under Raw": lambda: Meaning(mm.Raw(), both(_ids, str)),
    "a moment under Raw": lambda: Meaning(mm.Raw(), both(_moments, iso)),
    "an id in any object": lambda: Meaning(mm.Dict(), _ids.map(lambda id_: ({"a": str(id_)}, {"a": id_}))),
    "a moment beside a Schema": lambda: Meaning(
        mm.Nested(Person, unknown=INCLUDE), _moments.map(lambda moment: ({"at": iso(moment)}, {"at": moment}))
    ),
    # Python passes more than the field holds: accepted, it would be the value without the rest.
    "a time for a day": lambda: Meaning(mm.List(mm.Date()), _moments.map(lambda moment: ([], [moment]))),
    "bytes for a text": lambda: Meaning(mm.List(mm.String()), _words.map(lambda text: ([], [text.encode()]))),
    "a part of a number": lambda: Meaning(
        mm.List(mm.Integer()), st.decimals(1, 9, places=1).filter(lambda one: one % 1).map(lambda one: ([], [one]))
    ),
}


@st.composite
def meanings(draw: st.DrawFn, depth: int = 2, leaves: Collection[str] = tuple(LEAVES)) -> Meaning:
    """Draw a field: one of some leaves, or with others in it."""
    shape = draw(st.sampled_from([None, *PARTS])) if depth else None
    if shape is None:
        made = LEAVES[draw(st.sampled_from([*leaves]))]()
    else:
        made = draw(PARTS[shape](meanings(depth - 1, leaves)))
    if draw(st.integers(0, 3)):
        return made
    if isinstance(made.field, mm.Field) and type(made.field).__module__.startswith("marshmallow"):
        made.field.allow_none = True
        return Meaning(made.field, made.forms | st.just((None, None)))
    return Meaning(nullable(made.field), made.forms | st.just((None, None)))


def _pairs(forms: Forms) -> Forms:
    return st.lists(forms, max_size=2).map(lambda pairs: ([json for json, _ in pairs], [python for _, python in pairs]))


def _by_key(forms: Forms) -> Forms:
    return st.dictionaries(_words, forms, max_size=2).map(
        lambda found: ({k: one for k, (one, _) in found.items()}, {k: one for k, (_, one) in found.items()})
    )


@st.composite
def _array(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    inner = draw(inside)
    return Meaning(array(inner.field), _pairs(inner.forms))


@st.composite
def _mapping(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    inner = draw(inside)
    return Meaning(mapping(inner.field), _by_key(inner.forms))


@st.composite
def _object(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    parts = draw(st.dictionaries(st.sampled_from(["a", "get", "items"]), inside, max_size=2))
    return Meaning(
        object_({name: one.field for name, one in parts.items()}),
        _joined({n: (n, n, p.forms) for n, p in parts.items()}),
    )


NOTHING = both(st.just({}))


def _joined(parts: dict[str, tuple[str, str, Forms]], absent: Collection[str] = (), further: Forms = NOTHING) -> Forms:
    """Return both forms of an object whose fields have a name in JSON, and one in Python.

    Those in ``absent`` may be; ``further`` are objects with further keys.
    """
    forms = {name: forms for name, (_, _, forms) in parts.items()}
    given = st.fixed_dictionaries(
        {name: one for name, one in forms.items() if name not in absent},
        optional={name: one for name, one in forms.items() if name in absent},
    )
    return st.tuples(given, further).map(
        lambda found: (
            {parts[name][0]: json for name, (json, _) in found[0].items()} | found[1][0],
            {parts[name][1]: python for name, (_, python) in found[0].items()} | found[1][1],
        )
    )


@st.composite
def _list(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    inner = draw(inside)
    return Meaning(mm.List(inner.field), _pairs(inner.forms))


@st.composite
def _dict(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    inner = draw(inside)
    return Meaning(mm.Dict(keys=mm.String(), values=inner.field), _by_key(inner.forms))


@st.composite
def _tuple(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    inner = draw(st.lists(inside, min_size=1, max_size=2))
    forms = st.tuples(*(one.forms for one in inner)).map(
        lambda pairs: ([json for json, _ in pairs], tuple(python for _, python in pairs))
    )
    return Meaning(mm.Tuple([one.field for one in inner]), forms)


def _renamed(draw: st.DrawFn, one: Meaning, name: str) -> tuple[str, str, Forms]:
    """Give a field of a Schema maybe other names and a default; return its names in JSON and Python, and its forms."""
    field = one.field
    sent = name.title() if draw(st.booleans()) else name
    loaded = f"own_{name}" if draw(st.booleans()) else name
    field.data_key = sent if sent != name else None
    field.attribute = loaded if loaded != name else None
    field.required = draw(st.booleans())
    if not field.required and type(field).__module__.startswith("marshmallow") and draw(st.booleans()):
        field.load_default = draw(one.forms)[1]
        try:
            refuse_unkept(mm.Nested(Schema.from_dict({"a": field})), "")
        except DefinitionError:  # what it has not is filled in when it comes back
            field.load_default = missing
    return sent, loaded, one.forms


@st.composite
def _nested(draw: st.DrawFn, inside: st.SearchStrategy[Meaning]) -> Meaning:
    parts = draw(st.dictionaries(st.sampled_from(["a", "get", "items", "update"]), inside, min_size=1, max_size=2))
    names = {name: _renamed(draw, one, name) for name, one in parts.items()}
    fields = {name: one.field for name, one in parts.items()}
    # The names of a Schema's `partial` replace the `partial` of a Schema in it.
    has_parts = any(isinstance(field, (mm.List, mm.Tuple, mm.Mapping, mm.Nested)) for field in fields.values())
    named = {} if has_parts else {"partial": [*fields][:1]}
    options: dict[str, Any] = draw(st.sampled_from([{}, {"partial": True}, named]))
    left = draw(st.sampled_from([{}, {}, {"only": tuple(fields)}, {"exclude": ("left",)}]))
    base = draw(st.sampled_from([Schema, Schema, Seen, Objects]))
    is_open = base is Schema and all(sent == loaded for sent, loaded, _ in names.values()) and draw(st.booleans())
    schema = base.from_dict(fields | ({"left": mm.Constant(1)} if left else {}))
    partial = options.get("partial", ())
    absent = {name for name, field in fields.items() if not field.required or partial is True or name in partial}
    absent -= {*fields} if base is Objects else set()  # an object without any of the names is of another kind
    forms = _joined(names, absent, both(st.dictionaries(st.just("more"), _json, max_size=int(is_open))))
    if base is Objects and draw(st.booleans()):
        forms = forms.map(lambda pair: (pair[0], SimpleNamespace(**pair[1])))
    made = schema(**options, **left, **({"unknown": INCLUDE} if is_open else {}))
    if draw(st.booleans()):
        return Meaning(mm.Nested(made, many=True), _pairs(forms))
    return Meaning(mm.Nested(made), forms)


PARTS = {
    "array": _array,
    "mapping": _mapping,
    "object_": _object,
    "List": _list,
    "Dict": _dict,
    "Tuple": _tuple,
    "Nested": _nested,
}

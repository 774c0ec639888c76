"""Fields of marshmallow that documents cannot hold are refused when a model is defined."""

from __future__ import annotations

import enum
from datetime import UTC, date, timedelta, timezone

import pytest
from marshmallow import INCLUDE, Schema, post_dump, pre_dump
from marshmallow import fields as mm
from marshmallow.validate import Range

from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import Schemas, array, object_
from gatewayfw.settings import Settings


class Person(Schema):
    """A Schema that may hold another of its own."""

    name = mm.String()
    friend = mm.Nested(lambda: Person())


class Local(Schema):
    """A Schema with formats of its own."""

    class Meta:
        datetimeformat = "%d/%m/%Y %H:%M"

    at = mm.DateTime()
    on = mm.String()


class Account(Schema):
    """A Schema with a field for requests alone."""

    password = mm.String(load_only=True)


class Swapped(Schema):
    """A Schema in which a name means one field in JSON, and another in Python."""

    a = mm.String(attribute="b")
    c = mm.String(data_key="b")


class Deep(Schema):
    """A Schema that loads a value into an object."""

    city = mm.String(attribute="address.city")


def define(field):
    Schemas(Settings()).add("note", {"x": field})


class Narrow(Schema):
    """A Schema that holds another twice, of which only a part at first."""

    first = mm.Nested(Local, only=("on",))
    second = mm.Nested(Local)


class Day(enum.Enum):
    """An enum whose values JSON has not."""

    FIRST = date(2026, 1, 1)


class Number(enum.IntEnum):
    """An enum whose values are numbers."""

    ONE = 1


class Masked(mm.String):
    """A field that shows less than it holds."""

    def _serialize(self, value, attr, obj, **kwargs):
        return "***"


class Cut(mm.List):
    """A list that shows its first element only."""

    def _serialize(self, value, attr, obj, **kwargs):
        return value[:1]

    def _deserialize(self, value, attr, data, **kwargs):
        return value


class Shown(Schema):
    """A Schema with a hook that changes what is shown."""

    a = mm.String()

    @post_dump
    def mask(self, data, **kwargs):
        return {"a": "***"}


class Prepared(Schema):
    """A Schema with a hook that changes what it dumps."""

    @pre_dump
    def prepare(self, obj, **kwargs):
        return {}


class Called(Schema):
    """A Schema with what is only computed."""

    name = mm.String()
    loud = mm.Method("shout")

    def shout(self, obj):
        return obj["name"].upper()


class Absent(enum.Enum):
    """An enum that has null among its values."""

    NONE = None


def in_schema(**fields):
    return mm.Nested(Schema.from_dict(fields))


WITH_DEFAULT = in_schema(b=mm.Integer(load_default=1)).nested
REFUSED = {
    "a field that masks": (Masked(), "", "its own _serialize would not be called, as replies show what is stored"),
    "a list that cuts": (mm.List(Cut(mm.Integer())), "[]", "its own _serialize would not be called"),
    "a hook on what is shown": (mm.List(mm.Nested(Shown)), "[]", "its hook mask would not be called"),
    "a hook before showing": (Prepared, "", "its hook prepare would not be called"),
    "a default of what is shown": (in_schema(a=mm.String(dump_default="a")), ".a", "dump_default would not be shown"),
    "a computed field": (Called, ".loud", "Method stores nothing: compute the value in the act"),
    "a zone by default": (mm.AwareDateTime(default_timezone=timezone(timedelta(hours=1))), "", "what has no zone is"),
    "null in an enum": (mm.Enum(Absent, by_value=True), "", "its member NONE is neither text nor a number in JSON"),
    "a path as a key": (in_schema(a=mm.String(data_key="a.b")), "", "a: 'a.b' is not a key the database can hold"),
    "an operator as a key": (in_schema(a=mm.String(data_key="$a")), "", "a: '$a' is not a key the database can hold"),
    "an operator as a name": (mm.List(in_schema(**{"$a": mm.String()})), "[]", "$a: '$a' is not a key"),
    "no key": (in_schema(a=mm.String(data_key="")), "", "a: '' is not a key the database can hold"),
    "a wrong default": (mm.Integer(load_default="x"), "", "load_default: Not a valid integer."),
    "a default out of range": (mm.Integer(load_default=6, validate=Range(max=5)), "", "load_default: Must be less"),
    "a wrong default inside": (in_schema(a=mm.List(mm.Date(), load_default=["x"])), ".a", "load_default: Not a valid"),
    "text for a moment": (in_schema(a=mm.DateTime(load_default="2026-01-01T00:00")), ".a", "load_default: Would come"),
    "a default with less": (in_schema(a=mm.Nested(WITH_DEFAULT, load_default={})), ".a", "load_default: Would come"),
    "an enum of days": (mm.Enum(Day, by_value=True), "", "its member FIRST is neither text nor a number in JSON"),
    "an enum read as text": (mm.Enum(Number, by_value=mm.String), "", "its member ONE is neither"),
    "a further key": (
        mm.Nested(Schema.from_dict({"a": mm.String(data_key="A")}), unknown=INCLUDE),
        "",
        "a: in a Schema that takes any key, its name in Python, 'a', may be one: give it one name, or",
    ),
    "in the whole of a Schema": (mm.Nested(Narrow), ".second.at", "the format"),
    "Pluck": (mm.Pluck(Person, "name"), "", "Pluck stores less than its Schema has"),
    "Function": (mm.Function(deserialize=str), "", "Function stores nothing"),
    "Method": (mm.Method(deserialize="name"), "", "Method stores nothing"),
    "Constant": (mm.Constant(1), "", "Constant takes any value for its own"),
    "a format": (mm.DateTime(format="%d.%m.%Y"), "", "the format '%d.%m.%Y' is not ISO 8601"),
    "a timestamp": (mm.DateTime(format="timestamp"), "", "the format 'timestamp' is not ISO 8601"),
    "an e-mail's format": (mm.AwareDateTime(format="rfc"), "", "the format 'rfc' is not ISO 8601"),
    "a day's format": (mm.Date(format="%d.%m.%Y"), "", "the format '%d.%m.%Y' is not ISO 8601"),
    "a time's format": (mm.Time(format="%H-%M"), "", "the format '%H-%M' is not ISO 8601"),
    "a Schema's format": (Local, ".at", "the format '%d/%m/%Y %H:%M' is not ISO 8601"),
    "a naive moment": (mm.NaiveDateTime(), "", "values are shown in UTC, with Z"),
    "another zone": (mm.NaiveDateTime(timezone=timezone(timedelta(hours=1))), "", "values are shown in UTC, with Z"),
    "keys that are addresses": (mm.Dict(keys=mm.Email()), "", "addresses have a dot, and keys of documents have none"),
    "keys that are links": (mm.Dict(keys=mm.Url()), "", "addresses have a dot, and keys of documents have none"),
    "keys that are numbers": (mm.Dict(keys=mm.Integer()), "", "keys are text in JSON and in documents"),
    "own booleans": (mm.Boolean(truthy={"ja"}, falsy={"nein"}), "", "values are shown as true and false"),
    "for requests": (mm.String(load_only=True), "", "load_only is for requests"),
    "for requests in a Schema": (mm.Nested(Account), ".password", "load_only is for requests"),
    "swapped names": (mm.Nested(Swapped), "", "a: in Python it has the name 'b', which is another field's in JSON"),
    "a path": (mm.Nested(Deep), "", "city: the attribute 'address.city' is a path"),
    "in a list": (mm.List(mm.Date(format="%d")), "[]", "the format '%d' is not ISO 8601"),
    "in an object": (mm.Dict(values=mm.Constant(1)), ".*", "Constant takes"),
    "in ours in a list": (mm.List(object_({"a": mm.Constant(1)})), "[].a", "Constant takes"),
    "in a tuple": (mm.Tuple((mm.String(), mm.Constant(1))), "[1]", "Constant takes"),
    "in many objects": (mm.List(mm.Nested(Local, many=True)), "[].at", "the format"),
}


@pytest.mark.parametrize(("field", "path", "problem"), REFUSED.values(), ids=REFUSED)
def test_a_field_that_changes_its_values_is_refused_by_its_path(field, path, problem):
    with pytest.raises(DefinitionError) as caught:
        define(field)
    assert str(caught.value).startswith(f"model 'note', field 'x'{path}: {problem}")


def test_fields_inside_of_our_kinds_are_looked_at_too():
    with pytest.raises(DefinitionError, match="^model 'note', field 'x': Constant takes"):
        define(object_({"a": array(mm.Constant(1))}))


TAKEN = {
    "a default": mm.DateTime(load_default="2026-01-01T00:00"),
    "a default inside": in_schema(a=mm.Date(load_default=date(2026, 1, 1)), b=mm.Nested(Person, load_default={})),
    "a default by a function": mm.Integer(load_default=lambda: 1 / 0),
    "nothing to compute": mm.Nested(Called, exclude=["loud"]),
    "ISO 8601": mm.DateTime(format="iso8601"),
    "a day": mm.Date(format="iso"),
    "UTC": mm.NaiveDateTime(timezone=UTC),
    "an enum of days by a field": mm.Enum(Day, by_value=mm.Date),
    "an open Schema": mm.Nested(Schema.from_dict({"a": mm.String()}), unknown=INCLUDE),
    "text as keys": mm.Dict(keys=mm.String(allow_none=True), values=mm.Integer()),
    "more booleans": mm.Boolean(truthy={True, "ja"}, falsy={False, "nein"}),
    "a Schema that holds itself": mm.Nested(Person),
    "other names": mm.Nested(Schema.from_dict({"a": mm.String(data_key="A", attribute="b")})),
}


@pytest.mark.parametrize("field", TAKEN.values(), ids=TAKEN)
def test_a_field_that_keeps_its_values_is_taken(field):
    define(field)


class Own(mm.DateTime):
    """A user's field, which reads values by itself."""

    def _deserialize(self, value, attr, data, **kwargs):
        return value


def test_a_format_that_a_subclass_does_not_read_by_is_no_matter():
    define(Own(format="%d"))


def test_a_schema_that_is_not_there_yet_is_refused():
    with pytest.raises(DefinitionError, match="Import it before the model.$"):
        define(mm.Nested("NoSuchSchema"))

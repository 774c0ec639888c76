"""Fields of marshmallow's in models: both forms are taken, what is stored is what was loaded."""

from __future__ import annotations

import enum
import json
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from ipaddress import ip_address
from types import MappingProxyType, SimpleNamespace
from uuid import UUID

import pytest
from bson import Binary, Decimal128, Int64, ObjectId
from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, missing, post_load, pre_load
from marshmallow import fields as mm
from marshmallow.validate import Range

from gatewayfw.errors import DefinitionError
from gatewayfw.errors import ValidationError as Refused
from gatewayfw.schemas import array, integer, mapping, object_, string
from gatewayfw.schemas import date as moment
from gatewayfw.schemas.kinds import Ability, Doubtful, as_kind
from gatewayfw.schemas.kinds.foreign import ForeignField, in_models

TEXT = "01234567-89ab-cdef-0123-456789abcdef"


NUMBER = UUID(TEXT)
MOMENT = datetime(2024, 2, 29, 12, 0, 0, 1_999)
CUT = MOMENT.replace(microsecond=1_000)
UNSTORABLE = ["Not a value the database can hold."]
NOT_KEPT = ["Would come back as another value."]


class Colour(enum.Enum):
    """An enum."""

    RED = 1


class Tag(Schema):
    """A user's own schema."""

    name = mm.String()


class Point(Schema):
    """A schema whose fields have other names in JSON and in Python."""

    x = mm.Decimal(data_key="X", attribute="px")
    at = mm.Date(data_key="At")
    tag = mm.String(attribute="label")


class Made(Schema):
    """A schema that makes objects."""

    id = mm.UUID(required=True)

    @post_load
    def make(self, data, **kwargs):
        return SimpleNamespace(**data)


class Sequence(mm.List):
    """A user's own list."""


def stored(field, value):
    kind = in_models(field)
    return as_kind(kind).storer()(kind.deserialize(value))


def refused(field, value):
    """Return the messages of what is not stored."""
    with pytest.raises(ValidationError) as caught:
        stored(field, value)
    return caught.value.messages


SCALAR = {"sorts": True}
NUMERIC = {"sorts": True, "abilities": {Ability.CALCULATE, Ability.ORDER}}
TIMELY = {"sorts": True, "abilities": {Ability.DATE, Ability.ORDER}}
DAILY = {"sorts": True, "abilities": {Ability.DATE, Ability.ORDER}}
LIST = {"abilities": {Ability.LIST}, "elements": True}
OTHERWISE = {"reads_otherwise": True}
MANY = {**LIST, "reads_otherwise": True}
OPEN = {"is_unknown": True, "reads_otherwise": True}
PARTS = {"sets_parts": True, "reads_otherwise": True}
#: What is said of each field; what is not said is false or empty.
SAID = {
    "String": (mm.String(), SCALAR | {"is_text": True}),
    "Email": (mm.Email(), SCALAR | {"is_text": True}),
    "Url": (mm.Url(), SCALAR | {"is_text": True}),
    "UUID": (mm.UUID(), SCALAR | OTHERWISE),
    "Integer": (mm.Integer(), NUMERIC),
    "Float": (mm.Float(), NUMERIC),
    "Decimal": (mm.Decimal(), NUMERIC | OTHERWISE),
    "Boolean": (mm.Boolean(), SCALAR),
    "DateTime": (mm.DateTime(), TIMELY),
    "NaiveDateTime": (mm.NaiveDateTime(timezone=UTC), TIMELY),
    "AwareDateTime": (mm.AwareDateTime(), TIMELY),
    "Date": (mm.Date(), DAILY),
    "Date in ISO 8601": (mm.Date(format="iso8601"), DAILY),
    "Time": (mm.Time(), SCALAR),
    "TimeDelta": (mm.TimeDelta(), NUMERIC),
    "Enum": (mm.Enum(Colour), SCALAR | OTHERWISE),
    "IP": (mm.IP(), OTHERWISE),
    "IPInterface": (mm.IPInterface(), OTHERWISE),
    "List": (mm.List(mm.Integer()), LIST),
    "List of UUIDs": (mm.List(mm.UUID()), LIST | OTHERWISE),
    "a list of a user's": (Sequence(mm.Integer()), LIST | OTHERWISE),
    "Dict": (mm.Dict(), PARTS | OPEN),
    "Dict of values": (mm.Dict(values=mm.Integer()), PARTS),
    "Nested": (mm.Nested(Tag), PARTS),
    "Nested and open": (mm.Nested(Tag, unknown=INCLUDE), PARTS | OPEN),
    "Nested of an open Schema": (mm.Nested(Tag(unknown=INCLUDE)), PARTS | OPEN),
    "Nested that drops keys": (mm.Nested(Tag(unknown=INCLUDE), unknown=EXCLUDE), PARTS),
    "Nested many": (mm.Nested(Tag, many=True), MANY),
    "Nested of many": (mm.Nested(Tag(many=True)), MANY),
    "Tuple": (mm.Tuple((mm.Integer(),)), OPEN),
    "Raw": (mm.Raw(), OPEN),
}


@pytest.mark.parametrize(("field", "said"), SAID.values(), ids=SAID)
def test_a_field_says_what_is_known_of_its_class(field, said):
    kind = as_kind(in_models(field))
    flags = ("is_unknown", "reads_otherwise", "sorts", "is_text", "sets_parts")
    found = {name: getattr(kind, name) for name in flags}
    found |= {"abilities": kind.abilities, "elements": kind.elements is not None}
    assert found == dict.fromkeys(flags, False) | {"abilities": frozenset(), "elements": False} | said


def test_a_field_keeps_what_it_was_made_with():
    made = in_models(mm.String(required=True, allow_none=True, metadata={"a": 1}, error_messages={"null": "No."}))
    assert (made.required, made.allow_none, made.metadata, made.load_default) == (True, True, {"a": 1}, missing)
    assert in_models(mm.String(error_messages={"null": "No."})).error_messages["null"] == "No."
    left = in_models(mm.String(load_default="a"))
    assert (left.required, left.allow_none, left.metadata, left.load_default) == (False, False, {}, "a")


@pytest.mark.parametrize(
    ("field", "loaded"),
    [
        (mm.Integer(load_default="5"), 5),
        (mm.Integer(load_default=lambda: "5"), 5),
        (mm.UUID(load_default=NUMBER), Binary.from_uuid(NUMBER)),
        (mm.Integer(load_default=None, allow_none=True), None),
        (mm.Integer(), missing),
    ],
    ids=["constant", "made", "in Python", "null", "none"],
)
def test_a_default_is_stored_as_if_it_were_sent(field, loaded):
    assert in_models(field).deserialize(missing) == loaded


def test_a_default_is_not_stored_where_there_is_a_value():
    assert in_models(mm.Integer(load_default=5)).deserialize("7") == 7


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (mm.Integer(required=True), missing, "Missing data for required field."),
        (mm.Integer(), None, "Field may not be null."),
    ],
)
def test_what_is_absent_or_null_is_judged_by_the_field(field, value, message):
    with pytest.raises(ValidationError) as caught:
        in_models(field).deserialize(value)
    assert caught.value.messages == [message]


@pytest.mark.parametrize(
    ("field", "sent", "loaded", "expected"),
    [
        (mm.UUID(), TEXT, UUID(TEXT), Binary.from_uuid(UUID(TEXT))),
        (mm.Decimal(), "1.50", Decimal("1.50"), Decimal128("1.50")),
        (mm.Decimal(), "9" * 34, Decimal("9" * 34), Decimal128("9" * 34)),
        (mm.Decimal(places=1), "1.25", Decimal("1.25"), Decimal128("1.2")),
        (mm.DateTime(), "2024-02-29T12:00:00.001999", MOMENT, CUT),
        (mm.DateTime(), "2024-02-29T14:00:00+02:00", MOMENT.replace(microsecond=0), datetime(2024, 2, 29, 12)),
        (mm.NaiveDateTime(timezone=UTC), "2024-02-29T12:00:00.001999", MOMENT, CUT),
        (mm.AwareDateTime(), "2024-02-29T12:00:00.001Z", CUT, CUT),
        (mm.AwareDateTime(), "2024-02-29T12:00:00.001Z", CUT.replace(tzinfo=UTC), CUT),
        (mm.Date(), "2024-02-29", date(2024, 2, 29), "2024-02-29"),
        (mm.Time(), "10:20:00", time(10, 20), "10:20:00"),
        (mm.TimeDelta(), 5, timedelta(seconds=5), 5),
        (mm.Enum(Colour), "RED", Colour.RED, "RED"),
        (mm.Enum(Colour, by_value=True), 1, Colour.RED, 1),
        (mm.IP(), "10.0.0.1", ip_address("10.0.0.1"), "10.0.0.1"),
        (mm.Boolean(), "yes", True, True),
        (mm.List(mm.Decimal()), ["1"], [Decimal(1)], [Decimal128("1")]),
        (mm.List(mm.Enum(Colour)), ["RED"], [Colour.RED], ["RED"]),
        (mm.List(moment()), ["2024-02-29"], [datetime(2024, 2, 29)], [datetime(2024, 2, 29)]),
        (mm.List(mm.Integer(allow_none=True)), ["1", None], [1, None], [1, None]),
        (
            mm.Tuple((mm.Decimal(), mm.UUID())),
            ["1", TEXT],
            (Decimal(1), NUMBER),
            [Decimal128("1"), Binary.from_uuid(NUMBER)],
        ),
        (mm.Tuple((mm.TimeDelta(),)), [5], [timedelta(seconds=5)], [5.0]),
        (mm.List(mm.Date()), ["2024-02-29"], (date(2024, 2, 29),), ["2024-02-29"]),
        (
            mm.Tuple((object_({"a": mm.Date()}),)),
            [{"a": "2024-02-29"}],
            ({"a": date(2024, 2, 29)},),
            [{"a": "2024-02-29"}],
        ),
        (mm.List(array(mm.UUID())), [[TEXT]], [[NUMBER]], [[Binary.from_uuid(NUMBER)]]),
        (
            mm.Dict(values=mapping(mm.AwareDateTime())),
            {"a": {"b": CUT.isoformat() + "Z"}},
            {"a": {"b": CUT}},
            {"a": {"b": CUT}},
        ),
        (mm.Dict(), {"a": 2**40}, {"a": Int64(2**40)}, {"a": 2**40}),
        (mm.Dict(values=mm.UUID()), {"a": TEXT}, {"a": NUMBER}, {"a": Binary.from_uuid(NUMBER)}),
        (mm.Dict(values=mm.Enum(Colour)), {"a": "RED"}, MappingProxyType({"a": Colour.RED}), {"a": "RED"}),
        (mm.Dict(keys=mm.String(), values=mm.Decimal()), {"a": "1"}, {"a": Decimal(1)}, {"a": Decimal128("1")}),
        (mm.Dict(), {"a": [TEXT]}, {"a": [TEXT]}, {"a": [TEXT]}),
        (mm.Nested(Made), {"id": TEXT}, SimpleNamespace(id=NUMBER), {"id": Binary.from_uuid(NUMBER)}),
        (mm.Nested(Made, many=True), [{"id": TEXT}], [{"id": NUMBER}], [{"id": Binary.from_uuid(NUMBER)}]),
        (mm.Nested(Tag(many=True)), [{"name": "a"}, {}], [SimpleNamespace(name="a"), {}], [{"name": "a"}, {}]),
    ],
)
def test_json_and_python_are_stored_the_same(field, sent, loaded, expected):
    assert [stored(field, value) for value in (sent, loaded)] == [expected, expected]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (mm.Decimal(as_string=True), "9" * 35),
        (mm.Decimal(as_string=True, allow_nan=True), "NaN"),
        (mm.Decimal(as_string=True), "1e99999"),
        (mm.DateTime(), "0001-01-01T00:00:00+23:00"),
        (mm.AwareDateTime(), "9999-12-31T23:59:59-23:00"),
    ],
    ids=["digits", "nan", "exponent", "first year", "last year"],
)
def test_what_has_no_place_among_other_values_is_refused_not_stored_as_text(field, value):
    with pytest.raises(ValidationError) as caught:
        stored(field, value)
    assert caught.value.messages == UNSTORABLE


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ({"X": "1.5", "At": "2024-02-29", "tag": "a"}, {"X": Decimal128("1.5"), "At": "2024-02-29", "tag": "a"}),
        (
            {"px": Decimal("1.5"), "at": date(2024, 2, 29), "label": "a"},
            {"X": Decimal128("1.5"), "At": "2024-02-29", "tag": "a"},
        ),
        (SimpleNamespace(px=Decimal(1), label="a", other=5), {"X": Decimal128("1"), "tag": "a"}),
        ({"px": "2", "At": date(2024, 2, 29)}, {"X": Decimal128("2"), "At": "2024-02-29"}),
        ({}, {}),
    ],
    ids=["JSON", "Python", "object", "both", "empty"],
)
def test_an_object_of_a_schema_is_stored_under_the_names_of_its_json(sent, expected):
    assert stored(mm.Nested(Point), sent) == expected


@pytest.mark.parametrize("field", [mm.Nested(Tag(unknown=INCLUDE)), mm.Nested(Tag, unknown=INCLUDE)])
def test_an_open_schema_stores_more_keys_of_json(field):
    assert stored(field, {"name": "a", "more": {"in": [1, None]}}) == {"name": "a", "more": {"in": [1, None]}}
    assert refused(field, {"name": "a", "odd": object(), "more": [1, Colour.RED]}) == {
        "odd": UNSTORABLE,
        "more": {1: UNSTORABLE},
    }


@pytest.mark.parametrize("field", [mm.Nested(Tag(unknown=INCLUDE)), mm.Raw(), mm.Dict()], ids=["open", "Raw", "Dict"])
@pytest.mark.parametrize("value", [MOMENT, NUMBER, Decimal("1.5"), ObjectId("0" * 24), b"a"], ids=type)
def test_what_json_has_no_type_for_is_refused_where_no_field_describes_it(field, value):
    assert refused(field, {"name": "a", "in": [1, {"more": value}]}) == {"in": {1: {"more": NOT_KEPT}}}


class Loud(mm.String):
    """A field that shows another text than it holds."""

    def _serialize(self, value, attr, obj, **kwargs):
        return value.upper()

    def _deserialize(self, value, attr, data, **kwargs):
        return value.lower()


class Hashed(mm.String):
    """A field that loads another text than it is given."""

    def _deserialize(self, value, attr, data, **kwargs):
        return super()._deserialize(value, attr, data, **kwargs) + "#"


class Taxed(Schema):
    """A schema that changes a number each time it is loaded."""

    price = mm.Integer()

    @post_load
    def tax(self, data, **kwargs):
        return {**data, "price": data["price"] + 1}


@pytest.mark.parametrize(
    ("field", "value", "messages"),
    [
        (Hashed(), "a", "itself"),
        (Loud(), "a", "itself"),
        (mm.List(mm.Nested({"v": Loud()})), [{"v": "a"}], {0: {"v": "itself"}}),
        (mm.String(post_load=lambda text: text + "#"), "a", "itself"),
        (mm.List(Hashed()), ["a"], {0: "itself"}),
        (mm.Nested(Taxed), {"price": 1}, {"price": "itself"}),
        (mm.Dict(values=mm.Nested(Taxed, many=True)), {"a": [{"price": 1}]}, {"a": {0: {"price": "itself"}}}),
        (mm.TimeDelta(), timedelta(days=999_999, microseconds=1), "itself"),
        (mm.String(), MOMENT, "itself"),
        (mm.Integer(), Decimal("1.5"), "itself"),
        (mm.Float(), Decimal("0.1"), "itself"),
    ],
    ids=[
        "a subclass",
        "shown",
        "shown inside",
        "a hook",
        "in a list",
        "a Schema",
        "deep",
        "a duration",
        "no text",
        "a part",
        "a fraction",
    ],
)
def test_a_value_that_would_come_back_as_another_is_refused(field, value, messages):
    expected = json.loads(json.dumps(messages).replace('"itself"', json.dumps(NOT_KEPT)))
    found = refused(field, value)
    assert json.loads(json.dumps(found)) == expected


class Pair(mm.Field):
    """A field that loads a tuple from text."""

    def _deserialize(self, value, attr, data, **kwargs):
        return tuple(map(int, value.split(",")))

    def _serialize(self, value, attr, obj, **kwargs):
        return ",".join(map(str, value))


class Several(mm.List):
    """A list that loads a tuple, or a set."""

    def __init__(self, inner, made):
        super().__init__(inner)
        self.made = made

    def _deserialize(self, value, attr, data, **kwargs):
        return self.made(super()._deserialize(value, attr, data, **kwargs))


@pytest.mark.parametrize(
    ("field", "sent", "loaded"),
    [(Pair(), "1,2", (1, 2)), (Several(mm.Date(), tuple), ["2024-02-29"], (date(2024, 2, 29),))],
    ids=["text", "list"],
)
def test_a_tuple_that_a_field_loads_is_stored_as_it_is_dumped(field, sent, loaded):
    assert [stored(field, value) for value in (sent, loaded)] == [sent, sent]


def test_a_set_is_refused_as_each_process_lists_it_in_another_order():
    assert refused(Several(mm.String(), set), ["a", "b"]) == UNSTORABLE


@pytest.mark.parametrize("value", ["10:20:00+02:00", time(10, 20, tzinfo=UTC)])
def test_a_time_with_an_offset_is_refused_as_times_are_ordered_by_their_text(value):
    assert refused(mm.Time(), value) == ["May have no offset, as times are ordered by their text."]


class Silent(mm.String):
    """A field that refuses what it has shown, without a word."""

    def _deserialize(self, value, attr, data, **kwargs):
        if value == "b":
            raise ValidationError([])
        return "b"


def test_a_refusal_without_words_is_one():
    assert refused(Silent(), "a") == NOT_KEPT


class More(Schema):
    """A schema that makes a further key."""

    name = mm.String()

    @post_load
    def more(self, data, **kwargs):
        return {**data, "more": 1}


class Renamed(Schema):
    """A schema whose object has other names than its JSON."""

    lat = mm.Float()

    @post_load
    def make(self, data, **kwargs):
        return SimpleNamespace(x=data["lat"])


class Shortened(Schema):
    """A schema whose hook leaves out a name, in place."""

    lat = mm.Float()
    note = mm.String()

    @pre_load
    def shorten(self, data, **kwargs):
        data.pop("note", None)
        return data


class Listed(Schema):
    """A schema that makes of an object what it does not load."""

    lat = mm.Float(required=True)

    @post_load
    def make(self, data, **kwargs):
        return (data["lat"],)


@pytest.mark.parametrize(
    ("field", "value", "messages"),
    [
        (mm.Nested(More), {"name": "a"}, {"more": NOT_KEPT}),
        (mm.Nested(Renamed), {"lat": 1.5}, {"lat": NOT_KEPT}),
        (mm.Nested(Listed), {"lat": 1.5}, {"lat": NOT_KEPT}),
        (mm.List(mm.Nested(Shortened)), [{"lat": 1.5}, {"lat": 1.5, "note": "a"}], {1: {"note": NOT_KEPT}}),
        (mm.Nested(Shortened), SimpleNamespace(lat=1.5, note="a"), {"note": NOT_KEPT}),
        (mm.Nested(Tag), SimpleNamespace(other=1), ["Invalid value."]),
        (mm.Nested(Point), {"X": "1", "px": Decimal(2)}, ["Invalid value."]),
        (mm.Boolean(), MOMENT, ["Not a valid boolean."]),
        (mm.List(mm.Integer()), [Decimal("1.5")], {0: NOT_KEPT}),
        (mm.Nested(Tag), {"name": b"a"}, {"name": NOT_KEPT}),
        (mm.Dict(values=mm.Date()), {"a": MOMENT}, {"a": NOT_KEPT}),
        (mm.Tuple((mm.String(),)), (NUMBER,), {0: NOT_KEPT}),
    ],
    ids=[
        "more",
        "renamed",
        "a tuple",
        "left out",
        "of an object",
        "other names",
        "both names",
        "a date",
        "number",
        "bytes",
        "a time",
        "a UUID",
    ],
)
def test_what_would_be_lost_is_refused(field, value, messages):
    assert refused(field, value) == messages


class Csv(mm.Field):
    """A field that cannot load what it has made."""

    def _deserialize(self, value, attr, data, **kwargs):
        return value.split(",")


def test_a_field_that_fails_on_its_own_value_refuses_it():
    assert refused(Csv(), "a,b") == NOT_KEPT


def test_an_attribute_that_is_none_is_absent_where_null_is_refused():
    class Born(Schema):
        name = mm.String()
        born = mm.Date()
        died = mm.Date(allow_none=True)

        @post_load
        def make(self, data, **kwargs):
            return SimpleNamespace(**{"born": None, "died": None, **data})

    forms = {"name": "a"}, SimpleNamespace(name="a", born=None, died=None)
    assert [stored(mm.Nested(Born), form) for form in forms] == [{"name": "a", "died": None}] * 2


@pytest.mark.parametrize("value", [map(int, "12"), {1: 0, 2: 0}.keys(), range(1, 3)], ids=["map", "keys", "range"])
def test_what_python_iterates_over_is_a_list(value):
    assert stored(mm.List(mm.Integer()), value) == [1, 2]


class IdText(mm.Field):
    """A field that loads text only, and dumps no text."""

    def _serialize(self, value, attr, obj, **kwargs):
        return value

    def _deserialize(self, value, attr, data, **kwargs):
        return ObjectId(value)


def test_what_a_field_dumps_as_it_is_is_not_loaded_again():
    assert [stored(IdText(), value) for value in ("0" * 24, ObjectId("0" * 24))] == [ObjectId("0" * 24)] * 2


def test_a_schema_that_drops_keys_stores_none_of_them():
    assert stored(mm.Nested(Tag, unknown=EXCLUDE), {"name": "a", "more": 1}) == {"name": "a"}


def test_json_is_stored_as_it_is():
    value = {"a": None, "b": [True, 0.5, "text", 5]}
    assert stored(mm.Raw(), value) == value


class Told(mm.Raw):
    """A field that loads an object of its own, and dumps what it is told of its place."""

    def _serialize(self, value, attr, obj, **kwargs):
        return [attr, obj]

    def _deserialize(self, value, attr, data, **kwargs):
        return SimpleNamespace()


def test_a_field_is_dumped_without_a_place():
    assert stored(Told(), "a") == [None, {}]


class Odd(mm.Raw):
    """A field that dumps what is not JSON, or nothing."""

    def _serialize(self, value, attr, obj, **kwargs):
        return {"set": {1}, "null": None}[value.name]

    def _deserialize(self, value, attr, data, **kwargs):
        return SimpleNamespace(name=value)


@pytest.mark.parametrize(
    ("field", "value", "messages"),
    [
        (mm.String(), "\ud800", UNSTORABLE),
        (mm.Integer(), 2**63, UNSTORABLE),
        (mm.Float(allow_nan=True), float("nan"), UNSTORABLE),
        (mm.Raw(), object(), UNSTORABLE),
        (Odd(), "set", UNSTORABLE),
        (Odd(), "null", UNSTORABLE),
        (mm.Raw(), [1, {"a": object()}, object()], {1: {"a": UNSTORABLE}, 2: UNSTORABLE}),
        (mm.List(mm.Date()), ["2024-02-29", NUMBER, NUMBER], {1: ["Invalid value."], 2: ["Invalid value."]}),
        (mm.List(mm.Date()), ["2024-02-29", "x", 5], {1: ["Not a valid date."], 2: ["Not a valid date."]}),
        (
            mm.Dict(values=mm.Date()),
            {"a": NUMBER, "b": "2024-02-29", "c": NUMBER},
            {"a": ["Invalid value."], "c": ["Invalid value."]},
        ),
        (mm.Nested(Point), {"X": "x", "z": 1}, {"X": ["Not a valid number."], "z": ["Unknown field."]}),
        (mm.Nested(Point), {"at": NUMBER}, {"At": ["Invalid value."]}),
        (mm.Nested(Point), [{"at": NUMBER}], {"_schema": ["Invalid input type."]}),
        (mm.List(moment()), ["2024-02-29", NUMBER], {1: ["Not a valid ISO 8601 date."]}),
        (mm.Nested(Point), 5, {"_schema": ["Invalid input type."]}),
        (mm.Nested(Point, many=True), {"X": "1"}, ["Invalid type."]),
        (mm.Raw(validate=Range(max=MOMENT)), MOMENT + timedelta(1), [f"Must be less than or equal to {MOMENT}."]),
        (mm.DateTime(), NUMBER, ["Invalid value."]),
    ],
)
def test_what_cannot_be_stored_is_refused_at_its_place(field, value, messages):
    assert refused(field, value) == messages


def test_a_moment_that_marshmallow_cannot_move_is_refused():
    with pytest.raises(ValidationError) as caught:
        stored(mm.NaiveDateTime(timezone=UTC), "0001-01-01T00:00:00+23:00")
    assert caught.value.messages == ["Invalid value."]


@pytest.mark.parametrize(
    ("field", "value"),
    [(mm.Integer(), "abc"), (mm.List(mm.Decimal()), "many"), (mm.List(mm.Decimal()), ["many"])],
    ids=["number", "element", "list"],
)
def test_what_a_users_field_refuses_is_doubtful(field, value):
    with pytest.raises(Doubtful) as caught:
        as_kind(in_models(field)).operand(value, "x")
    assert caught.value.errors == {"x": ["Invalid value."]}


@pytest.mark.parametrize(
    ("field", "value", "compared"),
    [
        (mm.List(mm.Decimal()), "1.5", Decimal128("1.5")),
        (mm.List(mm.Decimal()), ["1.5"], [Decimal128("1.5")]),
        (mm.Integer(validate=Range(min=0)), -5, -5),
        (mm.Integer(), None, None),
        (mm.UUID(), TEXT, Binary.from_uuid(NUMBER)),
        (mm.UUID(), None, None),
        (mm.Nested(Tag), {"name": "a"}, {"name": "a"}),
    ],
)
def test_a_filter_compares_with_what_would_be_stored(field, value, compared):
    assert as_kind(in_models(field)).operand(value, "x") == compared


@pytest.mark.parametrize("field", [mm.Integer(), mm.List(mm.Integer())], ids=["number", "list"])
def test_a_filter_compares_with_nothing_that_the_database_cannot_hold(field):
    with pytest.raises(Refused) as caught:
        as_kind(in_models(field)).operand(object(), "x")
    assert (type(caught.value), caught.value.errors) == (Refused, {"x": ["Invalid value."]})


def test_ours_stay_themselves():
    field = integer()
    assert in_models(field) is field


@pytest.mark.parametrize("around", [array, lambda field: object_({"a": field})], ids=["list", "object"])
def test_parts_of_ours_are_taken_one_by_one(around):
    changed = in_models(around(mm.Integer()))
    ((_, part),) = as_kind(changed).parts()
    assert (type(part), in_models(part) is part) == (ForeignField, True)
    ours = around(integer())
    assert in_models(ours) is ours


@pytest.mark.parametrize("around", [lambda field: field, array, lambda field: object_({"a": field})])
def test_load_only_is_refused_with_its_place(around):
    with pytest.raises(DefinitionError) as caught:
        in_models(around(mm.String(load_only=True)), "model 'user', field 'name'")
    assert caught.value.message == "model 'user', field 'name': load_only is for requests, not for what is stored"


def test_a_refusal_without_a_place_names_the_model():
    with pytest.raises(DefinitionError) as caught:
        in_models(mm.String(load_only=True))
    assert caught.value.message == "model: load_only is for requests, not for what is stored"


@pytest.mark.parametrize(
    ("field", "given", "amounts"),
    [
        (mm.Integer(), [1, 0.5, True, "1"], [1, None, None, None]),
        (mm.Float(), [1, 0.5, True, "1"], [1, 0.5, None, None]),
        (mm.String(), [1, "1"], [1, None]),
        (
            mm.Decimal(),
            [1, "0.5", Decimal("0.5"), 0.5, "x", [], "1e99999"],
            [Decimal128("1"), Decimal128("0.5"), Decimal128("0.5"), Decimal128("0.5"), None, None, None],
        ),
        (
            mm.TimeDelta(precision="minutes"),
            [1, 0.5, timedelta(hours=1), "x", None],
            [1.0, 0.5, 60.0, None, None],
        ),
    ],
)
def test_increments_are_stored_like_values(field, given, amounts):
    assert [as_kind(in_models(field)).amount(by) for by in given] == amounts


def test_the_current_date_of_a_day_is_the_day():
    fields = [mm.Date(), mm.DateTime(), mm.Time()]
    assert [as_kind(in_models(field)).current(MOMENT) for field in fields] == [MOMENT.date(), MOMENT, MOMENT]


def test_a_field_is_as_large_and_described_as_the_one_in_it():
    kind = as_kind(in_models(mm.Integer()))
    assert (kind.largest, list(kind.unstated("x")), kind.description()) == (8, [], {"kind": "integer"})
    assert list(as_kind(in_models(mm.Nested(Tag))).unstated("x")) == ["x"]


def test_parts_are_fields_of_models():
    parts = {
        "values": as_kind(in_models(mm.Dict(values=mm.UUID()))).part("any"),
        "field": as_kind(in_models(mm.Nested(Point))).part("X"),
        "element": as_kind(in_models(mm.List(mm.Date()))).part(0),
        "elements": as_kind(in_models(mm.List(mm.Date()))).elements,
    }
    assert {name: type(part) for name, part in parts.items()} == dict.fromkeys(parts, ForeignField)
    assert [part.kind for part in parts.values()] == ["UUID", "Decimal", "Date", "Date"]
    none = [as_kind(in_models(field)).part(key) for field, key in ((mm.Dict(), "a"), (mm.Nested(Point), "x"))]
    assert none == [None, None]
    ours = string()
    assert as_kind(in_models(mm.List(ours))).elements is ours


def test_only_lists_take_operators_of_lists():
    lists = as_kind(in_models(mm.List(mm.String())))
    assert (lists.abilities, as_kind(in_models(mm.String())).abilities) == ({Ability.LIST}, frozenset())
    assert as_kind(in_models(mm.Nested(Tag))).part("name") is not None

"""The Python types of a catalog: whole, the same each time, and what replies are made of."""

from __future__ import annotations

import ast

import pytest
from marshmallow import INCLUDE, Schema
from marshmallow import fields as mm

from gatewayfw.catalog import build
from gatewayfw.export.python.runtime import import_lines, runtime
from gatewayfw.export.python.types import IMPORTS, Types, quoted
from gatewayfw.export.text import digest
from gatewayfw.schemas import array, boolean, date, described, enums, integer, number, object_, optional, string
from sample_service.app import create_service
from tests.export.generated import hints, loaded, make, signature, source

WHOLE = '''\
# gatewayfw {digest}: generated; do not edit
# fmt: off
# ruff: noqa
"""The models and acts of a gateway, and a client: ``Client("https://example.com", token="...")``."""

from __future__ import annotations

{imports}
#: 24 hexadecimal digits.
Id: TypeAlias = str
#: ISO 8601; in replies in UTC with milliseconds, as in "2024-05-01T12:00:00.000Z".
Date: TypeAlias = str
#: A file to send: its path, or a file that is open in binary mode.
File: TypeAlias = PathLike[str] | IO[bytes]
#: What a `get` says of a field: shown or not.
Flag: TypeAlias = Literal[0, 1]


class _CityAddCitySetNeeded(TypedDict):
    name: str


class CityAddCitySet(_CityAddCitySetNeeded, total=False):
    #: How many live there.
    size: int


class CountryCopyGet0(TypedDict, total=False):
    """What a `get` of country may name."""

    _id: Flag
    name: Flag
    since: Flag


class CountryCopy0(TypedDict, total=False):
    """A document of country, as far as `get` asks for it."""

    _id: Id
    name: str
    since: Date


class CityGet1(TypedDict, total=False):
    """What a `get` of city may name."""

    _id: Flag
    name: Flag
    size: Flag
    _rev: Flag
    country: Flag | CountryCopyGet0


class City1(TypedDict, total=False):
    """A document of city, as far as `get` asks for it."""

    _id: Id
    name: str
    #: How many live there.
    size: int
    _rev: int
    country: CountryCopy0


class Nothing(TypedDict):
    """No keys."""


class CountryCitiesGet0(TypedDict, total=False):
    """What a `get` of city may name."""

    _id: Flag
    name: Flag


class CountryCities0(TypedDict, total=False):
    """A document of city, as far as `get` asks for it."""

    _id: Id
    name: str


class CountryGet1(TypedDict, total=False):
    """What a `get` of country may name."""

    _id: Flag
    name: Flag
    since: Flag
    _rev: Flag
    cities: Flag | CountryCitiesGet0


class Country1(TypedDict, total=False):
    """A document of country, as far as `get` asks for it."""

    _id: Id
    name: str
    since: Date
    _rev: int
    cities: list[CountryCities0]


class CountryListCountriesGet(TypedDict, total=False):
    rows: CountryGet1


class _CountryListCountriesResultNeeded(TypedDict):
    total: int


class CountryListCountriesResult(_CountryListCountriesResultNeeded, total=False):
    note: str
    rows: list[Country1]


class AnyClient(Protocol):
    """Calls acts: a `Client`, one of `gatewayfw.client`, or a stand-in of your own."""

    def with_token(self, token: str | None) -> AnyClient:
        """Return a client that sends another token, or none."""

    @overload
    def call(
        self,
        model: Literal["city"],
        act: Literal["addCity"],
        *,
        service: Literal["main"] = "main",
        set: CityAddCitySet,
        get: CityGet1 | None = None,
    ) -> City1:
        """Add a city.

        It says \\"hello\\".
        """

    @overload
    def call(
        self,
        model: Literal["country"],
        act: Literal["listCountries"],
        *,
        service: Literal["main"] = "main",
        set: Nothing | None = None,
        get: CountryListCountriesGet | None = None,
    ) -> CountryListCountriesResult:
        ...

    @overload
    def call(
        self,
        model: str,
        act: str,
        *,
        service: Literal["far"],
        set: Mapping[str, Any] | None = None,
        get: Mapping[str, Any] | None = None,
        retries: int = 0,
        key: str | None = None,
    ) -> Any:
        """An act of a remote service."""

    def call(self, *args: Any, **named: Any) -> Any:
        raise TypeError


{runtime}

if TYPE_CHECKING:

    class Client(Sender, AnyClient):
        """Calls the acts over HTTP."""

else:

    class Client(UntypedClient):
        __doc__ = Sender.__doc__
'''


@pytest.fixture
def gw():
    return make()


def test_the_whole_module(gw):
    @gw.acts.act(
        "city", "addCity", set={"name": string(), "size": optional(described(integer, "How many live there."))}, get=1
    )
    def add_city(body):
        """Add a city.

        It says "hello".
        """

    rows = optional(gw.schemas.select_struct("country", 1))
    returns = {"total": integer(), "note": optional(string()), "rows": "many"}
    gw.acts.set_act(
        schema="country",
        act_name="listCountries",
        validator={"set": {}, "get": {"rows": rows}},
        fn=lambda body: None,
        returns=returns,
    )
    gw.acts.set_service("far", "https://example.com")
    parts = {"digest": digest(build(gw.schemas, gw.acts)), "imports": import_lines(IMPORTS | runtime().imports)}
    expected = WHOLE.replace("{runtime}", runtime().code)
    for name, text in parts.items():
        expected = expected.replace(f"{{{name}}}", text)
    assert source(gw) == expected


def test_equal_services_give_equal_bytes_of_python_3_10():
    first, second = (create_service(token_key="k" * 32).gw for _ in range(2))
    assert source(first) == source(second)
    assert ast.parse(source(first), feature_version=(3, 10))


def test_a_gateway_without_acts_has_a_client_that_calls_nothing(gw):
    assert not hasattr(loaded(source(gw)).AnyClient, "call")


KINDS = {
    "text": (string(), "str"),
    "date": (date(), "Date"),
    "number": (number(), "float"),
    "boolean": (boolean, "bool"),
    "choices": (enums("a", 'b"', 1, True), """Literal['a', 'b"', 1, True]"""),
    "choices with a fraction": (enums("a", 2.5), "Literal['a'] | float"),
    "list": (array(array(integer())), "list[list[int]]"),
    "any object": (object_(), "dict[str, Any]"),
    "null too": (mm.Integer(required=True, allow_none=True), "int | None"),
    "raw": (mm.Raw(required=True), "Any"),
    "object": (object_({"a": string()}), "CityActSetValue"),
    "list of objects": (array(object_({"a": string()})), "list[CityActSetValue]"),
}


@pytest.mark.parametrize(("kind", "annotation"), KINDS.values(), ids=KINDS)
def test_the_annotation_of_a_kind(gw, kind, annotation):
    (set_, _, _), module = signature(gw, set={"value": kind})
    assert (set_, hints(module, "CityActSet")) == ("CityActSet", ({"value": annotation}, {"value"}))


RETURNS = {
    "one": ("one", "City0"),
    "optional": ("optional", "City0 | None"),
    "many": ("many", "list[City0]"),
    "a value": (boolean, "bool"),
    "a value or nothing": (optional(array(string)), "list[str] | None"),
    "an object": (object_({"a": integer()}), "CityActResult"),
    "no keys are known of": (object_(), "dict[str, Any]"),
    "rows": ({"rows": "many"}, "CityActResult"),
}


@pytest.mark.parametrize(("given", "annotation"), RETURNS.values(), ids=RETURNS)
def test_the_annotation_of_a_result(gw, given, annotation):
    told, _ = signature(gw, get=gw.schemas.select_struct("city", 0), returns=given)
    assert told == ("Nothing | None", "CityGet0 | None", annotation)


def test_nothing_is_known_of_what_a_function_judges(gw):
    free = "Mapping[str, Any] | None"
    assert signature(gw, validator=lambda details: details)[0] == (free, free, "Any")


@pytest.mark.parametrize("odd", ["a-b", "class", "list", "__x", "Name", "from now\n", "\u0622"], ids=ascii)
@pytest.mark.parametrize("kind", [string(), optional(string())], ids=["needed", "not needed"])
@pytest.mark.parametrize("others", [[], ["name", "not-plain"]], ids=["alone", "with others"])
def test_a_key_that_no_class_can_have(gw, odd, kind, others):
    told, module = signature(gw, set={**dict.fromkeys(others, kind), odd: kind, "last": string()})
    annotations, required = hints(module, "CityActSet")
    assert (told[0], annotations) == ("CityActSet", dict.fromkeys([*others, odd, "last"], "str"))
    assert required == ({*others, odd, "last"} if kind.required else {"last"})
    assert f"    {quoted(odd)}: " in source(gw)  # in a class body `list` would hide the builtin from mypy


def test_equal_objects_share_a_class_and_others_do_not(gw):
    same = {"a": object_({"x": string()}), "b": array(object_({"x": string()})), "c": object_({"x": optional(string)})}
    _, module = signature(gw, set=same)
    assert hints(module, "CityActSet")[0] == {"a": "CityActSetA", "b": "list[CityActSetA]", "c": "CityActSetC"}


class More(Schema):
    """Takes keys that it does not name."""

    class Meta:
        """Its options."""

        unknown = INCLUDE

    name = mm.String(required=True)


def test_an_object_that_takes_other_keys_is_any_mapping(gw):
    _, module = signature(gw, set={"value": More})
    assert hints(module, "CityActSet") == ({"value": "dict[str, Any]"}, {"value"})


def test_a_set_that_takes_other_keys_is_any_mapping(gw):
    told, _ = signature(gw, validator={"set": More, "get": {}})
    assert told == ("Mapping[str, Any] | None", "Nothing | None", "Any")


def test_names_that_become_equal_are_told_apart(gw):
    for model in ("city_x", "cityX"):
        gw.acts.set_act(
            schema=model, act_name="act", validator={"set": {"a": string()}, "get": {}}, fn=lambda body: None
        )
    module = loaded(source(gw))
    assert {name for name in vars(module) if name.endswith("Set") or "Set_" in name} == {"CityXActSet", "CityXActSet_2"}


def test_descriptions_cannot_end_their_comment_or_docstring(gw):
    def fn(body):
        """Replaced."""

    fn.__doc__ = 'A """ and \\ and \0\u2028and\rmore"'
    text = described(string(), 'x\n    evil: int\u2028\\ """')
    gw.acts.set_act(schema="city", act_name="act", validator={"set": {"a": text, "b-c": text}, "get": {}}, fn=fn)
    module = loaded(source(gw))
    assert hints(module, "CityActSet") == ({"a": "str", "b-c": "str"}, {"a", "b-c"})
    assert module.AnyClient.call.__doc__.split() == ["A", '"""', "and", "\\", "and", "and", 'more"']


def test_decimals_are_texts_and_whole_numbers_where_these_are_taken():
    kind = {"kind": "decimal", "places": 2, "presence": "required"}
    listed = {"kind": "array", "items": {**kind, "whole": True, "nullable": True}, "presence": "required"}
    found = [Types().value(one, "X") for one in (kind, {**kind, "whole": True}, listed)]
    assert found == ["str", "str | int", "list[str | int | None]"]

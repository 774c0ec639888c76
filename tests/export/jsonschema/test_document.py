"""The JSON Schema says what the validators do: in both directions, but for what its head excepts."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError as Invalid
from jsonschema.validators import extend

from gatewayfw import gateway
from gatewayfw.catalog import build
from gatewayfw.errors import BadRequest, ValidationError
from gatewayfw.export.jsonschema.document import details_schema, json_schema
from gatewayfw.schemas import boolean, defaulted, enums, object_, optional, string
from gatewayfw.web.reader import check_request
from tests.export.coercion import kept
from tests.export.market import expected, written
from tests.fuzz.hostile import good_bodies, hostile_bodies
from tests.fuzz.zoo import make_zoo

short = settings(max_examples=15, derandomize=True, database=None, suppress_health_check=list(HealthCheck))

ZOO = make_zoo()
SCHEMA = json_schema(build(ZOO.schemas, ZOO.acts))
#: Acts whose validators the schema cannot know wholly.
UNKNOWN = ("own", "schema", "function")
ACTS = {name: act for name, act in ZOO.acts.get_acts("beast").items() if not name.startswith(UNKNOWN)}
#: What only the server judges: of dates and e-mail addresses.
DETAILS = {
    *("Not a valid ISO 8601 date.", "Not a valid email address.", "Not a valid URL.", "Not valid base64."),
    *("Must be greater than or equal to 0.00 and less than or equal to 9.99.", "Must have at most 34 digits."),
    *('Not a valid decimal (text such as "12.50").', "Not a valid UUID."),
    *("Length must be 3.", "Length must be between 40 and 50."),
}


def _pattern(validator, pattern, instance, schema):
    # ECMA's $ is the very end; Python's is before a last line break, too.
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield Invalid("pattern")


Validator = extend(Draft202012Validator, {"pattern": _pattern})


def validator(name, schema=SCHEMA):
    return Validator({"$ref": f"#/$defs/{name}", "$defs": schema["$defs"]})


VALIDATORS = {name: validator(f"main.beast.{name}.request") for name in ACTS}


def judged(act, body) -> tuple[bool, set[str]]:
    """Whether the server takes a body as it is, defaults apart; and the texts of what it refuses."""
    try:
        request = check_request(copy.deepcopy(body))
        if (request["service"], request["model"], request["act"]) != ("main", act.schema, act.act_name):
            return False, set()
        loaded = act.struct.check(request["details"], act.validation_run_type, act.bounds)
    except BadRequest:
        return False, set()
    except ValidationError as error:
        return False, {text for texts in error.errors.values() for text in texts}
    return kept(body["details"], loaded), set()


def values(value):
    yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from values(inner)


def excepted(body) -> bool:
    """Whether a body holds what no schema can say."""
    text = repr(body)
    return (
        text.count("[") + text.count("{") > 100  # first: the rest takes long on bodies that are deep
        or bool(re.search(r"\\ud[89a-f]", text))
        or any(type(one) is float and one.is_integer() for one in values(body))
        or any(type(one) is int and not -(2**63) <= one < 2**63 for one in values(body))
        or any(isinstance(one, dict) and ("secret" in one or "badge" in one) for one in values(body))
        # A link of which not all fields may be named takes no 1, excluded ones counted.
        or any(isinstance(one, dict) and one.get("keepers") == 1 for one in values(body))
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ACTS)
@given(data=st.data())
@short
def test_it_takes_what_the_validator_takes(name: str, data: st.DataObject) -> None:
    act = ACTS[name]
    body = data.draw(good_bodies(ZOO, act) | hostile_bodies(ZOO, act))
    if excepted(body):
        return
    taken, texts = judged(act, body)
    if taken:
        VALIDATORS[name].validate(body)
    elif VALIDATORS[name].is_valid(body):
        # What mode `create` coerces no schema takes; of what it refuses, only details may be.
        assert texts
        assert texts <= DETAILS


REVISIONS = {
    "at the top": ({"_rev": 1}, True),
    "at the top, left out": ({"_rev": 0, "name": 1}, True),
    "no flag": ({"_rev": 2}, False),
    "a text": ({"_rev": "1"}, False),
    "nothing": ({"_rev": None}, False),
    "an object": ({"_rev": {}}, False),
    "in a copy": ({"keepers": {"_rev": 1}}, False),
    "in a copy, left out": ({"_rev": 1, "keepers": {"_rev": 0}}, False),
    "in a copy of a copy": ({"keepers": {"beasts": {"_rev": 1}}}, False),
}


@pytest.mark.parametrize("name", ["deep_assert", "shallow_assert", "narrow_assert"])
@pytest.mark.parametrize(("get", "right"), REVISIONS.values(), ids=REVISIONS)
def test_a_get_names_the_revision_at_the_top_only(name, get, right):
    body = {"model": "beast", "act": name, "details": {"set": {}, "get": get}}
    assert (judged(ACTS[name], body)[0], VALIDATORS[name].is_valid(body)) == (right, right)


def test_the_root_takes_a_good_body_of_each_act_and_no_other():
    root = Validator(SCHEMA)
    body = {"model": "beast", "act": "shallow_assert", "details": {"set": {}, "get": {"name": 1}}}
    good = [body, {**body, "service": None, "more": 1}, {**body, "service": "main", "act": "deep_create"}]
    bad = [{**body, "act": "nope"}, {**body, "service": "x"}, {**body, "details": {"set": {}}}, [], None]
    assert [root.is_valid(one) for one in good + bad] == [True] * len(good) + [False] * len(bad)


def test_it_is_a_right_schema_that_says_where_it_is_from():
    Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["$comment"] == "Generated by gatewayfw; do not edit"


def test_it_is_the_same_each_time_and_says_nothing_of_excluded_fields():
    text = json.dumps(SCHEMA)
    assert text == json.dumps(json_schema(build(ZOO.schemas, ZOO.acts)))
    assert "secret" not in text
    assert "badge" not in text


def test_the_whole_schema_of_a_gateway_with_one_of_each_thing():
    assert written("schema.json") == expected("schema.json")


def test_a_gateway_without_acts_takes_nothing():
    gw = gateway()
    schema = json_schema(build(gw.schemas, gw.acts))
    Draft202012Validator.check_schema(schema)
    assert Validator(schema).is_valid({}) is False
    assert list(schema["$defs"]) == ["error", "error.detail"]


@pytest.fixture
def gw():
    """Three models in a circle, of which one hides something from its neighbour."""
    made = gateway()
    made.schemas.add("club", {"name": string(), "motto": optional(string())}, {})
    related = {"members": {"type": "multiple", "excludes": ["age"]}, "boss": {"type": "single"}}
    club = {"schemaName": "club", "type": "single", "relatedRelations": related}
    made.schemas.add("person", {"name": string(), "age": optional(string())}, {"club": club})
    return made


def defs_of(gw, **options):
    get = options.pop("get", {})
    gw.acts.set_act(
        schema="club", act_name="do", validator={"set": {}, "get": get}, fn=lambda body: None, public=True, **options
    )
    return json_schema(build(gw.schemas, gw.acts))["$defs"]


FLAG = {"type": "integer", "enum": [0, 1]}
REVISION = {"type": "integer", "minimum": 0}
TEXT = {"type": "string"}
ID = {"type": "string", "pattern": "^[0-9a-fA-F]{24}$", "maxLength": 24}


def closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def test_what_is_shared_stands_once_for_each_model_and_depth(gw):
    defs = defs_of(gw, get=gw.schemas.select_struct("club", 2), returns="many")
    one = closed(_id=ID, name=TEXT, age=TEXT, club=ref("shown.person.club.0"))
    assert {name: schema for name, schema in defs.items() if name.startswith(("get.", "shown.", "main."))} == {
        "main.club.do.request": {
            "title": "club.do",
            "type": "object",
            "properties": {
                "service": {"anyOf": [{"type": "string", "const": "main", "enum": ["main"]}, {"type": "null"}]},
                "model": {"type": "string", "const": "club", "enum": ["club"]},
                "act": {"type": "string", "const": "do", "enum": ["do"]},
                "details": {
                    **closed(set=ref("main.club.do.set"), get=ref("main.club.do.get")),
                    "required": ["set", "get"],
                },
            },
            "required": ["model", "act", "details"],
        },
        "main.club.do.set": closed(),
        "main.club.do.get": ref("get.club.2"),
        "main.club.do.reply": {"type": "array", "items": ref("shown.club.2")},
        "get.club.2": closed(
            _id=FLAG,
            name=FLAG,
            motto=FLAG,
            _rev=FLAG,
            members={"anyOf": [FLAG, ref("get.person.1.below")]},
            boss={"anyOf": [FLAG, ref("get.person.1.below")]},
        ),
        "get.person.1.below": closed(_id=FLAG, name=FLAG, age=FLAG, club={"anyOf": [FLAG, ref("get.club.0.below")]}),
        "get.club.0.below": closed(_id=FLAG, name=FLAG, motto=FLAG),
        "shown.club.2": closed(
            _id=ID,
            name=TEXT,
            motto=TEXT,
            members={"type": "array", "items": ref("shown.club.members.1")},
            boss=ref("shown.club.boss.1"),
            _rev=REVISION,
        ),
        "shown.club.members.1": closed(_id=ID, name=TEXT, club=ref("shown.person.club.0")),
        "shown.person.club.0": closed(_id=ID, name=TEXT, motto=TEXT),
        "shown.club.boss.1": one,
        "shown.club.members.0": closed(_id=ID, name=TEXT),
        "shown.club.boss.0": closed(_id=ID, name=TEXT, age=TEXT),
    }


def test_a_model_is_a_document_with_all_that_is_shown_of_it(gw):
    defs = defs_of(gw)
    assert defs["model.person"] == {
        **closed(_id=ID, name=TEXT, age=TEXT, club=ref("shown.person.club.0")),
        "required": ["_id", "name", "club"],
    }
    assert defs["model.club"]["required"] == ["_id", "name", "members"]


def test_what_is_shown_has_no_defaults(gw):
    gw.schemas.add("lamp", {"on": defaulted(boolean(), True)}, {})
    assert defs_of(gw)["model.lamp"] == {**closed(_id=ID, on={"type": "boolean"}), "required": ["_id"]}


def test_a_get_is_no_deeper_than_the_act_allows(gw):
    defs = defs_of(gw, get=gw.schemas.select_struct("club", 5), max_get_depth=2)
    nothing = {"type": "object", "maxProperties": 0}
    assert defs["main.club.do.get"] == ref("get.club.5.2")
    assert defs["get.person.4.1.below"] == closed(_id=FLAG, name=FLAG, age=FLAG, club={"anyOf": [FLAG, nothing]})
    assert defs["main.club.do.reply"] == ref("shown.club.2")
    get = validator("main.club.do.get", {"$defs": defs})
    gets = [{"members": {"club": 1}}, {"members": {"club": {}}}, {"members": {"club": {"name": 1}}}]
    assert [get.is_valid(one) for one in gets] == [True, True, False]


@pytest.mark.parametrize(("most", "name"), [(2, "get.club.2.2"), (3, "get.club.2")])
def test_a_get_that_goes_as_deep_as_it_could_is_the_shared_one(gw, most, name):
    defs = defs_of(gw, get=gw.schemas.select_struct("club", 2), max_get_depth=most)
    assert defs["main.club.do.get"] == ref(name)


def test_a_restricted_selection_stands_where_it_is_used_and_what_it_shows_by_itself(gw):
    defs = defs_of(gw, get=gw.schemas.select_struct("club", {"name": 1, "members": {"name": 1}, "boss": 1}))
    assert defs["main.club.do.get"] == closed(
        _id=FLAG,
        name=FLAG,
        _rev=FLAG,
        members={"anyOf": [{"type": "integer", "const": 0, "enum": [0]}, closed(_id=FLAG, name=FLAG)]},
        boss={"anyOf": [FLAG, ref("get.person.0.below")]},
    )
    assert defs["main.club.do.reply"] == ref("main.club.do.shown")
    assert defs["main.club.do.shown"] == closed(
        _id=ID,
        name=TEXT,
        members={"type": "array", "items": closed(_id=ID, name=TEXT)},
        boss=ref("shown.club.boss.0"),
        _rev=REVISION,
    )


LONG_3 = {"minLength": 3, "maxLength": 3}
REPLIES = {
    "a document or null": ("optional", {"anyOf": [ref("shown.club.0"), {"type": "null"}]}),
    "a value": (string(size=(1, 3)), {"type": "string", "minLength": 1, "maxLength": 3}),
    "a value or null": (optional(string(size=3)), {"anyOf": [{**TEXT, **LONG_3}, {"type": "null"}]}),
    "an object or null": (
        optional(object_({"a": string(size=3)})),
        {
            "anyOf": [
                {"type": "object", "properties": {"a": {**TEXT, **LONG_3}}, "required": ["a"]},
                {"type": "null"},
            ]
        },
    ),
    "any object": (object_(), {"type": "object"}),
    "an object": (
        {"rows": "many", "word": enums("a"), "note": optional(string())},
        {
            "type": "object",
            "properties": {
                "rows": {"type": "array", "items": ref("shown.club.0")},
                "word": {"type": "string", "const": "a", "enum": ["a"]},
                "note": TEXT,
            },
            "required": ["rows", "word"],
        },
    ),
}


@pytest.mark.parametrize(("returns", "reply"), REPLIES.values(), ids=REPLIES)
def test_replies(gw, returns, reply):
    defs = defs_of(gw, get=gw.schemas.select_struct("club", 0), returns=returns)
    assert defs["main.club.do.reply"] == reply


def test_what_get_picks_is_not_required(gw):
    get = {"word": optional(enums(0, 1)), "club": optional(gw.schemas.select_struct("club", 0))}
    defs = defs_of(gw, get=get, returns={"word": string(), "club": "one", "at": string()})
    assert defs["main.club.do.reply"] == {
        "type": "object",
        "properties": {"word": TEXT, "club": ref("shown.club.0"), "at": TEXT},
        "required": ["at"],
    }
    assert defs["main.club.do.get"] == closed(word=FLAG, club=ref("get.club.0"))


def test_services(gw):
    gw.acts.set_service("near", {"club": {"do": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}})
    gw.acts.set_service("far", "https://example.com")
    schema = json_schema(build(gw.schemas, gw.acts))
    assert schema["oneOf"] == [ref("near.club.do.request"), ref("remote.far.request")]
    body = {"model": "club", "act": "do", "details": {"set": {}, "get": {}}}
    bodies = [{**body, "service": "near"}, {**body, "service": "far"}, body, {**body, "service": "far", "model": ""}]
    assert [Validator(schema).is_valid(one) for one in bodies] == [True, True, False, False]


def test_the_details_of_an_act_stand_alone(gw):
    defs_of(gw, get=gw.schemas.select_struct("club", 1))
    catalog = build(gw.schemas, gw.acts)
    schema = details_schema(catalog, catalog["services"]["main"]["acts"]["club"]["do"])
    assert schema.pop("$defs").keys() == {"get.club.1", "get.person.0.below"}
    assert schema == {**closed(get={"type": "object", **ref("get.club.1")}), "required": ["get"]}

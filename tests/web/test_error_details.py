"""The details of refusals as clients get them, wherever in a request or a document the refused value is."""

from __future__ import annotations

import enum
import io
import json

import marshmallow
import pytest

from gatewayfw import ValidationError, gateway
from gatewayfw.schemas import any_, array, file, integer, mapping, object_, optional, string

UNIQUE = {"indexSpec": {"name": 1}, "options": {"unique": True}}
#: A request with files is a form.
FORM = {"X-Gateway": "1", "X-Gateway-Detail": "1"}


class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"


@pytest.fixture
def client(database):
    """Acts on cities in countries; they take anything, and leave the checks to the models."""
    gw = gateway(max_batch=9)
    gw.odm.set_db(database)
    countries = gw.odm.new_model("country", {"name": string()}, options={"createIndex": UNIQUE})
    fields = {
        "name": string(size=(2, 9)),
        "people": optional(integer(minimum=0)),
        "flag": marshmallow.fields.List(marshmallow.fields.Enum(Colour)),
        "spots": optional(mapping(array(integer()))),
    }
    country = {"schemaName": "country", "type": "single"}
    cities = gw.odm.new_model("city", fields, {"country": country})
    listing = cities.listing(filter={"name": ["eq", "contains"], "people": ["gte"]}, sort=["name"], most=5)

    @gw.acts.act("city", "add", set={"doc": any_(), "relations": any_()}, get=1)
    def add(body):
        return cities.insert_one(**body["details"]["set"])

    @gw.acts.act("city", "change", set={"update": any_(), "rev": any_()}, get=1)
    def change(body):
        return cities.find_one_and_update({"name": "Bern"}, **body["details"]["set"])

    @gw.acts.act("city", "list", set={**listing.set}, get=1, mode="create", returns=listing.returns)
    def list_cities(body):
        return listing.page(body["details"])

    @gw.acts.act("country", "add", set={"name": string()}, get=1)
    def add_country(body):
        return countries.insert_one(doc=body["details"]["set"])

    @gw.acts.act(
        "city",
        "take",
        set={"photo": file(most=9, types=["image/gif", "image/png"]), "plan": object_({"on": array(integer())})},
    )
    def take(body):
        return None

    def refuse(body):
        raise ValidationError({"set.name": ["Nobody is called so."]})

    @gw.acts.act("city", "check")
    def check(body):
        marshmallow.fields.Integer(required=True).deserialize("x")

    gw.acts.act("city", "refuse", pre_act=[refuse])(lambda body: None)
    return gw.create_app().test_client()


def refused(client, act, given, get=None):
    """Return the details of a refusal; errors have the same paths, and as many texts."""
    model, _, name = act.rpartition(".")
    asked = {"model": model or "city", "act": name, "details": {"set": given, "get": get or {}}}
    return told(client.post("/gateway", json=asked, headers={"X-Gateway-Detail": "1"}).get_json()["body"])


def told(body):
    assert {path: len(texts) for path, texts in body["errors"].items()} == {
        path: len(details) for path, details in body["details"].items()
    }
    return body["details"]


def wrong(kind):
    return [{"code": "wrong_type", "expected": kind}]


def added(client, name="Bern"):
    """Add a city, and return its country's id."""
    asked = {"model": "country", "act": "add", "details": {"set": {"name": name}, "get": {}}}
    country = client.post("/gateway", json=asked).get_json()["body"]["_id"]
    given = {"doc": {"name": name}, "relations": {"country": {"_ids": country}}}
    asked = {"model": "city", "act": "add", "details": {"set": given, "get": {}}}
    assert client.post("/gateway", json=asked).get_json()["success"]
    return country


NOBODY = {"country": {"_ids": "0" * 24}}


@pytest.mark.parametrize(
    ("doc", "relations", "details"),
    [
        ({"name": "B"}, NOBODY, {"doc.name": [{"code": "too_short", "minimum": 2}]}),
        (
            {"flag": ["r"], "spots": {"a": [1, "b"]}, "x": 1},
            NOBODY,
            {
                "doc.name": [{"code": "required"}],
                "doc.flag.0": [{"code": "not_a_choice", "choices": ["RED", "BLUE"]}],
                "doc.spots.a.1": wrong("integer"),
                "doc.x": [{"code": "unknown"}],
            },
        ),
        (5, NOBODY, {"doc": wrong("object")}),
        ({"name": "Bern"}, {}, {"relations.country": [{"code": "required"}]}),
        ({"name": "Bern"}, {"land": {"_ids": 1}, **NOBODY}, {"relations.land": [{"code": "unknown"}]}),
        ({"name": "Bern"}, {"country": {"_ids": "x"}}, {"relations.country._ids": wrong("object_id")}),
    ],
)
def test_a_document_that_its_model_refuses(client, doc, relations, details):
    assert refused(client, "add", {"doc": doc, "relations": relations}) == details


@pytest.mark.parametrize(
    ("update", "rev", "details"),
    [
        ({"$set": {"people": -1}}, 0, {"update.people": [{"code": "too_small", "minimum": 0}]}),
        ({"$set": {"spots.a": ["b"]}}, 0, {"update.spots.a.0": wrong("integer")}),
        ({"$set": {"town": 1}}, 0, {"update.town": [{"code": "unknown"}]}),
        ({"$unset": {"name": 1}}, 0, {"update.name": [{"code": "required"}]}),
        ({"$inc": {"people": "1"}}, 0, {"update.people": wrong("integer")}),
        ({"$pop": {"flag": 2}}, 0, {"update.flag": [{"code": "not_a_choice", "choices": [1, -1]}]}),
        ({"$set": {"people": 1}}, -1, {"rev": wrong("revision")}),
        ({"$set": {"people": 1}}, 7, {"_rev": [{"code": "stale", "revision": 0}]}),
    ],
)
def test_an_update_that_is_refused(client, update, rev, details):
    added(client)
    assert refused(client, "change", {"update": update, "rev": rev}) == details


@pytest.mark.parametrize(
    ("given", "details"),
    [
        ({"limit": 6}, {"set.limit": [{"code": "too_large", "maximum": 5}]}),
        ({"sort": "people"}, {"set.sort": [{"code": "not_a_choice", "choices": ["name", "-name"]}]}),
        ({"after": "x"}, {"set.after": [{"code": "bad_token"}]}),
        ({"filter": {"land": 1}}, {"set.filter.land": [{"code": "unknown"}]}),
        ({"filter": {"people": 1}}, {"set.filter.people": [{"code": "no_operator", "choices": ["gte"]}]}),
        ({"filter": {"name": {}}}, {"set.filter.name": [{"code": "no_operator", "choices": ["eq", "contains"]}]}),
        (
            {"filter": {"people": {"lt": 1, "gte": "x"}}},
            {
                "set.filter.people.lt": [{"code": "not_a_choice", "choices": ["gte"]}],
                "set.filter.people.gte": wrong("integer"),
            },
        ),
        ({"filter": {"name": {"contains": ""}}}, {"set.filter.name.contains": [{"code": "too_short", "minimum": 1}]}),
        ({"filter": 1}, {"set.filter": wrong("object")}),
    ],
)
def test_a_list_that_is_refused(client, given, details):
    assert refused(client, "list", given) == details


@pytest.mark.parametrize(
    ("get", "details"),
    [
        ({"name": 2}, {"get.name": [{"code": "not_a_choice", "choices": [1, 0]}]}),
        ({"land": 1}, {"get.land": [{"code": "unknown"}]}),
        ({"country": 2}, {"get.country": wrong("selection")}),
        ({"country": {"_rev": 1}}, {"get.country._rev": [{"code": "unknown"}]}),
        ({"country": {"name": "x"}}, {"get.country.name": [{"code": "not_a_choice", "choices": [1, 0]}]}),
        ({f"a{number}": 1 for number in range(600)}, {"get": [{"code": "too_many_fields", "maximum": 500}]}),
    ],
)
def test_a_get_that_is_refused(client, get, details):
    assert refused(client, "list", {}, get) == details


def test_a_name_that_is_taken(client):
    added(client, "Bern")
    assert refused(client, "country.add", {"name": "Bern"}) == {"name": [{"code": "taken"}]}


def test_what_only_has_a_text_is_invalid(client):
    assert refused(client, "refuse", {}) == {"set.name": [{"code": "invalid"}]}


def test_a_known_text_that_an_act_raises_has_its_code(client):
    assert refused(client, "check", {}) == {"_schema": wrong("integer")}


def test_a_file_that_is_missing_and_one_that_is_none(client):
    plan = {"on": ["x"]}
    assert refused(client, "take", {"photo": "x", "plan": plan}) == {
        "set.photo": wrong("file"),
        "set.plan.on.0": wrong("integer"),
    }
    asked = json.dumps({"model": "city", "act": "take", "details": {"set": {"plan": {"on": [1]}}, "get": {}}})
    kind = "multipart/form-data"
    form = {"gateway-body": asked, "set.plan": (io.BytesIO(b"x"), "x")}
    assert client.post("/gateway", data=form, headers=FORM).get_json()["body"]["details"] == {}
    reply = client.post("/gateway", data={"gateway-body": asked}, headers=FORM, content_type=kind).get_json()["body"]
    assert told(reply) == {"set.photo": [{"code": "required"}]}


@pytest.mark.parametrize(
    ("content", "status", "detail"),
    [
        (b"GIF89a" + bytes(4), 413, {"code": "too_long", "maximum": 9}),
        (b"GIF90a", 415, {"code": "not_a_choice", "choices": ["image/gif", "image/png"]}),
        ("GIF89a", 400, {"code": "wrong_type", "expected": "file"}),
    ],
)
def test_a_file_that_is_refused(client, content, status, detail):
    asked = json.dumps({"model": "city", "act": "take", "details": {"set": {"plan": {"on": [1]}}, "get": {}}})
    photo = content if isinstance(content, str) else (io.BytesIO(content), "a")
    form = {"gateway-body": asked, "set.photo": photo}
    reply = client.post("/gateway", data=form, headers=FORM, content_type="multipart/form-data")
    assert (reply.status_code, told(reply.get_json()["body"])) == (status, {"set.photo": [detail]})


@pytest.mark.parametrize("atomic", [False, True])
def test_a_request_of_a_batch_that_is_refused(client, atomic):
    given = {"doc": {"name": "B"}, "relations": NOBODY}
    batch = [{"model": "city", "act": "add", "details": {"set": given, "get": {}}}]
    reply = client.post("/gateway", json={"batch": batch}, headers={"X-Gateway-Detail": "1"}).get_json()["body"]
    assert told(reply[0]["body"]) == {"doc.name": [{"code": "too_short", "minimum": 2}]}


def test_without_the_header_there_is_only_the_message(client):
    asked = {"model": "city", "act": "add", "details": {"set": {"doc": 1, "relations": NOBODY}, "get": {}}}
    reply = client.post("/gateway", json=asked)
    assert reply.get_json()["body"] == {"message": "validation error: doc: Expected an object."}
    assert reply.headers["X-Error-Code"] == "validation_error"

"""A refused duplicate names its fields: on the exception, in the detailed body and in the clients."""

from __future__ import annotations

import pytest
from bson import ObjectId

from gatewayfw import gateway, string
from gatewayfw.client import CallError, InProcessClient
from gatewayfw.errors import DuplicateKey

UNIQUE = {"unique": True}


@pytest.fixture
def users(odm):
    """Users with a unique e-mail, nick, excluded badge, and name within a team; one is stored."""
    odm.new_model("team", {"name": string()})
    fields = dict.fromkeys(["email", "nick", "badge", "first", "last"], string())
    indexes = [{"indexSpec": {name: 1}, "options": UNIQUE} for name in ("email", "nick", "badge")]
    indexes.append({"indexSpec": {"first": 1, "last": 1}, "options": UNIQUE})
    users = odm.new_model(
        "user",
        fields,
        {"team": {"schemaName": "team", "type": "single", "optional": True, "relatedRelations": {}}},
        {"createIndex": indexes, "excludes": ["badge"]},
    )
    users.insert_one(doc=user("a"))
    return users


def user(text, **given):
    return {**{name: f"{name} {text}" for name in ("email", "nick", "badge", "first", "last")}, **given}


def refused(call):
    with pytest.raises(DuplicateKey) as caught:
        call()
    error = caught.value
    return error.message, error.fields, error.errors


def refusal(*fields):
    return "Duplicate key error", fields, {name: ["is taken"] for name in fields}


@pytest.mark.parametrize("name", ["email", "nick", "badge"])
def test_a_refused_insert_names_the_field(users, name):
    doc = user("b", **{name: f"{name} a"})
    assert refused(lambda: users.insert_one(doc=doc)) == refusal(name)
    assert refused(lambda: users.insert_many(docs=[user("c"), doc])) == refusal(name)
    assert users.count() == 1


def test_an_index_on_two_fields_names_both(users):
    doc = user("b", first="first a", last="last a")
    assert refused(lambda: users.insert_one(doc=doc)) == refusal("first", "last")


def test_a_taken_id_is_named(users):
    id_ = users.insert_one(doc={"_id": ObjectId(), **user("b")})["_id"]
    assert refused(lambda: users.insert_one(doc={"_id": id_, **user("c")})) == refusal("_id")


def test_a_refused_update_names_the_field(users, odm):
    users.insert_one(doc=user("b"))

    def update():
        users.find_one_and_update(filter={"email": "email b"}, update={"$set": {"last": "x", "nick": "nick a"}})

    assert refused(update) == refusal("nick")
    assert refused(lambda: odm.transaction(update)) == refusal("nick")
    assert users.find_one(filters={"email": "email b"}, projection={"last": 1, "_id": 0}) == {"last": "last b"}


def test_a_field_of_our_own_is_never_named():
    assert refusal("email") == refused(lambda: (_ for _ in ()).throw(DuplicateKey(["_gw.rev", "email", "_gw"])))


def test_the_detailed_body_and_clients_name_the_field(database):
    gw = gateway()
    gw.odm.set_db(database)
    index = {"indexSpec": {"email": 1}, "options": UNIQUE}
    users = gw.odm.new_model("user", {"email": string()}, options={"createIndex": index})

    @gw.acts.act("user", "signUp", set={"email": string()}, get=1)
    def sign_up(body):
        return users.insert_one(doc=body["details"]["set"])

    body = {"model": "user", "act": "signUp", "details": {"set": {"email": "a@example.com"}, "get": {}}}
    client = gw.create_app().test_client()
    assert client.post("/gateway", json=body).status_code == 200
    plain = client.post("/gateway", json=body)
    detailed = client.post("/gateway", json=body, headers={"X-Gateway-Detail": "1"}).get_json()["body"]
    assert plain.status_code == 409
    assert plain.get_json()["body"] == {"message": "Duplicate key error"}
    assert {**detailed, "requestId": ""} == {
        "message": "Duplicate key error",
        "code": "duplicate_key",
        "errors": {"email": ["is taken"]},
        "details": {"email": [{"code": "taken"}]},
        "requestId": "",
    }
    with pytest.raises(CallError) as caught:
        InProcessClient(gw).call("user", "signUp", set={"email": "a@example.com"})
    assert (caught.value.code, caught.value.errors) == ("duplicate_key", {"email": ["is taken"]})
    assert caught.value.details == {"email": [{"code": "taken"}]}

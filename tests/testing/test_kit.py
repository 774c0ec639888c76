"""What the testing kit gives to tests of a service."""

from __future__ import annotations

import time

import pytest
from bson import ObjectId
from flask import Flask

from gatewayfw import any_, array, enums, gateway, integer, object_, object_id, optional, string
from gatewayfw.auth import Auth, Rule, Tokens, bearer, header
from gatewayfw.client import CallError
from gatewayfw.errors import DefinitionError
from gatewayfw.testing.kit import GatewayClient, assert_copies_right, database_away

TOKENS = Tokens("k" * 32)
ROLES = [{"roleId": ObjectId(), "name": name} for name in ("Reader", "Editor")]


def make(database, **places):
    """A gateway of books and users, whose act tells who calls in which role."""
    gw = gateway(max_batch=2)
    gw.odm.set_db(database)
    role = object_({"roleId": object_id, "name": enums("Reader", "Editor")})
    users = gw.odm.new_model("user", {"name": string, "roles": array(role)})
    author = {"schemaName": "user", "type": "single", "optional": True, "relatedRelations": {}}
    gw.odm.new_model("book", {"title": string(size=(1, 5)), "year": optional(integer)}, {"author": author})
    auth = Auth(gw.context_fns, TOKENS, load_user=lambda id_: users.find_one({"_id": id_}), **places)
    who = [auth.read_token, auth.load_user, auth.grant(Rule(roles=("Editor",)))]
    set_ = {} if places else {"activeRoleId": optional(object_id())}

    @gw.acts.act("book", "edit", set=set_, get={}, pre_act=who)
    def edit(body):
        context = gw.context_fns.get_context_model()
        return [context["user"]["name"], context["active_role"]["name"]]

    gw.acts.act("book", "ping", public=True)(lambda body: "pong")
    return gw, users.insert_one({"name": "Ann", "roles": ROLES})


PLACES = {
    "as by default": {},
    "bearer and header": {"token_from": bearer(), "role_from": header("x-role")},
}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_a_client_calls_as_nobody_or_as_a_user_in_a_role(database, places):
    gw, ann = make(database, **places)
    client = GatewayClient(gw.create_app(url_prefix="/api"), TOKENS)
    assert client.act("book", "ping") == "pong"
    assert client.as_user(ann, "Editor").act("book", "edit") == ["Ann", "Editor"]
    refused = {}
    for name, one in {
        "nobody": client,
        "reader": client.as_user(ann, "Reader"),
        "no role": client.as_user(ann),
    }.items():
        with pytest.raises(CallError) as error:
            one.act("book", "edit")
        refused[name] = error.value.status
    assert refused == {"nobody": 401, "reader": 403, "no role": 400}


@pytest.mark.parametrize("places", PLACES.values(), ids=PLACES)
def test_the_role_is_sent_only_to_acts_that_take_it(database, places):
    gw, ann = make(database, **places)
    editor = GatewayClient(gw.create_app(), TOKENS).as_user(ann, "Editor")
    assert editor.act("book", "ping") == "pong"
    asked = [{"model": "book", "act": "edit"}, {"model": "book", "act": "ping"}]
    assert editor.batch(asked) == [["Ann", "Editor"], "pong"]


def test_a_gateway_without_hooks_is_called_as_nobody():
    gw = gateway()
    free = object_({"set": any_(), "get": any_()})
    gw.acts.set_act(schema="book", act_name="tell", validator=free, fn=lambda body: body["details"])
    client = GatewayClient(gw.create_app())
    assert [client.act("book", "tell"), client.act("book", "tell", set={"a": 1}, get={"b": 1})] == [
        {"set": {}, "get": {}},
        {"set": {"a": 1}, "get": {"b": 1}},
    ]
    assert client.send("book", "tell").status == 200


def test_an_error_says_which_act_was_refused(database):
    with pytest.raises(CallError) as error:
        GatewayClient(make(database)[0].create_app()).act("book", "edit")
    assert error.value.__notes__ == ["book.edit: 401 unauthenticated"]


def test_what_as_user_cannot_do_is_told(database):
    gw, ann = make(database)
    app, plain = gw.create_app(), gateway().create_app()
    needed = "as_user: give the client the tokens of the service: GatewayClient(app, tokens)"
    for client, user, role, message in [
        (GatewayClient(app), ann, None, needed),
        (GatewayClient(app, TOKENS), ann, "Admin", "as_user: the user has no role 'Admin'"),
        (GatewayClient(app, TOKENS), {"_id": ann["_id"]}, "Editor", "as_user: the user has no role 'Editor'"),
        (GatewayClient(plain, TOKENS), ann, "Editor", "as_user: no hook looks for a role"),
        (GatewayClient(Flask("none"), TOKENS), ann, None, "path: say which of 0 gateways"),
    ]:
        with pytest.raises(DefinitionError) as error:
            client.as_user(user, role)
        assert error.value.message == message


def test_the_role_is_sent_to_acts_of_other_services_and_to_unknown_ones(database):
    gw, ann = make(database)
    gw.acts.set_service("near", {"book": gw.acts.get_acts("book")})
    editor = GatewayClient(gw.create_app(), TOKENS).as_user(ann, "Editor")
    assert editor.act("book", "edit", service="near") == ["Ann", "Editor"]
    assert editor.act("book", "ping", service="near") == "pong"
    with pytest.raises(CallError) as error:
        editor.act("book", "none", service="near")
    assert error.value.__notes__ == ["book.none: 404 not_found"]


def test_an_atomic_batch_is_done_or_not(database):
    client = GatewayClient(make(database)[0].create_app())
    asked = [{"model": "book", "act": "ping"}, {"model": "book", "act": "edit"}]
    done = [[getattr(one, "code", one) for one in client.batch(asked, atomic=atomic)] for atomic in (False, True)]
    assert done == [["pong", "unauthenticated"], ["not_done", "unauthenticated"]]


def test_of_two_gateways_the_path_names_one(database):
    first, ann = make(database)
    app = first.create_app(url_prefix="/a")
    gateway().init_app(app, url_prefix="/b")
    assert GatewayClient(app, TOKENS, path="/a/gateway").as_user(ann, "Editor").act("book", "edit") == ["Ann", "Editor"]
    with pytest.raises(DefinitionError, match="path: say which of 2 gateways"):
        GatewayClient(app, TOKENS).act("book", "ping")


def test_wrong_copies_are_named(database):
    gw, ann = make(database)
    books = gw.odm.model("book")
    ids = [books.insert_one({"title": "A"}, relations={"author": {"_ids": ann["_id"]}})["_id"] for _ in range(2)]
    assert_copies_right(gw)
    gw.odm.storage.update_many("book", {}, {"$set": {"author.name": "Bob"}})
    with pytest.raises(AssertionError) as error:
        assert_copies_right(gw)
    assert str(error.value).splitlines() == [
        "copies differ from their sources:",
        *(f"book {id_}: author.{ann['_id']}: differs from its source" for id_ in ids),
    ]


def test_while_the_database_is_away_acts_are_503_and_afterwards_all_is_there(database):
    gw, ann = make(database)
    client = GatewayClient(gw.create_app(), TOKENS).as_user(ann, "Editor")
    storage, begun = gw.odm.storage, time.monotonic()
    with database_away(gw), pytest.raises(CallError) as error:
        client.act("book", "edit")
    assert error.value.status == 503
    assert error.value.code == "unavailable"
    assert time.monotonic() - begun < 2
    assert client.act("book", "edit") == ["Ann", "Editor"]
    assert gw.odm.storage is storage
    assert gw.odm.database.memory_is_meant == (not storage.multi_process)

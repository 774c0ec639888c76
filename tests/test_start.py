"""What keeps an app from starting: every wrong definition in one message, and at the first request what came later."""

import logging

import mongomock
import pytest
from flask import Blueprint, Flask

from gatewayfw import DefinitionError, date, gateway, object_id, string
from gatewayfw.auth import Auth, Rule, Tokens

MANAGER = Rule(roles=("Manager",))


def link(name, reverse=None, **more):
    reverses = {reverse: {"type": "multiple", "limit": 9}} if reverse else {}
    return {"schemaName": name, "type": "multiple", "relatedRelations": reverses, **more}


def nothing(body):
    """An act."""


def add_wrong_models(gw):
    new = gw.odm.new_model
    expiring = {"createIndex": {"indexSpec": {"seen": 1}, "options": {"expireAfterSeconds": 60}}}
    new("author", {"name": string, "born": string, "seen": date}, options=expiring)
    new("a", {}, {"author": link("auther")})
    new("b", {}, {"author": link("author", excludes=["age"])})
    new("c", {}, {"author": link("author", sort={"field": "nmae", "order": "asc"})})
    new("d", {}, {"author": link("author", "born")})
    new("e", {}, {"author": link("author", "books")})
    new("f", {}, {"author": link("author", "books")})


def add_wrong_acts(gw):
    auth = Auth(gw.context_fns, Tokens("k" * 32), lambda id_: None)
    role = {"activeRoleId": object_id}
    act = gw.acts.act
    act("auther", "get", get=1)(nothing)
    act("author", "get", get={"nmae": 1})(nothing)
    act("author", "list", get={"name": 5})(nothing)
    act("author", "add", set=role, pre_act=[auth.grant(MANAGER), auth.read_token, auth.load_user])(nothing)
    act("author", "edit", set=role, pre_act=[auth.load_user, auth.read_token, auth.grant(MANAGER)])(nothing)
    act("author", "remove", pre_act=[auth.read_token, auth.load_user, auth.grant(MANAGER)])(nothing)
    validator = {"set": {}, "get": gw.schemas.select_struct("author", {"books": {"author": 1, "pages": 1}})}
    gw.acts.set_service("reports", {"author": {"count": {"validator": validator, "fn": nothing}}})


MODELS = [
    "model 'd', relation 'author', reverse 'born': model 'author' has a pure field of this name",
    "model 'f', relation 'author', reverse 'books': relation 'author' of model 'e' already makes a reverse of this "
    "name on 'author'",
    "model 'author', createIndex: expireAfterSeconds would delete documents that others embed or list",
    "model 'a', relation 'author': schemaName names 'auther', which is not a model",
    "model 'b', relation 'author': excludes names 'age', not a pure field of 'author'",
    "model 'c', relation 'author', sort: 'nmae' is neither _id nor a scalar pure field of 'author' that is not "
    "excluded",
    "no database for the models author, a, b, c, d, e, f: call odm.set_db(...) first",
]
ACTS = [
    "auther.get: get: select struct of 'auther': there is no such model",
    "author.get: get: select struct of 'author': 'nmae' is not a field or relation of it",
    "author.list: get: select struct of 'author': the field 'name' takes 1 or 0",
    "author.add: the hook grant needs what load_user gives, which must come before it",
    "author.edit: the hook load_user needs what read_token gives, which must come before it",
    "author.remove: set: grant takes the caller's role from 'activeRoleId', which set does not have",
    "reports/author.count: get: select struct of 'e': 'pages' is not a field or relation of it",
]


def register(gw, **options):
    Flask("host").register_blueprint(gw.blueprint(**options))


def register_below(gw, **options):
    parent = Blueprint("parent", __name__)
    parent.register_blueprint(gw.blueprint(**options))
    Flask("host").register_blueprint(parent)


STARTS = {
    "create_app": lambda gw, **options: gw.create_app(**options),
    "init_app": lambda gw, **options: gw.init_app(Flask("host"), **options),
    "register_blueprint": register,
    "nested": register_below,
}


@pytest.fixture
def wrong():
    """A gateway with more than ten wrong definitions."""
    gw = gateway()
    add_wrong_models(gw)
    add_wrong_acts(gw)
    return gw


@pytest.mark.parametrize("start", [*STARTS.values(), lambda gw: gw.run_server(), lambda gw: gw.check()])
def test_an_app_with_many_wrong_definitions_refuses_to_start_and_names_them_all(wrong, start):
    with pytest.raises(DefinitionError) as caught:
        start(wrong)
    assert caught.value.message.split("\n- ") == ["14 definitions are wrong:", *MODELS, *ACTS]


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_check_false_leaves_wrong_definitions_to_the_doctor(wrong, start):
    start(wrong, check=False)
    assert wrong.checks.problems() == [*MODELS, *ACTS]


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
@pytest.mark.parametrize("check", [1, None, "yes"])
def test_check_is_true_or_false(start, check):
    with pytest.raises(DefinitionError, match="^option 'check': expected true or false$"):
        start(gateway(), check=check)


def test_the_contracts_call_takes_check_too(wrong):
    with pytest.raises(DefinitionError, match="^14 definitions are wrong:"):
        wrong.runServer({"check": True})


def test_a_refused_app_is_as_it_was(wrong):
    app = Flask("host")
    with pytest.raises(DefinitionError):
        wrong.init_app(app)
    assert (app.blueprints, list(app.url_map.iter_rules("static"))) == ({}, list(app.url_map.iter_rules()))
    assert "gatewayfw" not in app.extensions
    assert len(wrong.mounts) == 0


# -- what is defined after the registration


def mounted(check=True, **options):
    gw = gateway()
    app = Flask("host")
    gw.init_app(app, check=check)
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("book", "ping")(lambda body: "pong")
    return gw, app


def ask(app, model="book", act="ping"):
    body = {"model": model, "act": act, "details": {"set": {}, "get": {}}}
    reply = app.test_client().post("/gateway", json=body)
    return reply.status_code, reply.get_json()["body"]


REFUSED = (500, {"message": "internal error"})
SHELF = "model 'shelf', relation 'books': schemaName names 'book', which is not a model"


@pytest.mark.parametrize("lane", [False, True])
def test_what_is_defined_later_is_checked_at_the_next_request(lane, caplog):
    gw = gateway()
    app = gw.create_app(fast_lane=lane)
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.acts.act("book", "ping")(lambda body: "pong")
    assert ask(app) == (200, "pong")
    gw.odm.new_model("shelf", {}, {"books": link("book")})
    gw.acts.act("shelf", "get", get={"nmae": 1})(nothing)
    with caplog.at_level(logging.ERROR, "gatewayfw"):
        assert [ask(app), ask(app)] == [REFUSED, REFUSED]
    for record in caplog.records:
        assert "service=main model=book act=ping" in record.getMessage()
        assert f"- {SHELF}\\n- shelf.get: get: select struct of 'shelf': 'nmae'" in record.getMessage()
    gw.odm.new_model("book", {})
    assert ask(app) == REFUSED
    gw.odm.new_model("nmae", {}, {"shelf": link("shelf", "nmae")})
    assert ask(app) == (200, "pong")


def test_a_debugging_app_shows_what_is_wrong():
    gw, app = mounted()
    app.debug = True
    gw.odm.new_model("shelf", {}, {"books": link("book")})
    assert ask(app) == (500, {"message": f"DefinitionError: {SHELF}"})


def test_no_hook_and_no_act_runs_while_a_definition_is_wrong():
    gw, app = mounted()
    ran = []
    gw.acts.act("book", "run", pre_validation=[lambda: ran.append(1)])(lambda body: ran.append(2))
    gw.odm.new_model("shelf", {}, {"books": link("book")})
    assert (ask(app, act="run"), ran) == (REFUSED, [])


def test_a_database_that_is_set_later_is_missed_at_the_start_and_no_more_afterwards():
    gw = gateway()
    gw.odm.new_model("book", {})
    app = Flask("host")
    with pytest.raises(DefinitionError, match="^no database for the models book: call odm.set_db"):
        gw.init_app(app)
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.init_app(app)
    assert list(app.blueprints) == ["gateway"]


def test_with_check_false_requests_are_not_checked_either():
    gw, app = mounted(check=False)
    gw.odm.new_model("shelf", {}, {"books": link("book")})
    assert ask(app) == (200, "pong")
    with pytest.raises(DefinitionError, match="names 'book', which is not a model"):
        gw.check()


def test_each_mount_decides_for_itself():
    gw, app = mounted()
    free = Flask("free")
    gw.init_app(free, check=False)
    gw.odm.new_model("shelf", {}, {"books": link("book")})
    assert (ask(app), ask(free)) == (REFUSED, (200, "pong"))


def test_what_a_request_itself_defines_is_checked_at_the_next():
    gw, app = mounted()
    gw.acts.act("book", "define")(lambda body: gw.odm.new_model("shelf", {}, {"books": link("book")}).name)
    assert [ask(app, act="define"), ask(app)] == [(200, "shelf"), REFUSED]

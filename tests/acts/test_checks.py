"""Everything against the definitions of a gateway that needs no database, with its place."""

import mongomock
import pytest
from marshmallow import Schema, fields

from gatewayfw import DefinitionError, gateway, object_, object_id, optional, string
from gatewayfw.acts.checks import acts_by_name
from gatewayfw.auth import Auth, Rule, Tokens, cookie, header, set_field
from gatewayfw.schemas import array

NO_ROLE = "user.edit: set: grant takes the caller's role from 'activeRoleId', which set does not have"
UNKNOWN_FIELD = "select struct of 'book': 'nmae' is not a field or relation of it"


@pytest.fixture
def gw():
    """A gateway with a database and the model ``book``."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.odm.new_model("book", {"name": string, "pages": optional(string)})
    return gw


def nothing(body):
    """An act."""


def message(gw):
    """What `check` says; None for nothing."""
    try:
        gw.check()
    except DefinitionError as error:
        return error.message
    return None


def link(name, **more):
    return {"schemaName": name, "type": "multiple", **more}


# -- models


def test_right_definitions_pass(gw):
    gw.acts.act("book", "get", get={"name": 1})(nothing)
    assert gw.checks.right is None
    assert (message(gw), gw.checks.problems()) == (None, [])
    assert gw.checks.right is gw.schemas.stamp


def test_a_relation_to_an_unknown_model_is_named(gw):
    gw.odm.new_model("shelf", {}, {"books": link("bokk")})
    assert message(gw) == "model 'shelf', relation 'books': schemaName names 'bokk', which is not a model"


@pytest.mark.parametrize("models", [1, 10, 12])
def test_models_without_a_database_are_named(models):
    gw = gateway()
    for number in range(models):
        gw.odm.new_model(f"m{number}", {"name": string})
    named = ", ".join(f"m{number}" for number in range(min(models, 10)))
    more = " and 2 more" if models == 12 else ""
    assert message(gw) == f"no database for the models {named}{more}: call odm.set_db(...) first"
    gw.odm.set_db(mongomock.MongoClient().test)
    assert message(gw) is None


def test_a_gateway_without_models_needs_no_database():
    gw = gateway()
    gw.acts.act("any", "thing")(nothing)
    assert message(gw) is None


def test_an_idempotent_act_needs_a_database():
    gw = gateway()
    gw.acts.act("any", "thing", idempotent="1h", idempotent_by=nothing)(nothing)
    assert message(gw) == "any.thing: idempotent acts need a database: call odm.set_db(...) first"
    gw.odm.set_db(mongomock.MongoClient().test)
    assert message(gw) is None


# -- select structs


@pytest.mark.parametrize(
    ("get", "problem"),
    [
        ({"nmae": 1}, f"book.get: get: {UNKNOWN_FIELD}"),
        ({"name": 2}, "book.get: get: select struct of 'book': the field 'name' takes 1 or 0"),
    ],
)
def test_a_select_struct_is_named_with_its_act(gw, get, problem):
    gw.acts.act("book", "get", get=get)(nothing)
    assert message(gw) == problem


def test_an_act_needs_no_model_of_its_name_but_its_select_struct_does(gw):
    gw.acts.act("shop", "close")(nothing)
    assert message(gw) is None
    gw.acts.act("shop", "show", get=1)(nothing)
    assert message(gw) == "shop.show: get: select struct of 'shop': there is no such model"


def test_select_structs_are_found_wherever_they_are_in_get_and_set(gw):
    wrong = gw.schemas.select_struct("book", {"nmae": 1})
    validator = {"set": {"get": wrong}, "get": object_({"rows": array(object_({"book": wrong}))})}
    gw.acts.set_act(schema="book", act_name="get", validator=validator, fn=nothing)
    assert gw.checks.problems() == [f"book.get: set.get: {UNKNOWN_FIELD}", f"book.get: get.rows.book: {UNKNOWN_FIELD}"]


def test_all_that_is_wrong_in_a_select_struct_is_named_at_every_depth(gw):
    gw.odm.new_model("shelf", {"name": string}, {"books": link("book")})
    gw.acts.act("shelf", "get", get={"x": 1, "y": 1, "books": {"nmae": 1, "z": 1}})(nothing)
    where = "shelf.get: get: select struct of"
    assert gw.checks.problems() == [
        *(f"{where} 'shelf': {name!r} is not a field or relation of it" for name in "xy"),
        *(f"{where} 'book': {name!r} is not a field or relation of it" for name in ("nmae", "z")),
    ]


def test_a_select_struct_below_a_relation_to_an_unknown_model_is_named(gw):
    gw.odm.new_model("shelf", {"name": string}, {"books": link("bokk")})
    gw.acts.act("shelf", "get", get={"books": {"name": 1}})(nothing)
    assert gw.checks.problems() == [
        "model 'shelf', relation 'books': schemaName names 'bokk', which is not a model",
        "shelf.get: get: select struct of 'bokk': there is no such model",
    ]


def test_acts_of_services_in_this_process_are_named_after_their_service(gw):
    get = gw.schemas.select_struct("book", {"nmae": 1})
    gw.acts.set_service("reports", {"book": {"get": {"validator": {"set": {}, "get": get}, "fn": nothing}}})
    gw.acts.set_service("far", "http://127.0.0.1:9/")
    assert message(gw) == f"reports/book.get: get: {UNKNOWN_FIELD}"
    assert [name for name, _ in acts_by_name(gw.acts)] == ["reports/book.get"]


def test_the_order_of_hooks_in_front_of_a_remote_service_is_judged(gw):
    auth = Auth(gw.context_fns, Tokens("k" * 32), lambda id_: None)
    rule = auth.grant(Rule(roles=("Manager",)))
    gw.acts.set_service("far", "http://127.0.0.1:9/", pre_act=[auth.read_token, auth.load_user, rule])
    assert message(gw) is None
    gw.acts.set_service("further", "http://127.0.0.1:9/", pre_act=[rule, auth.read_token, auth.load_user])
    assert message(gw) == "service further: the hook grant needs what load_user gives, which must come before it"


def test_a_select_struct_that_no_act_shows_is_named_by_itself(gw):
    class Details(Schema):
        set = fields.Dict()
        get = gw.schemas.select_struct("book", {"nmae": 1})

    gw.schemas.select_struct("shop")
    gw.acts.set_act(schema="book", act_name="get", validator=Details, fn=nothing)
    assert gw.checks.problems() == [
        f"book.get: get: {UNKNOWN_FIELD}",
        "select struct of 'shop': there is no such model",
    ]


# -- hooks and rules


@pytest.fixture
def auth(gw):
    return Auth(gw.context_fns, Tokens("k" * 32), lambda id_: None)


@pytest.fixture
def ruled(gw, auth):
    """Register ``user.edit`` for managers, with a validator."""

    def register(validator, hook=None):
        hooks = [auth.read_token, auth.load_user, hook or auth.grant(Rule(roles=("Manager",)))]
        gw.acts.set_act(schema="user", act_name="edit", validator=validator, fn=nothing, pre_act=hooks)
        return message(gw)

    return register


def test_an_order_of_hooks_that_cannot_work_is_named_across_both_lists(gw, auth):
    gw.acts.act("user", "edit", pre_validation=[auth.load_user], pre_act=[auth.read_token])(nothing)
    assert message(gw) == "user.edit: the hook load_user needs what read_token gives, which must come before it"


@pytest.mark.parametrize("given", [{}, {"activeRole": object_id}, object_({"name": string})])
def test_a_rule_needs_the_role_in_set(ruled, given):
    assert ruled({"set": given, "get": {}}) == NO_ROLE


Named = Schema.from_dict({"activeRoleId": fields.String()})


class Whole(Schema):
    set = fields.Nested(Named)
    get = fields.Dict()


@pytest.mark.parametrize(
    "validator",
    [
        {"set": {"activeRoleId": object_id}, "get": {}},
        {"set": {"activeRoleId": optional(object_id)}, "get": {}},
        {"set": object_(), "get": {}},
        {"set": Named, "get": {}},
        Whole,
        lambda details: None,
    ],
)
def test_a_set_that_has_the_role_or_may_have_it_passes(ruled, validator):
    assert ruled(validator) is None


@pytest.mark.parametrize(
    ("role_from", "given", "missing"),
    [
        (set_field("as"), {"as": object_id}, None),
        (set_field("as"), {"activeRoleId": object_id}, "as"),
        (header("x-role"), {}, None),
        (cookie("role"), {}, None),
    ],
    ids=["field", "field missing", "header", "cookie"],
)
def test_only_a_role_in_set_is_needed_there(ruled, gw, role_from, given, missing):
    auth = Auth(gw.context_fns, Tokens("k" * 32), lambda id_: None, role_from=role_from)
    problem = missing and NO_ROLE.replace("activeRoleId", missing)
    assert ruled({"set": given, "get": {}}, auth.grant(Rule(roles=("Manager",)))) == problem


def test_a_rule_for_ghosts_needs_no_role(ruled, auth):
    assert ruled({"set": {}, "get": {}}, auth.grant()) is None


def test_each_rule_of_an_act_is_judged_and_named_once(ruled, gw, auth):
    gw.acts.act("user", "see", pre_act=[auth.read_token, auth.load_user, *[auth.grant(Rule(roles=("A",)))] * 2])(
        nothing
    )
    assert ruled({"set": {}, "get": {}}).splitlines() == [
        "2 definitions are wrong:",
        f"- {NO_ROLE.replace('edit', 'see')}",
        f"- {NO_ROLE}",
    ]


# -- once for each state of the definitions


def test_what_was_judged_is_not_judged_again_until_something_changes(gw, monkeypatch):
    calls, judged = [], gw.schemas.problems

    def counted():
        calls.append(1)
        return judged()

    monkeypatch.setattr(gw.schemas, "problems", counted)
    for change in (
        lambda: gw.odm.new_model("shelf", {}, {"books": link("bokk")}),
        lambda: gw.acts.act("a", "b")(nothing),
        lambda: gw.acts.set_service("far", "http://127.0.0.1:9/"),
        lambda: gw.odm.set_db(mongomock.MongoClient().test),
        lambda: gw.odm.new_model("bokk", {}),
    ):
        change()
        before = len(calls)
        assert [message(gw) for _ in range(3)] == [message(gw)] * 3
        assert len(calls) == before + 1
    assert message(gw) is None

"""The catalog of a gateway: whole, without what is hidden, and the same each time."""

from __future__ import annotations

import json
from functools import partial

import mongomock
import pytest

from gatewayfw import gateway
from gatewayfw.auth import Auth, Rule, Tokens, access_rule, bearer, cookie, header
from gatewayfw.catalog import build
from gatewayfw.errors import DefinitionError
from gatewayfw.schemas import array, boolean, decimal, defaulted, enums, integer, mapping, object_id, optional, string

NEEDED = {"presence": "required"}
ID = {"kind": "object_id", **NEEDED}
TEXT = {"kind": "string", "maxLength": 10_000, "sized": False, **NEEDED}
NOTHING = {"kind": "object", "fields": {}, **NEEDED}
FREE = {"kind": "object", "fields": None, **NEEDED}


@pytest.fixture
def gw():
    made = gateway()
    made.odm.set_db(mongomock.MongoClient().test)
    made.odm.new_model("country", {"name": string(), "secret": string()}, {}, {"excludes": ["secret"]})
    made.odm.new_model(
        "city",
        {"name": string(), "size": optional(integer())},
        {
            "country": {
                "schemaName": "country",
                "type": "single",
                "relatedRelations": {
                    "cities": {
                        "type": "multiple",
                        "limit": 3,
                        "sort": {"field": "name", "order": "asc"},
                        "excludes": ["size"],
                    },
                    "latest": {"type": "single"},
                },
            },
            "twins": {"schemaName": "city", "type": "multiple", "optional": True, "excludes": ["size"]},
        },
    )
    return made


def catalog(gw):
    return build(gw.schemas, gw.acts)


def act_of(gw, **options):
    """The description of one act with these options."""
    validator = {"set": options.pop("set", {}), "get": options.pop("get", {})}
    fn = options.pop("fn", lambda body: None)
    gw.acts.set_act(schema="city", act_name="act", validator=options.pop("validator", validator), fn=fn, **options)
    return catalog(gw)["services"]["main"]["acts"]["city"]["act"]


def test_models_with_their_links_and_without_excluded_fields(gw):
    assert catalog(gw) == {
        "format": 1,
        "tokens": [{"in": "header", "name": "token"}],
        "maxBatch": 0,
        "codes": build(gateway().schemas, gateway().acts)["codes"],
        "models": {
            "country": {
                "fields": {"_id": ID, "name": TEXT},
                "links": {
                    "cities": {
                        "model": "city",
                        "type": "multiple",
                        "optional": False,
                        "fields": ["_id", "name"],
                        "limit": 3,
                        "sort": {"field": "name", "order": "asc"},
                        "of": "country",
                    },
                    "latest": {
                        "model": "city",
                        "type": "single",
                        "optional": True,
                        "fields": ["_id", "name", "size"],
                        "limit": None,
                        "sort": None,
                        "of": "country",
                    },
                },
            },
            "city": {
                "fields": {"_id": ID, "name": TEXT, "size": {"kind": "integer", "presence": "optional"}},
                "links": {
                    "country": {
                        "model": "country",
                        "type": "single",
                        "optional": False,
                        "fields": ["_id", "name"],
                        "limit": None,
                        "sort": None,
                        "reverses": ["cities", "latest"],
                    },
                    "twins": {
                        "model": "city",
                        "type": "multiple",
                        "optional": False,
                        "fields": ["_id", "name"],
                        "limit": 1000,
                        "sort": None,
                        "reverses": [],
                    },
                },
            },
        },
        "services": {"main": {"remote": False, "acts": {}}},
    }


def test_an_act_with_all_that_is_known_of_it(gw):
    auth = Auth(gw.context_fns, Tokens("k" * 32), load_user=lambda id_: None)

    def fn(body):
        """Add a city.

        To a country.
        """

    described = act_of(
        gw,
        set={"name": string(size=(1, 5)), "country": object_id(of="country"), "size": defaulted(integer(), 0)},
        get=gw.schemas.select_struct("city", 1),
        fn=fn,
        pre_validation=[auth.read_token],
        pre_act=[partial(auth.load_user), auth.grant(Rule(roles=("Manager",)), Rule(roles=("Admin", "Manager")))],
        validation_run_type="create",
        limit="2/minute",
        idempotent="1d",
        max_get_depth=2,
        mcp=True,
    )
    assert described == {
        "description": "Add a city.\n\nTo a country.",
        "mode": "create",
        "access": "rule",
        "roles": ["Manager", "Admin"],
        "token": {"in": "header", "name": "token"},
        "role": {"in": "set", "name": "activeRoleId"},
        "mcp": True,
        "limit": ["2/minute"],
        "idempotent": 86_400,
        "errors": [],
        "hooks": {"preValidation": ["read_token"], "preAct": ["load_user", "check_access"]},
        "maxGetDepth": 2,
        "maxGetLeaves": 500,
        "set": {
            "kind": "object",
            "fields": {
                "name": {"kind": "string", "minLength": 1, "maxLength": 5, **NEEDED},
                "country": {"kind": "object_id", "of": "country", **NEEDED},
                "size": {"kind": "integer", "default": 0, "presence": "defaulted"},
            },
            **NEEDED,
        },
        "get": {"kind": "selection", "model": "city", "depth": 1, **NEEDED},
        "returns": {"kind": "documents", "model": "city", "type": "one", "get": [], **NEEDED},
    }


def test_an_act_has_the_errors_of_its_own_and_of_its_gateway():
    taken, sold = (409, "taken", "it is taken"), (410, "sold", "it is sold")
    gw = gateway(exceptions={KeyError: taken, OSError: (503, "disk", "try later")})
    described = act_of(gw, exceptions={OSError: sold, LookupError: taken})
    assert described["errors"] == [
        {"status": 409, "code": "taken", "message": "it is taken"},
        {"status": 410, "code": "sold", "message": "it is sold"},
    ]


def test_mode_assert_wants_what_has_a_default(gw):
    described = act_of(gw, set={"rows": array({"size": defaulted(integer(), 0)})})
    size = {"kind": "integer", "default": 0, "presence": "required"}
    row = {"kind": "object", "fields": {"size": size}, **NEEDED}
    assert described["set"]["fields"] == {"rows": {"kind": "array", "items": row, **NEEDED}}


def test_a_validator_that_is_a_function_takes_any_object(gw):
    described = act_of(gw, validator=lambda details: details)
    assert (described["set"], described["get"]) == (FREE, FREE)
    assert described["returns"] == {"kind": "any", **NEEDED}


def test_access(gw):
    assert (act_of(gw)["access"], act_of(gateway(), public=True)["access"]) == ("open", "public")
    ruled = act_of(gateway(), pre_act=[access_rule(lambda: None)])
    assert ruled["access"] == "rule"
    assert ruled["roles"] is None
    assert ruled["hooks"]["preAct"] == ["<lambda>"]


RETURNS = {
    "one": ("one", {"kind": "documents", "model": "city", "type": "one", "get": [], **NEEDED}),
    "optional": ("optional", {"kind": "documents", "model": "city", "type": "optional", "get": [], **NEEDED}),
    "many": ("many", {"kind": "documents", "model": "city", "type": "many", "get": [], **NEEDED}),
    "a value": (boolean, {"kind": "boolean", **NEEDED}),
    "rows and their number": (
        {"rows": "many", "total": integer()},
        {
            "kind": "object",
            "fields": {
                "rows": {"kind": "documents", "model": "city", "type": "many", "get": [], **NEEDED, "picked": False},
                "total": {"kind": "integer", **NEEDED, "picked": False},
            },
            **NEEDED,
        },
    ),
}


@pytest.mark.parametrize(("given", "returned"), RETURNS.values(), ids=RETURNS)
def test_what_an_act_with_a_selection_returns(gw, given, returned):
    assert act_of(gw, get=gw.schemas.select_struct("city", 1), returns=given)["returns"] == returned


def test_an_object_of_which_parts_are_picked_by_get(gw):
    get = {"token": optional(enums(0, 1)), "city": optional(gw.schemas.select_struct("city", 0))}
    assert act_of(gw, get=get, returns={"token": string(), "city": "optional", "at": integer()})["returns"] == {
        "kind": "object",
        "fields": {
            "token": {"kind": "string", **NEEDED, "picked": True},
            "city": {
                "kind": "documents",
                "model": "city",
                "type": "optional",
                "get": ["city"],
                **NEEDED,
                "picked": True,
            },
            "at": {"kind": "integer", **NEEDED, "picked": False},
        },
        **NEEDED,
    }


def test_a_restricted_selection_names_what_may_be_asked_for(gw):
    described = act_of(gw, get=gw.schemas.select_struct("country", {"name": 1, "secret": 1, "cities": {"name": 1}}))
    assert described["get"] == {
        "kind": "selection",
        "model": "country",
        "fields": ["_id", "name"],
        "whole": True,
        "links": {"cities": {"model": "city", "fields": ["_id", "name"], "whole": False, "links": {}}},
        **NEEDED,
    }


def test_an_act_is_no_tool_unless_it_says_so(gw):
    assert act_of(gw)["mcp"] is False


def test_services(gw):
    gw.acts.set_service("far", "https://example.com/")
    gw.acts.set_service("near", {"city": {"ping": {"validator": {"set": {}, "get": {}}, "fn": lambda body: 1}}})
    services = catalog(gw)["services"]
    assert services["far"] == {"remote": True}
    assert list(services) == ["main", "far", "near"]
    assert services["near"]["acts"]["city"]["ping"]["set"] == NOTHING


def test_it_is_json_in_a_fixed_order_and_says_nothing_of_excluded_fields(gw):
    act_of(gw, get=gw.schemas.select_struct("country", 2))
    text = json.dumps(catalog(gw))
    assert json.dumps(catalog(gw)) == text
    assert "secret" not in text


def test_a_select_struct_of_what_does_not_exist_is_told(gw):
    gw.acts.set_act(
        schema="city",
        act_name="odd",
        validator={"set": {}, "get": gw.schemas.select_struct("city", {"nope": 1})},
        fn=lambda body: None,
    )
    with pytest.raises(DefinitionError, match="select struct of 'city': 'nope' is not a field or relation of it"):
        catalog(gw)


@pytest.mark.parametrize(("mode", "more"), [("assert", {}), ("create", {"whole": True})])
def test_create_takes_whole_numbers_for_decimals(gw, mode, more):
    price = decimal(places=2)
    told = act_of(gw, validation_run_type=mode, set={"a": price, "b": array(mapping({"c": price}))})["set"]["fields"]
    asked = {"kind": "decimal", "places": 2, **more, **NEEDED}
    inner = {"kind": "object", "fields": {"c": asked}, **NEEDED}
    assert told == {
        "a": asked,
        "b": {"kind": "array", "items": {"kind": "mapping", "values": inner, **NEEDED}, **NEEDED},
    }


def test_what_is_inside_a_mapping_is_told_by_mode_too(gw):
    (told,) = act_of(gw, set={"m": mapping({"n": defaulted(integer, 1)})})["set"]["fields"].values()
    assert told["values"]["fields"]["n"]["presence"] == "required"


def test_a_hook_that_has_no_name_is_called_by_its_class(gw):
    class Note:
        def __call__(self, body):
            pass

    told = act_of(gw, pre_validation=[Note()], pre_act=[partial(Note())])
    assert told["hooks"] == {"preValidation": ["Note"], "preAct": ["Note"]}


def test_an_act_has_bounds_and_limits_of_its_own_or_those_of_the_gateway():
    names = ("limit", "idempotent", "maxGetDepth", "maxGetLeaves", "errors", "token", "role", "description")
    first = act_of(gateway(max_get_depth=3, max_get_leaves=9))
    assert [first[name] for name in names] == [[], None, 3, 9, [], None, None, ""]
    second = act_of(gateway(), limit=["2/minute", "9/hour"], max_get_depth=1, max_get_leaves=2)
    assert [second[name] for name in names[:4]] == [["2/minute", "9/hour"], None, 1, 2]


def test_the_first_hook_that_says_so_tells_where_the_token_and_the_role_are(gw):
    def auth(token, role):
        return Auth(gw.context_fns, Tokens("k" * 32), lambda id_: None, token_from=token, role_from=role)

    one, other = auth(bearer(), header("X-Role")), auth(cookie("sid"), cookie("role"))
    told = act_of(
        gw,
        pre_act=[one.read_token, other.read_token, one.grant(Rule(roles=("A",))), other.grant(Rule(roles=("B", "A")))],
    )
    assert (told["token"], told["role"]) == (
        {"in": "bearer", "name": "authorization"},
        {"in": "header", "name": "x-role"},
    )
    assert (told["access"], told["roles"]) == ("rule", ["A", "B"])
    assert catalog(gw)["tokens"] == [
        {"in": "bearer", "name": "authorization"},
        {"in": "cookie", "name": "sid"},
    ]


def test_an_object_that_an_act_returns_is_told_as_such(gw):
    returned = act_of(gw, returns=optional(array(boolean)))["returns"]
    assert returned == {"kind": "array", "items": {"kind": "boolean", **NEEDED}, "presence": "optional"}


def test_what_policies_hide_may_be_absent_and_rights_are_told_by_role():
    gw = gateway(roles=["Clerk", "Guest", "Nobody's"])
    gw.odm.new_model("owner", {"name": string()})
    one = {"schemaName": "owner", "type": "single"}
    gw.odm.new_model("item", {"name": string(), "price": integer()}, {"owner": one, "seller": {**one, "shared": True}})
    gw.policy("item", roles=["Guest", None], hide=["price"], rows=lambda context: {"name": "a"}, write=False)
    gw.policy(["item", "owner"], roles=["Clerk"], fixed=["name"])
    item = gw.catalog()["models"]["item"]
    assert {name: kind["presence"] for name, kind in item["fields"].items()} == {
        "_id": "required",
        "name": "required",
        "price": "optional",
    }
    assert {name: link["optional"] for name, link in item["links"].items()} == {"owner": True, "seller": True}
    guest = {"sees": True, "rows": True, "writes": False, "hidden": ["price"], "own": [], "fixed": []}
    assert item["rights"] == [
        {"role": "Guest", **guest},
        {"role": None, **guest},
        {"role": "Clerk", "sees": True, "rows": False, "writes": True, "hidden": [], "own": [], "fixed": ["name"]},
        {"role": "Nobody's", "sees": False, "rows": True, "writes": False, "hidden": [], "own": [], "fixed": []},
    ]


@pytest.mark.parametrize(
    ("policies", "owner", "seller"),
    [
        ([("owner", "*", {})], False, False),  # all who see an item see each owner
        ([("owner", "*", {"hide": ["name"]})], False, False),
        ([("owner", "*", {"rows": lambda context: None})], True, False),
        ([("owner", ["Clerk"], {})], True, True),  # guests see items, and no owner
        ([("owner", ["Clerk"], {}), ("item", ["Clerk"], {})], False, False),
    ],
    ids=["all", "names", "rows", "closed", "both closed"],
)
def test_a_copy_may_be_absent_if_somebody_sees_its_holder_alone(policies, owner, seller):
    gw = gateway(roles=["Clerk"])
    gw.odm.new_model("owner", {"name": string()})
    one = {"schemaName": "owner", "type": "single"}
    gw.odm.new_model("item", {"name": string()}, {"owner": one, "seller": {**one, "shared": True}})
    for models, roles, given in policies:
        gw.policy(models, roles=roles, admit=roles == "*", **given)
        gw.policy(models, roles=[None] if roles == "*" else roles)
    links = gw.catalog()["models"]["item"]["links"]
    assert {name: link["optional"] for name, link in links.items()} == {"owner": owner, "seller": seller}


def test_fields_and_relations_that_any_policy_hides_may_be_absent():
    gw = gateway(roles=["Clerk", "Guest"])
    gw.odm.new_model("owner", {"name": string()})
    one = {"schemaName": "owner", "type": "single", "relatedRelations": {"owned": {"type": "multiple"}}}
    many = {"schemaName": "owner", "type": "multiple"}
    pure = {"name": string(), "price": integer()}
    gw.odm.new_model("item", pure, {"owner": one, "seller": {**one, "relatedRelations": {}}, "past": many})
    gw.policy("item", roles=["Clerk"], hide=["owner"])
    gw.policy("item", roles=["Guest"], hide=["price", "past"])
    gw.policy("owner", roles="*", admit=True)
    gw.policy(["owner", "item"], roles=[None])
    gw.policy("owner", roles=["Guest"], hide=["owned"])
    models = gw.catalog()["models"]
    assert {name: kind["presence"] for name, kind in models["item"]["fields"].items()} == {
        "_id": "required",
        "name": "required",
        "price": "optional",
    }
    assert {name: link["optional"] for model in models.values() for name, link in model["links"].items()} == {
        "owner": True,
        "seller": False,
        "past": True,
        "owned": True,
    }


def test_the_rights_of_a_role_tell_which_hidden_names_its_own_documents_show():
    gw = gateway(roles=["Guest"])
    gw.odm.new_model("item", {"name": string(), "price": integer(), "cost": integer()})
    gw.policy("item", roles=["Guest"], hide=["price"], own=lambda context: [])
    gw.policy("item", roles=["Guest"], hide=["cost"])
    guest, nobody = gw.catalog()["models"]["item"]["rights"]
    assert (guest["role"], guest["hidden"], guest["own"]) == ("Guest", ["cost", "price"], ["price"])
    assert (nobody["role"], nobody["hidden"], nobody["own"]) == (None, [], [])


def test_without_policies_nothing_is_told_of_rights(gw):
    assert all("rights" not in model for model in build(gw.schemas, gw.acts)["models"].values())

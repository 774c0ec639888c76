"""What a policy may say: gatewayfw.policies.declaration."""

from __future__ import annotations

from contextlib import nullcontext

import mongomock
import pytest

from gatewayfw import DefinitionError, gateway, string
from gatewayfw.auth import Auth, Rule, Tokens
from gatewayfw.storage import MockStorage


def nothing(context):
    """A function of the context."""


@pytest.mark.parametrize(
    ("models", "given", "message"),
    [
        ([], {"roles": "*"}, "policy: models must be a list of names"),
        (1, {"roles": "*"}, "policy: models must be a list of names"),
        ("item", {"roles": "Clerk"}, "policy: roles must be '*' or a list of names, with None for nobody signed in"),
        ("item", {"roles": []}, "policy: roles must be '*' or a list of names, with None for nobody signed in"),
        ("item", {"roles": ["Boss"]}, "policy: unknown role 'Boss' (known: Clerk, Customer, Auditor)"),
        ("item", {"roles": ["*"]}, "policy: unknown role '*' (known: Clerk, Customer, Auditor)"),
        ("item", {"roles": "*", "hide": "price"}, "policy: hide must be a list of names"),
        ("item", {"roles": "*", "fixed": [1]}, "policy: fixed must be a list of names"),
        ("item", {"roles": "*", "needs": "tenant"}, "policy: needs must be a list of names"),
        ("item", {"roles": "*", "rows": {}}, "policy: rows must be a function of the context"),
        ("item", {"roles": "*", "check": True}, "policy: check must be a function of the context"),
        ("item", {"roles": "*", "write": None}, "policy: write must be a function of the context or true or false"),
        ("item", {"roles": "*", "own": nothing}, "policy of item for *: own goes with hide"),
        ("item", {"roles": "*", "admit": 1}, "policy of item for *: admit must be true or false"),
        (
            "item",
            {"roles": ["Clerk"], "admit": True},
            "policy of item for Clerk: admit goes with roles='*': a policy that names roles admits them",
        ),
        (
            "item",
            {"roles": ["Clerk", None], "write": False, "check": nothing},
            "policy of item for Clerk, None: check goes with write: nothing is written",
        ),
    ],
)
def test_a_wrong_declaration_is_refused_at_once(gw, models, given, message):
    with pytest.raises(DefinitionError) as raised:
        gw.policy(models, **given)
    assert (raised.value.message, gw.schemas.policies) == (message, ())


@pytest.mark.parametrize("roles", ["Clerk", ["*"], [1], [""]])
def test_the_roles_of_a_gateway_are_a_list_of_names(roles):
    with pytest.raises(DefinitionError, match="roles: expected a list of names"):
        gateway(roles=roles)


def test_what_says_the_role_is_a_function():
    with pytest.raises(DefinitionError, match="policy_role: expected a function of the context"):
        gateway(policy_role="Clerk")


def test_without_declared_roles_a_policy_names_none():
    with pytest.raises(DefinitionError, match=r"unknown role 'Clerk' \(known: none: declare them"):
        gateway().policy("item", roles=["Clerk"])


@pytest.mark.parametrize(
    ("models", "given", "message"),
    [
        ("itme", {}, "policy of itme for *: itme: no such model"),
        ("item", {"hide": ["prise"]}, "policy of item for *: no field 'prise' in item"),
        (["item", "rental"], {"fixed": ["price"]}, "policy of item, rental for *: no field 'price' in rental"),
        ("item", {"needs": ["customer"]}, "policy of item for *: model 'item' has no customer"),
        ("*", {"needs": ["tennant"]}, "policy of * for *: no model has tennant"),
        ("*", {"hide": ["prise"]}, "policy of * for *: no field 'prise' in tenant, customer, item, rental"),
    ],
)
def test_the_start_names_what_the_models_do_not_have(gw, models, given, message):
    gw.policy(models, roles="*", **given)
    with pytest.raises(DefinitionError) as raised:
        gw.check()
    assert raised.value.message == message


def test_fields_relations_and_reverse_relations_may_be_hidden(gw):
    gw.policy("rental", roles=["Clerk"], hide=["deposit", "customer"])
    gw.policy("customer", roles=["Clerk"], hide=["rentals"])
    gw.policy("*", roles="*", hide=["price"])
    gw.check()


def test_the_start_says_which_models_a_policy_for_all_is_not_about(gw, caplog):
    gw.policy("*", roles="*", needs=["customer"], write=False)
    gw.policy("item", roles="*")
    gw.check()
    assert [record.getMessage() for record in caplog.records] == [
        "policy of * for * is not about tenant, customer, item: no customer"
    ]


@pytest.mark.parametrize(("roles", "problem"), [(("Clerk", "Boss"), "unknown role 'Boss'"), (("Clerk",), None)])
def test_a_rule_names_declared_roles_only(gw, roles, problem):
    auth = Auth(gw.context_fns, Tokens("k" * 32), load_user=lambda id_: None)
    hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=roles))]
    gw.acts.act("item", "look", set={"activeRoleId": string}, pre_act=hooks)(nothing)
    found = [f"item.look: grant: {problem} (known: Clerk, Customer, Auditor)"] if problem else []
    assert gw.checks.problems() == found


class WithoutTransactions(MockStorage):
    """A database on which nothing can be undone."""

    def has_transactions(self):
        return False


@pytest.mark.parametrize(
    ("given", "is_refused"),
    [
        ({"rows": nothing}, True),
        ({"check": nothing}, True),
        ({"write": nothing}, True),
        ({"rows": nothing, "write": False}, False),
        ({"hide": ["price"], "fixed": ["name"]}, False),
    ],
)
def test_what_may_have_to_be_undone_needs_transactions(gw, given, is_refused):
    gw.odm.set_db(WithoutTransactions(mongomock.MongoClient().test))
    gw.policy("item", roles=["Clerk"], **given)
    problems = "policy of item for Clerk: rows, check and write need a database with transactions"
    with pytest.raises(DefinitionError, match=problems) if is_refused else nullcontext():
        gw.odm.ready()

"""What a policy may say: gatewayfw.policies.declaration."""

from __future__ import annotations

import pytest

from gatewayfw import DefinitionError, gateway


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

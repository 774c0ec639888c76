"""What a client's ``get`` may name: gatewayfw.policies.joining."""

from __future__ import annotations

import pytest
from marshmallow import fields as mm

from gatewayfw import array, mapping

HIDDEN = "hidden"


@pytest.fixture
def ask(gw, serve):
    """A function that gives what a role's act is told of a `get` of rentals: its status, message and code."""
    ran = []

    @gw.acts.act("rental", "look", get=2)
    def look(body):
        ran.append(body)
        return {}

    @gw.acts.act("rental", "lookBeside", get={"rental": gw.schemas.select_struct("rental", 2)})
    def look_beside(body):
        ran.append(body)
        return {}

    call = serve()

    def ask(role, get, act="look"):
        ran.clear()
        status, body, code = call(role, "rental", act, get=get)
        assert len(ran) == (status == 200)
        return status, body.get("message"), code

    return ask


def test_a_get_that_names_a_hidden_field_is_refused_at_any_depth(gw, ask):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"])
    gw.policy("item", roles=["Clerk"], hide=["price"])
    for get, path in [
        ({"deposit": 1}, "get.deposit"),
        ({"deposit": 0}, "get.deposit"),
        ({"item": {"price": 1}}, "get.item.price"),
        ({"customer": {"rentals": {"deposit": 1}}}, "get.customer.rentals.deposit"),
    ]:
        assert ask("Clerk", get) == (403, f"{path} is hidden from you", HIDDEN)
    assert ask("Clerk", {"rental": {"day": 1, "item": {"price": 1}}}, "lookBeside") == (
        403,
        "get.rental.item.price is hidden from you",
        HIDDEN,
    )


@pytest.mark.parametrize(
    ("kind", "given", "path"),
    [
        (array, lambda get: [{}, get], "set.parts"),
        (lambda select: array({"get": select}), lambda get: [{"get": {}}, {"get": get}], "set.parts.get"),
        (mapping, lambda get: {"a": {}, "b": get}, "set.parts.*"),
        (lambda select: mapping({"get": select}), lambda get: {"a": {"get": get}}, "set.parts.*.get"),
        (lambda select: array(mapping(select)), lambda get: [{}, {"a": get}], "set.parts.*"),
    ],
    ids=["list", "list of objects", "mapping", "mapping of objects", "list of mappings"],
)
def test_a_get_in_a_list_or_a_mapping_is_refused_too(gw, serve, kind, given, path):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"])
    ran = []
    gw.acts.act("rental", "look", set={"parts": kind(gw.schemas.select_struct("rental", 2))})(ran.append)
    call = serve()
    refused = call("Clerk", "rental", "look", set={"parts": given({"day": 1, "deposit": 1})})
    assert (refused, ran) == ((403, {"message": f"{path}.deposit is hidden from you"}, HIDDEN), [])
    assert call("Clerk", "rental", "look", set={"parts": given({"day": 1})})[0] == 200


FREE = {
    "function": lambda gw: lambda details: None,
    "marshmallow": lambda gw: {"set": {"parts": mm.List(gw.schemas.select_struct("item", 1))}, "get": {}},
}


@pytest.mark.parametrize("validator", FREE.values(), ids=FREE)
def test_a_get_that_nobody_knows_as_one_shows_no_hidden_name_either(gw, serve, validator):
    gw.policy("item", roles=["Clerk"], hide=["price"])
    items = gw.odm.model("item")
    items.insert_one({"name": "lamp", "price": "9"})

    def show(body):
        return items.find({}, projection=body["details"]["set"]["parts"][0]).to_list()

    gw.acts.set_act(schema="item", act_name="show", validator=validator(gw), fn=show)
    parts = [{"_id": 0, "name": 1, "price": 1}]
    assert serve()("Clerk", "item", "show", set={"parts": parts})[:2] == (200, [{"name": "lamp"}])


def test_a_get_that_names_a_relation_as_a_whole_passes(gw, ask):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"])
    gw.policy("item", roles=["Clerk"], hide=["price"])
    get = {"day": 1, "item": 1, "customer": {"rentals": 1}}
    assert ask("Clerk", get) == (200, None, None)
    assert ask("Clerk", {"rental": {"item": 1}}, "lookBeside") == (200, None, None)


def test_a_hidden_relation_may_not_be_named(gw, ask):
    gw.policy("rental", roles=["Clerk"], hide=["customer"])
    gw.policy("customer", roles=["Clerk"], hide=["rentals"])
    assert ask("Clerk", {"customer": 1}) == (403, "get.customer is hidden from you", HIDDEN)
    gw.policy("rental", roles=["Customer"])
    gw.policy("customer", roles=["Customer"], hide=["rentals"])
    assert ask("Customer", {"customer": {"rentals": {}}}) == (403, "get.customer.rentals is hidden from you", HIDDEN)


def test_a_name_that_own_documents_show_may_be_named(gw, ask):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"], own=lambda context: [])
    assert ask("Clerk", {"deposit": 1}) == (200, None, None)


def test_other_roles_ghosts_and_names_below_nothing_pass(gw, ask, serve):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"])
    gw.policy("rental", roles=["Auditor", None])
    assert [ask(role, {"deposit": 1})[0] for role in ("Auditor", None)] == [200, 200]
    assert serve()("Clerk", "rental", "look", get={"deposit": 1}, user="ghost")[0] == 200


def test_what_passed_for_a_role_is_not_taken_for_another_role_or_act(gw, ask):
    gw.policy("rental", roles=["Clerk"], hide=["deposit"])
    gw.policy("rental", roles=["Auditor"])
    gw.policy("item", roles=["Clerk", "Auditor"])
    for _ in range(2):
        assert ask("Auditor", {"deposit": 1})[0] == 200
        assert ask("Clerk", {"deposit": 1})[0] == 403
        assert ask("Clerk", {"day": 1})[0] == ask("Clerk", {"item": 1})[0] == 200
        assert ask("Clerk", {"rental": {"deposit": 1}}, "lookBeside")[0] == 403
    gw.policy("rental", roles="*", hide=["day"])
    assert ask("Clerk", {"day": 1})[0] == 403

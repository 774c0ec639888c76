"""What all policies of a model mean together for a role: gatewayfw.policies.joining."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import DefinitionError, gateway
from gatewayfw.policies.joining import CLOSED, hidden_for_somebody, joined
from tests.policies.conftest import ROLES, define


def first(context):
    """A function of the context."""


def second(context):
    """Another one."""


def test_a_model_without_a_policy_is_open_to_all(gw):
    gw.policy("item", roles=["Clerk"], write=False)
    assert [joined(gw.schemas, "customer", role) for role in ("Clerk", "", None)] == [None, None, None]


def test_a_model_with_a_policy_is_closed_to_whoever_none_names(gw):
    gw.policy("item", roles=["Clerk"])
    gw.policy("rental", roles=[None])
    found = {role: joined(gw.schemas, "item", role) for role in ("Clerk", "Customer", "", None)}
    assert found == {"Clerk": None, "Customer": CLOSED, "": CLOSED, None: CLOSED}
    assert [joined(gw.schemas, "rental", role) for role in (None, "Clerk")] == [None, CLOSED]


def test_a_policy_for_everybody_restricts_and_admits_nobody(gw):
    gw.policy("item", roles="*", write=False)
    assert [joined(gw.schemas, "item", role) for role in ("Clerk", "", None)] == [CLOSED] * 3
    gw.policy("item", roles=["Clerk", None])
    assert (joined(gw.schemas, "item", "Clerk").writes, joined(gw.schemas, "item", "")) == (False, CLOSED)
    assert joined(gw.schemas, "item", None) is None


def test_with_admit_it_admits_who_is_signed_in(gw):
    gw.policy("item", roles="*", admit=True)
    assert [joined(gw.schemas, "item", role) for role in ("Clerk", "", None)] == [None, None, CLOSED]


def test_all_models_stands_for_those_that_have_what_it_needs(gw):
    gw.policy("*", roles="*", needs=["customer"], rows=first, admit=True)
    assert (joined(gw.schemas, "rental", "").rows, joined(gw.schemas, "item", "")) == ((first,), None)


def test_rows_are_joined_names_united_and_writes_by_and(gw):
    gw.policy("item", roles=["Clerk"], rows=first, hide=["price"], fixed=["name"])
    gw.policy(["item", "customer"], roles="*", rows=second, write=first, check=second)
    found = joined(gw.schemas, "item", "Clerk")
    assert (found.rows, dict(found.hides), found.fixed) == ((first, second), {"price": ()}, {"name"})
    assert (found.writes, found.changes, found.checks) == (True, (first,), (first, second))
    gw.policy("item", roles=["Clerk"], write=False)
    assert joined(gw.schemas, "item", "Clerk").writes is False


def test_what_a_write_may_leave_is_what_may_be_changed_else_what_is_seen(gw):
    gw.policy("item", roles=["Clerk"], rows=first, write=second)
    gw.policy("rental", roles=["Clerk"], rows=first)
    assert [joined(gw.schemas, name, "Clerk").checks for name in ("item", "rental")] == [(second,), (first,)]


def test_own_documents_show_a_name_only_if_each_policy_that_hides_it_says_so(gw):
    gw.policy("item", roles=["Clerk"], hide=["price", "name"], own=first)
    gw.policy("item", roles="*", hide=["price"], own=second)
    gw.policy("item", roles="*", hide=["name"])
    assert dict(joined(gw.schemas, "item", "Clerk").hides) == {"price": (first, second), "name": ()}
    assert hidden_for_somebody(gw.schemas, "item") == {"price", "name"}


def test_with_require_policy_every_model_is_closed_to_whoever_no_policy_names():
    gw = define(gateway(roles=ROLES, require_policy=True))
    gw.odm.set_db(mongomock.MongoClient().test)
    gw.policy("item", roles=["Clerk"])
    assert [joined(gw.schemas, name, "Clerk") for name in ("item", "rental")] == [None, CLOSED]


def test_while_a_policy_is_wrong_nothing_is_open(gw):
    gw.policy("rental", roles=["Clerk"], hide=["typo"])
    with pytest.raises(DefinitionError, match="no field 'typo' in rental"):
        joined(gw.schemas, "item", "Clerk")

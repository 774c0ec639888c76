"""A ghost is changed by ghosts only: for everybody else no such user is there to be changed."""

from __future__ import annotations

import pytest

from tests.sample_service.conftest import ok, refused

CHANGES = [
    pytest.param("updateUser", {"password": "owned"}, id="updateUser"),
    pytest.param("updateUserRelations", {"organizations": []}, id="updateUserRelations"),
    pytest.param("removeUser", {}, id="removeUser"),
    pytest.param("setUserRoles", {"roles": []}, id="setUserRoles"),
]


@pytest.mark.parametrize(("act", "set_"), CHANGES)
def test_a_manager_cannot_change_a_ghost(act_as, people, digest, act, set_):
    before = digest()
    assert act_as("Manager", act, {"_id": people["ghost"].id, **set_}, {}) == refused(404, "user not found")
    assert digest() == before


@pytest.mark.parametrize(("act", "set_"), CHANGES[:2] + CHANGES[3:])
def test_a_ghost_can(act_as, people, act, set_):
    ghost = people["ghost"].id
    assert act_as("ghost", act, {"_id": ghost, **set_}, {}) == ok({"_id": ghost})

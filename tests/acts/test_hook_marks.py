"""The order of hooks: what cannot work, and what may come from elsewhere."""

from functools import partial, wraps

import pytest

from gatewayfw.acts import ContextFns
from gatewayfw.acts.hooks import HookMark, find_mark, find_order_problems, find_unmet, is_access_rule
from gatewayfw.auth import Auth, Rule, Tokens, access_rule

CONTEXTS = ContextFns()
AUTH = Auth(CONTEXTS, Tokens("k" * 32), lambda id_: None)
TOKEN, USER, GRANT = AUTH.read_token, AUTH.load_user, AUTH.grant(Rule(roles=("Manager",)))
TOKEN_LATE = "the hook load_user needs what read_token gives, which must come before it"
USER_LATE = "the hook grant needs what load_user gives, which must come before it"


def own():
    """A hook of an author: it may put anything into the context."""


@wraps(AUTH.load_user)
def wrapped():
    AUTH.load_user()


@pytest.mark.parametrize(
    ("hooks", "problems"),
    [
        ([], []),
        ([TOKEN], []),
        ([TOKEN, USER, GRANT], []),
        ([own, TOKEN, own, USER, own, GRANT, own], []),
        ([TOKEN, USER, TOKEN, GRANT, GRANT], []),
        ([TOKEN, wrapped, GRANT], []),
        ([TOKEN, access_rule(AUTH.load_user)], []),
        ([own, GRANT], []),
        ([own, USER], []),
        ([TOKEN, own, GRANT], []),
        ([GRANT], []),  # the app around may have put the user there
        ([USER, GRANT], []),
        ([TOKEN, GRANT, USER], [USER_LATE]),
        ([TOKEN, GRANT, wrapped], [USER_LATE]),
        ([USER, TOKEN, GRANT], [TOKEN_LATE]),
        ([access_rule(AUTH.load_user), TOKEN], [TOKEN_LATE]),
        ([partial(AUTH.load_user), TOKEN], [TOKEN_LATE]),
        ([GRANT, TOKEN, USER], [USER_LATE]),
        ([own, GRANT, TOKEN, USER], [USER_LATE]),
        ([GRANT, USER, TOKEN], [USER_LATE, TOKEN_LATE]),
        ([TOKEN, GRANT], ["the hook grant needs 'user' in the context, which no hook before it gives"]),
    ],
)
def test_an_order_that_cannot_work_is_named(hooks, problems):
    assert list(find_order_problems(hooks)) == problems


@pytest.mark.parametrize(
    ("hooks", "name"),
    [
        ([], None),
        ([own], None),
        ([own, GRANT], None),
        ([TOKEN, USER, GRANT], None),
        ([GRANT, TOKEN, USER], None),  # an order that cannot work, named above
        ([GRANT], "grant"),
        ([USER, GRANT], "load_user"),
    ],
)
def test_a_hook_that_only_the_app_around_can_feed_is_known(hooks, name):
    step = find_unmet(hooks)
    assert (step and step.name) == name


@pytest.mark.parametrize("hook", [own, lambda: None, print, partial(own)])
def test_nothing_is_known_of_an_authors_own_hook(hook):
    assert find_mark(hook) is None


def test_a_step_needs_and_gives_nothing_unless_it_says_so():
    assert {HookMark("load"), HookMark("load", "", "", None, None)} == {HookMark("load")}


def test_an_attribute_of_an_author_is_no_mark():
    def stepping():
        """A hook with an attribute of the mark's name."""

    stepping.step = 3
    assert find_mark(stepping) is None


def noted(hook):
    """A partial with a note of its author, so that a partial of it has one inside."""
    made = partial(hook)
    made.note = "mine"
    return made


@pytest.mark.parametrize("hook", [GRANT, partial(GRANT), partial(noted(GRANT)), access_rule(noted(AUTH.load_user))])
def test_marks_are_seen_through_partials(hook):
    assert is_access_rule(hook) is True
    assert find_mark(hook) is not None


@pytest.mark.parametrize("hook", [own, partial(own), partial(AUTH.load_user), partial(noted(AUTH.load_user))])
def test_a_hook_without_the_mark_is_no_access_rule(hook):
    assert is_access_rule(hook) is False

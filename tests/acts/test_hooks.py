"""Hooks of every form: how they are called, and which of them are access rules."""

from __future__ import annotations

import functools

import pytest

from gatewayfw.acts.hooks import call_with_body, find_access_rules, find_fn_problems, find_hook_problems, name_of
from gatewayfw.auth import access_rule


class Hooks:
    """Hooks of every form; each records what it was called with."""

    def __init__(self):
        self.calls = []

    def method(self, body):
        self.calls.append(body)

    def bare_method(self):
        self.calls.append("bare")

    def __call__(self, body):
        self.calls.append(body)

    def keyword(self, *, body="bare"):
        self.calls.append(body)

    def default(self, body="bare"):
        self.calls.append(body)

    def unused(self, _=None):
        self.calls.append("unused")

    def spelled(self, _body="bare"):
        self.calls.append(_body)

    def all_positional(self, *values):
        self.calls.append(*values or ["bare"])

    def two(self, first, second):
        self.calls.append((first, second))

    def wrapping(self, hook):
        @functools.wraps(hook)
        def wrapper(*args, **kwargs):
            return hook(*args, **kwargs)

        return wrapper

    def filling(self, hook):
        @functools.wraps(hook)
        def wrapper():
            return hook("filled")

        return wrapper


HOOK_FORMS = {
    "bound method": (lambda hooks: hooks.method, "BODY"),
    "bound method without parameters": (lambda hooks: hooks.bare_method, "bare"),
    "callable object": (lambda hooks: hooks, "BODY"),
    "keyword only": (lambda hooks: hooks.keyword, "bare"),
    "default": (lambda hooks: hooks.default, "BODY"),
    "default that is not used": (lambda hooks: hooks.unused, "unused"),
    "default of a spelling": (lambda hooks: hooks.spelled, "BODY"),
    "any number": (lambda hooks: hooks.all_positional, "BODY"),
    "partial with one left": (lambda hooks: functools.partial(hooks.two, "given"), ("given", "BODY")),
    "partial with none left": (lambda hooks: functools.partial(hooks.two, "given", "too"), ("given", "too")),
    "builtin": (lambda hooks: hooks.calls.append, "BODY"),
    "decorated with a parameter": (lambda hooks: hooks.wrapping(hooks.method), "BODY"),
    "decorated without": (lambda hooks: hooks.wrapping(hooks.bare_method), "bare"),
    "decorator that gives the value": (lambda hooks: hooks.filling(hooks.method), "filled"),
}


@pytest.mark.parametrize(("form", "expected"), HOOK_FORMS.values(), ids=HOOK_FORMS)
def test_a_hook_that_can_take_the_body_gets_it(form, expected):
    hooks = Hooks()
    hook = call_with_body(form(hooks))
    hook("BODY")
    assert hooks.calls == [expected]


def test_a_builtin_without_a_signature_gets_the_body():
    hook = call_with_body(dict)
    assert hook({"act": "a"}) == {"act": "a"}


def test_a_hook_called_bare_is_an_access_rule_still():
    calls = []
    hook = call_with_body(access_rule(lambda: calls.append("called")))
    hook("BODY")
    assert (find_access_rules([hook, print]), calls) == ([hook], ["called"])


def test_a_hook_has_the_name_of_its_function_or_of_its_class():
    hooks = Hooks()
    bare = call_with_body(functools.partial(hooks.two, "given", "too"))
    found = [name_of(hook) for hook in (hooks.method, hooks, functools.partial(hooks.method), bare)]
    assert found == ["Hooks.method", "Hooks", "partial", "partial"]


def test_all_that_are_no_hooks_are_named():
    assert list(find_hook_problems({"pre_act": [print, 1, "x"]})) == [
        "pre_act[1] must be a function",
        "pre_act[2] must be a function",
    ]


def making(_options):
    raise AssertionError


making.makes_hook = True


def test_what_makes_a_hook_is_none():
    assert list(find_hook_problems({"pre_act": [making]})) == [
        "pre_act[0] makes a hook but is not one: call it, as in grant(Rule(roles=(...)))"
    ]


def test_a_hook_that_comes_late_takes_two_also_below_its_decorator():
    hooks = Hooks()
    late = [hooks.two, hooks.wrapping(hooks.two), hooks.wrapping(hooks.method), hooks.method, lambda: 1]
    wrong = "must take the body and the result as its two positional arguments"
    assert list(find_hook_problems({"post_act": late})) == [f"post_act[{at}] {wrong}" for at in (2, 3, 4)]


async def later(body):
    pass


async def later_and_later(body):
    yield


def now_and_then(body):
    yield


#: Functions of all signatures that make a difference.
FUNCTIONS = [
    *(lambda: None, lambda body: None, lambda a, b: None, lambda a, b, c: None, lambda *a: None, lambda a, *b: None),
    *(lambda a=1: None, lambda a, b=1: None, lambda a=1, b=2, c=3: None, lambda body=1: None, lambda _=None: None),
    *(lambda *, a: None, lambda *, a=1: None, lambda a, *, b: None, lambda a, *, b=1: None, lambda a, *, b=1, c: None),
    *(lambda a, /: None, lambda a, b, /: None, lambda a=1, /: None, lambda **a: None, lambda a, **b: None),
    *(lambda *a, b: None, lambda *a, b=1, **c: None, later, later_and_later, now_and_then),
]


def told_of(fn):
    """What is wrong with a function as that of an act, and as a hook of each kind."""
    hooks = [list(find_hook_problems({name: [fn]})) for name in ("pre_act", "post_act")]
    return list(find_fn_problems(fn)), hooks, call_with_body(fn) is fn


@pytest.mark.parametrize("fn", FUNCTIONS, ids=range(len(FUNCTIONS)))
def test_a_plain_function_is_judged_as_one_whose_signature_is_looked_up(fn):
    told = told_of(fn)
    fn.looked_up = True  # what has attributes may have `__wrapped__` or `__signature__`
    assert told_of(fn) == told
    del fn.looked_up

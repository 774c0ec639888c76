"""Hooks and act functions: which callables can be one, and how they are called.

A hook that can take the body gets it; any other is called without arguments. Source: specification 18.2.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any

from gatewayfw.acts.steps import is_access_rule
from gatewayfw.errors import DefinitionError
from gatewayfw.spelling import CONTRACT, Spelling

ActFn = Callable[[Any], Any]
Hook = Callable[..., Any]
#: A hook after an act, of body and result, or after an error, of body and error.
LateHook = Callable[[Any, Any], Any]


def access_rules(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks that are marked as deciding who may call."""
    return [hook for hook in hooks if is_access_rule(hook)]


def parse_hooks(key: str, hooks: Any, spelling: Spelling = CONTRACT) -> tuple[ActFn, ...]:
    """Return checked hooks, each callable with the body.

    ``key`` names the list in messages.

    Raises:
        DefinitionError: it is not a list of hooks; the message names every element that is not one.
    """
    if problems := list(hook_problems(key, hooks, spelling)):
        raise DefinitionError("; ".join(problems))
    return tuple(map(call_with_body, hooks))


def fn_problems(fn: Any, name: str = "fn", of: str = "body") -> Iterator[str]:
    """Yield what keeps a value from being a function of one argument, ``of``."""
    unusable = _unusable(fn)
    if unusable:
        yield f"{name} {unusable}"
    elif not _takes_body(fn):
        yield f"{name} must take the {of} as its one positional argument"


def hook_problems(key: str, hooks: Any, spelling: Spelling) -> Iterator[str]:
    """Yield what is wrong with a list of hooks; messages call the list by ``key``."""
    if not isinstance(hooks, Sequence) or isinstance(hooks, (str, bytes)):
        yield f"{spelling.name(key)} must be a list of functions"
        return
    for number, hook in enumerate(hooks):
        name = spelling.element(key, number)
        unusable = _unusable(hook)
        if unusable:
            yield f"{name} {unusable}"
        elif getattr(hook, "makes_hook", False) is True:
            yield f"{name} makes a hook but is not one: call it, as in grant(Rule(roles=(...)))"
        elif _is_generator(hook):
            yield f"{name} must not be a generator: its calls would do nothing"
        elif not _takes_body(hook) and not _fits(hook):
            yield f"{name} can be called neither with the body nor bare"
        elif default := _filled_default(hook):
            yield f"{name} would get the body as {default!r}: call that parameter body, or bind it"


def late_problems(key: str, hooks: Any, spelling: Spelling, of: str) -> Iterator[str]:
    """Yield what is wrong with a list of hooks that come after the act.

    Each takes the body and ``of``.
    """
    if not isinstance(hooks, Sequence) or isinstance(hooks, (str, bytes)):
        yield f"{spelling.name(key)} must be a list of functions"
        return
    for number, hook in enumerate(hooks):
        name = spelling.element(key, number)
        if unusable := _unusable(hook):
            yield f"{name} {unusable}"
        elif _is_generator(hook):
            yield f"{name} must not be a generator: its calls would do nothing"
        elif is_access_rule(hook):
            yield f"{name} is an access rule, which must come before the act"
        elif not (_fits(hook, None, None) and _fits(hook, None, None, follow_wrapped=True)):
            yield f"{name} must take the body and the {of} as its two positional arguments"


def call_with_body(hook: Hook) -> ActFn:
    """Return a hook that can be called with the body."""
    return hook if _takes_body(hook) else _bare(hook)


def _bare(hook: Hook) -> ActFn:
    @wraps(hook)
    def called(_body: Any) -> Any:
        return hook()

    called.__qualname__ = name_of(hook)  # an object has none that `wraps` could copy
    called.is_access_rule = is_access_rule(hook)  # type: ignore[attr-defined]  # the mark may be in its class
    return called


def name_of(hook: Hook) -> str:
    """Return the name of a hook, for messages; of an object that of its class."""
    return str(getattr(hook, "__qualname__", type(hook).__name__))


def _takes_body(fn: Callable[..., Any]) -> bool:
    # A decorator's *args say nothing, so look at the function it wraps. Both must take the body.
    return _fits(fn, None) and _fits(fn, None, follow_wrapped=True)


def _filled_default(fn: Callable[..., Any]) -> str:
    """Return the parameter whose default the body would replace by mistake.

    Empty for none.
    """
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # builtins without a signature
        return ""
    first = next(iter(parameters), None)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if first is None or first.kind not in positional or first.default is inspect.Parameter.empty:
        return ""
    return "" if first.name.strip("_") in ("body", "") else first.name


def _fits(fn: Callable[..., Any], *args: object, follow_wrapped: bool = False) -> bool:
    try:
        signature = inspect.signature(fn, follow_wrapped=follow_wrapped)
    except ValueError:  # builtins without a signature
        return True
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def _unusable(fn: Any) -> str:
    """Say why a function cannot be an act or hook.

    A coroutine that nobody awaits would check nothing.
    """
    if not callable(fn):
        return "must be a function"
    for called in (fn, type(fn).__call__):
        if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
            return "must not be async: acts and hooks are plain functions"
    return ""


def _is_generator(fn: Any) -> bool:
    return inspect.isgeneratorfunction(fn) or inspect.isgeneratorfunction(type(fn).__call__)

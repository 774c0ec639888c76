"""Hooks and act functions: which callables can be one, and how they are called.

A hook before the act that can take the body gets it; any other is called without arguments. Source: specification 18.2;
the hooks after an act and after an error are our choice.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from functools import wraps
from types import CoroutineType, GeneratorType, MappingProxyType
from typing import Any

from gatewayfw.acts.hook_marks import is_access_rule
from gatewayfw.errors import DefinitionError
from gatewayfw.spelling import CONTRACT, Spelling

ActFn = Callable[[Any], Any]
Hook = Callable[..., Any]
#: A hook after an act, of body and result, or after an error, of body and error.
AfterHook = Callable[[Any, Any], Any]


def find_access_rules(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks that are marked as deciding who may call."""
    return [hook for hook in hooks if is_access_rule(hook)]


def parse_hooks(key: str, hooks: Any, spelling: Spelling = CONTRACT) -> tuple[ActFn, ...]:
    """Return checked hooks, each callable with the body.

    ``key`` names the list in messages.

    Raises:
        DefinitionError: it is not a list of hooks; the message names every element that is not one.
    """
    if problems := list(find_hook_problems(key, hooks, spelling)):
        raise DefinitionError("; ".join(problems))
    return tuple(map(call_with_body, hooks))


def find_fn_problems(fn: Any, name: str = "fn", of: str = "body") -> Iterator[str]:
    """Yield what keeps a value from being a function of one argument, ``of``."""
    unusable = _unusable(fn)
    if unusable:
        yield f"{name} {unusable}"
    elif not _takes_body(fn):
        yield f"{name} must take the {of} as its one positional argument"


def find_hook_problems(key: str, hooks: Any, spelling: Spelling) -> Iterator[str]:
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


def find_after_hook_problems(key: str, hooks: Any, spelling: Spelling, of: str) -> Iterator[str]:
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


#: The lists of hooks, in the order in which they run.
HOOKS = ("pre_validation", "pre_act", "post_act", "on_error")
#: Hooks by the names of their lists.
Lists = Mapping[str, tuple[Any, ...]]
NO_HOOKS: Lists = MappingProxyType(dict.fromkeys(HOOKS, ()))


def join_early_hooks(lists: Lists) -> tuple[Hook, ...]:
    """Return the hooks before an act, in the order in which they run."""
    return (*lists["pre_validation"], *lists["pre_act"])


def find_list_problems(lists: Mapping[str, Any], spelling: Spelling) -> Iterator[str]:
    """Yield what is wrong with hooks by the names of their lists."""
    yield from find_hook_problems("preValidation", lists["pre_validation"], spelling)
    yield from find_hook_problems("preAct", lists["pre_act"], spelling)
    yield from find_after_hook_problems("postAct", lists["post_act"], spelling, "result")
    yield from find_after_hook_problems("onError", lists["on_error"], spelling, "error")


#: Results that would have to be awaited; acts and hooks are plain functions.
LATER: tuple[type, ...] = (Awaitable, AsyncGenerator, Future)
#: Results of a hook whose author meant to stop the request or forgot a call: a reply, an error, its class, a check
#: that was never run.
_NO_ANSWERS: tuple[Any, ...] = (
    *LATER,
    Iterator,
    Callable,  # a class, a check that was not called, a response
    AbstractContextManager,
    AbstractAsyncContextManager,
    BaseException,
    tuple,
)
#: The same of a hook whose answer replaces a result: what nobody can write as JSON.
_NO_RESULTS: tuple[Any, ...] = (*LATER, GeneratorType, Callable, BaseException)


def refuse_answer(hook: Hook, given: Any) -> None:
    """Raise if a hook may have meant its result to stop the request.

    So no request passes by mistake.
    """
    if isinstance(given, CoroutineType | GeneratorType):
        given.close()  # otherwise Python warns that it never ran
    is_rule = is_access_rule(hook)
    if not is_rule and not isinstance(given, _NO_ANSWERS):
        return
    name, kind = name_of(hook), type(given).__name__
    what = f"access rule {name!r} returned" if is_rule else f"hook {name!r} returned"
    raise DefinitionError(f"{what} {kind}: raise an error to refuse, return None to let pass")


def add_after_hooks(fn: ActFn, hooks: Sequence[AfterHook]) -> ActFn:
    """Return an act's function with the hooks of ``post_act`` after it.

    Each gets the body and the result. What it answers is the result from then on, unless that is None.
    """
    if not hooks:
        return fn

    def run(body: Any) -> Any:
        result = fn(body)
        for hook in hooks:
            given = hook(body, result)
            if isinstance(given, _NO_RESULTS):
                _refuse_result(hook, given)
            if given is not None:
                result = given
        return result

    return run


def run_error_hooks(hooks: Sequence[AfterHook], body: Mapping[str, Any], error: Exception) -> Exception:
    """Return the error that the hooks of ``on_error`` leave.

    Each gets the body and the error, and may raise another.
    """
    for hook in hooks:
        try:
            given = hook(body, error)
            if given is not None:
                refuse_answer(hook, given)
        except Exception as raised:
            error = raised
    return error


def _refuse_result(hook: AfterHook, given: Any) -> None:
    """Raise: nobody would wait for it, or could write it."""
    if isinstance(given, CoroutineType | GeneratorType):
        given.close()  # otherwise Python warns that it never ran
    name, kind = name_of(hook), type(given).__name__
    raise DefinitionError(f"hook {name!r} returned {kind}, which is no result")

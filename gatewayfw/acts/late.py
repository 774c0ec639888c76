"""Answers of hooks: which are refused, and what those after an act mean.

Source: our choice.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import CoroutineType, GeneratorType, MappingProxyType
from typing import Any

from gatewayfw.acts.hooks import ActFn, Hook, LateHook, hook_problems, late_problems, name_of
from gatewayfw.acts.steps import is_access_rule
from gatewayfw.errors import DefinitionError
from gatewayfw.spelling import Spelling

#: The lists of hooks, in the order in which they run.
HOOKS = ("pre_validation", "pre_act", "post_act", "on_error")
#: Hooks by the names of their lists.
Lists = Mapping[str, tuple[Any, ...]]
NO_HOOKS: Lists = MappingProxyType(dict.fromkeys(HOOKS, ()))


def early_hooks(lists: Lists) -> tuple[Hook, ...]:
    """Return the hooks before an act, in the order in which they run."""
    return (*lists["pre_validation"], *lists["pre_act"])


def lists_problems(lists: Mapping[str, Any], spelling: Spelling) -> Iterator[str]:
    """Yield what is wrong with hooks by the names of their lists."""
    yield from hook_problems("preValidation", lists["pre_validation"], spelling)
    yield from hook_problems("preAct", lists["pre_act"], spelling)
    yield from late_problems("postAct", lists["post_act"], spelling, "result")
    yield from late_problems("onError", lists["on_error"], spelling, "error")


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


def with_late_hooks(fn: ActFn, hooks: Sequence[LateHook]) -> ActFn:
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


def error_after(hooks: Sequence[LateHook], body: Mapping[str, Any], error: Exception) -> Exception:
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


def _refuse_result(hook: LateHook, given: Any) -> None:
    """Raise: nobody would wait for it, or could write it."""
    if isinstance(given, CoroutineType | GeneratorType):
        given.close()  # otherwise Python warns that it never ran
    name, kind = name_of(hook), type(given).__name__
    raise DefinitionError(f"hook {name!r} returned {kind}, which is no result")

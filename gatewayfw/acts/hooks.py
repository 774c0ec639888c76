"""Hooks and act functions: which callables can be one, and how they are called.

A hook before the act that can take the body gets it; any other is called without arguments. Source: specification 18.2;
the hooks after an act and after an error, and the marks of hooks, are our choice.
"""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import dataclass
from functools import partial, wraps
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_ITERABLE_COROUTINE, CO_VARARGS
from types import CoroutineType, FunctionType, GeneratorType, MappingProxyType
from typing import Any, NoReturn, TypeVar, final

from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import Carrier

ActFn = Callable[[Any], Any]
Hook = Callable[..., Any]
#: A hook after an act, of body and result, or after an error, of body and error.
AfterHook = Callable[[Any, Any], Any]
H = TypeVar("H", bound=Hook)

#: The lists of hooks, in the order in which they run.
HOOKS = ("pre_validation", "pre_act", "post_act", "on_error")
#: What the later ones take besides the body.
_AFTER = {"post_act": "result", "on_error": "error"}
#: Hooks by the names of their lists.
Lists = Mapping[str, tuple[Any, ...]]
NO_HOOKS: Lists = MappingProxyType(dict.fromkeys(HOOKS, ()))

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


def join_early_hooks(lists: Lists) -> tuple[Hook, ...]:
    """Return the hooks before an act, in the order in which they run."""
    return (*lists["pre_validation"], *lists["pre_act"])


def find_hook_problems(lists: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is wrong with hooks by the names of their lists."""
    for name, hooks in lists.items():
        if not isinstance(hooks, Sequence) or isinstance(hooks, (str, bytes)):
            yield f"{name} must be a list of functions"
            continue
        more = _AFTER.get(name)
        for number, hook in enumerate(hooks):
            if problem := _unusable(hook) or (_late_problem(hook, more) if more else _early_problem(hook)):
                yield f"{name}[{number}] {problem}"


def _early_problem(hook: Hook) -> str:
    if getattr(hook, "makes_hook", False) is True:
        return "makes a hook but is not one: call it, as in grant(Rule(roles=(...)))"
    if _is_generator(hook):
        return "must not be a generator: its calls would do nothing"
    if not _takes(hook, None) and not _fits(hook):
        return "can be called neither with the body nor bare"
    if default := _filled_default(hook):
        return f"would get the body as {default!r}: call that parameter body, or bind it"
    return ""


def _late_problem(hook: Hook, more: str) -> str:
    if _is_generator(hook):
        return "must not be a generator: its calls would do nothing"
    if is_access_rule(hook):
        return "is an access rule, which must come before the act"
    if not _takes(hook, None, None):
        return f"must take the body and the {more} as its two positional arguments"
    return ""


def find_fn_problems(fn: Any, name: str = "fn", of: str = "body") -> Iterator[str]:
    """Yield what keeps a value from being a function of one argument, ``of``."""
    if unusable := _unusable(fn):
        yield f"{name} {unusable}"
    elif not _takes(fn, None):
        yield f"{name} must take the {of} as its one positional argument"


def _unusable(fn: Any) -> str:
    """Say why a value is no plain function; nobody would await a coroutine."""
    if not callable(fn):
        return "must be a function"
    if _is_plain(fn) and not fn.__code__.co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR | CO_ITERABLE_COROUTINE):
        return ""
    for called in (fn, type(fn).__call__):
        if inspect.iscoroutinefunction(called) or inspect.isasyncgenfunction(called):
            return "must not be async: acts and hooks are plain functions"
    return ""


def _is_plain(fn: Any) -> bool:
    """Tell whether a function has nothing but its code.

    Then a look at that says what `inspect` says, in a tenth of the time.
    """
    return type(fn) is FunctionType and not fn.__dict__


def _is_generator(fn: Any) -> bool:
    if _is_plain(fn):
        return bool(fn.__code__.co_flags & CO_GENERATOR)
    return inspect.isgeneratorfunction(fn) or inspect.isgeneratorfunction(type(fn).__call__)


def _takes(fn: Hook, *args: object) -> bool:
    # A decorator's *args say nothing, so look at the function it wraps. Both must take what is given.
    return _fits(fn, *args) and (not hasattr(fn, "__wrapped__") or _fits(fn, *args, follow_wrapped=True))


def _fits(fn: Hook, *args: object, follow_wrapped: bool = False) -> bool:
    if _is_plain(fn):
        return _holds(fn, len(args))
    try:
        signature = inspect.signature(fn, follow_wrapped=follow_wrapped)
    except ValueError:  # builtins without a signature
        return True
    try:
        signature.bind(*args)
    except TypeError:
        return False
    return True


def _holds(fn: Any, count: int) -> bool:
    """Tell whether a function can be called with so many positional arguments alone."""
    code, most = fn.__code__, fn.__code__.co_argcount
    if code.co_kwonlyargcount > len(fn.__kwdefaults__ or ()):
        return False
    return most - len(fn.__defaults__ or ()) <= count and (count <= most or bool(code.co_flags & CO_VARARGS))


def _filled_default(fn: Hook) -> str:
    """Return the parameter whose default the body would replace; empty for none."""
    if _is_plain(fn) and not fn.__defaults__:
        return ""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except ValueError:  # builtins without a signature
        return ""
    first = next(iter(parameters), None)
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if first is None or first.kind not in positional or first.default is inspect.Parameter.empty:
        return ""
    return "" if first.name.strip("_") in ("body", "") else first.name


def call_with_body(hook: Hook) -> ActFn:
    """Return a hook that can be called with the body."""
    if _takes(hook, None):
        return hook

    @wraps(hook)
    def called(_body: Any) -> Any:
        return hook()

    called.__qualname__ = name_of(hook)  # an object has none that `wraps` could copy
    called.is_access_rule = is_access_rule(hook)  # type: ignore[attr-defined]  # the mark may be in its class
    return called


def name_of(hook: Hook) -> str:
    """Return the name of a hook, for messages; of an object that of its class."""
    return str(getattr(hook, "__qualname__", type(hook).__name__))


# -- what hooks answer


def refuse_answer(hook: Hook, given: Any) -> None:
    """Raise if a hook may have meant its result to stop the request."""
    is_rule = is_access_rule(hook)
    if is_rule or isinstance(given, _NO_ANSWERS):
        kind = "access rule" if is_rule else "hook"
        _refuse(kind, hook, given, ": raise an error to refuse, return None to let pass")


def _refuse(kind: str, hook: Hook, given: Any, why: str) -> NoReturn:
    if isinstance(given, CoroutineType | GeneratorType):
        given.close()  # otherwise Python warns that it never ran
    raise DefinitionError(f"{kind} {name_of(hook)!r} returned {type(given).__name__}{why}")


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
                _refuse("hook", hook, given, ", which is no result")
            if given is not None:
                result = given
        return result

    return run


def run_error_hooks(hooks: Sequence[AfterHook], body: Mapping[str, Any], error: Exception) -> Exception:
    """Return the error that the hooks of ``on_error`` leave; each may raise another."""
    for hook in hooks:
        try:
            given = hook(body, error)
            if given is not None:
                refuse_answer(hook, given)
        except Exception as raised:
            error = raised
    return error


# -- marks: what our hooks need and give, so that their order can be checked; an author's may give anything


@final
@dataclass(frozen=True)
class HookMark:
    """What we know about a hook.

    Attributes:
        needs, gives: the key that the context must have before it, and has after it; empty for none.
        token, role: where it reads the token and the caller's role; None if it reads none.
    """

    name: str
    needs: str = ""
    gives: str = ""
    token: Carrier | None = None
    role: Carrier | None = None


def mark(step: HookMark) -> Callable[[H], H]:
    """Return a decorator that records what a hook needs and gives."""

    def marked(hook: H) -> H:
        hook.step = step  # type: ignore[attr-defined]  # the mark
        return hook

    return marked


def find_mark(hook: Hook) -> HookMark | None:
    """Return the mark of a hook; None for a hook without."""
    found = _attribute_of(hook, "step")
    return found if isinstance(found, HookMark) else None


def find_marks(hooks: Iterable[Hook]) -> list[HookMark]:
    """Return the marks of those hooks that have one, in order."""
    return [found for found in map(find_mark, hooks) if found is not None]


def is_access_rule(hook: Hook) -> bool:
    """Tell whether a hook is marked as deciding who may call."""
    return _attribute_of(hook, "is_access_rule") is True


def find_access_rules(hooks: Iterable[Hook]) -> list[Hook]:
    """Return the hooks that are marked as deciding who may call."""
    return [hook for hook in hooks if is_access_rule(hook)]


def _attribute_of(hook: Hook, name: str) -> object:
    """Return what a hook, its class, or what a partial calls has under a name."""
    while isinstance(hook, partial) and not hasattr(hook, name):
        hook = hook.func
    return getattr(hook, name, None)


def find_order_problems(hooks: Sequence[Hook]) -> Iterator[str]:
    """Yield a message for each mistake in the order of an act's hooks.

    What a hook needs may come from an author's hook before it or, for the first hook, from a function of the app
    around the request. So the order is wrong if the hook that gives it comes later, or if marked hooks come before
    and none of them gives it.
    """
    marks = [find_mark(hook) for hook in hooks]
    for number, one in enumerate(marks):
        before = marks[:number]
        if one is None or not one.needs or _find_giver(before, one.needs):
            continue
        if later := _find_giver(marks[number:], one.needs):
            yield f"the hook {one.name} needs what {later.name} gives, which must come before it"
        elif before and None not in before:
            yield f"the hook {one.name} needs {one.needs!r} in the context, which no hook before it gives"


def find_unmet(hooks: Sequence[Hook]) -> HookMark | None:
    """Return the first hook whose need only a function around the request can meet."""
    marks = [find_mark(hook) for hook in hooks]
    first = marks[0] if marks else None
    return first if first and first.needs and not _find_giver(marks, first.needs) else None


def _find_giver(marks: Iterable[HookMark | None], key: str) -> HookMark | None:
    return next((one for one in marks if one and one.gives == key), None)

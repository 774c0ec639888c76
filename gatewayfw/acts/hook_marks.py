"""The marks of hooks: what our hooks need and give, and which are access rules.

What hooks need and give lets us check their order when an act is registered. An author's hook has no
such mark and may give anything. All our choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar, final

from gatewayfw.carriers import Carrier

H = TypeVar("H", bound=Callable[..., Any])


@final
@dataclass(frozen=True)
class HookMark:
    """What we know about a hook.

    Attributes:
        name: the name its author gave it.
        needs: the key that the context must have before it; empty for none.
        gives: the key that the context has after it; empty for none.
        token: where it reads the token; None if it reads none.
        role: where it reads the caller's role; None if it needs none.
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


def find_mark(hook: Callable[..., Any]) -> HookMark | None:
    """Return the step of a hook; None for a hook without this mark."""
    found = mark_of(hook, "step")
    return found if isinstance(found, HookMark) else None


def is_access_rule(hook: Callable[..., Any]) -> bool:
    """Tell whether a hook is marked as an access rule."""
    return mark_of(hook, "is_access_rule") is True


def mark_of(hook: Callable[..., Any], name: str) -> object:
    """Return a mark of a hook; None where it has none.

    The mark may be on the hook, on its class, or on the function that a partial calls.
    """
    while isinstance(hook, partial) and not hasattr(hook, name):
        hook = hook.func
    return getattr(hook, name, None)


def find_marks(hooks: Iterable[Callable[..., Any]]) -> Iterator[HookMark]:
    """Yield the steps of hooks, in order."""
    yield from (step for step in map(find_mark, hooks) if step is not None)


def find_order_problems(hooks: Sequence[Callable[..., Any]]) -> Iterator[str]:
    """Yield a message for each mistake in the order of an act's hooks.

    What a hook needs may come from an author's hook before it or, for the first hook, from a function of the app
    around the request. So the order is wrong if the hook that gives it comes later, or if marked hooks come before
    and none of them gives it.
    """
    steps = [find_mark(hook) for hook in hooks]
    for number, step in enumerate(steps):
        before = steps[:number]
        if step is None or not step.needs or _find_giver(before, step.needs):
            continue
        if later := _find_giver(steps[number:], step.needs):
            yield f"the hook {step.name} needs what {later.name} gives, which must come before it"
        elif before and None not in before:
            yield f"the hook {step.name} needs {step.needs!r} in the context, which no hook before it gives"


def find_unmet(hooks: Sequence[Callable[..., Any]]) -> HookMark | None:
    """Return the first hook whose need only a function around the request can meet."""
    steps = [find_mark(hook) for hook in hooks]
    first = steps[0] if steps else None
    return first if first and first.needs and not _find_giver(steps, first.needs) else None


def _find_giver(steps: Iterable[HookMark | None], key: str) -> HookMark | None:
    return next((step for step in steps if step and step.gives == key), None)

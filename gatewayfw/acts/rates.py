"""What acts say of rate limits, and what they ask of whoever counts.

`gatewayfw.limits.limits.RateLimits` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from gatewayfw.acts.context import Context
from gatewayfw.errors import DefinitionError


class Limits(Protocol):
    """Counts the calls of acts that have a ``limit``."""

    def parse(self, texts: Sequence[str], /) -> tuple[Any, ...]:
        """Return what `count` takes for the texts of a limit.

        Raises:
            DefinitionError: they mean no limit, or nothing here can count.
        """

    def count(self, act: str, rates: Sequence[Any], context: Context, remaining: Callable[[], float], /) -> None:
        """Count one call of an act; ``remaining`` gives the seconds left.

        Raises:
            RateLimited: a limit is used up.
            Unavailable: calls cannot be counted now.
        """


def limit_texts(limit: Any) -> tuple[str, ...]:
    """Return the texts of ``limit``: one, several, or none for None.

    Raises:
        DefinitionError: it is none of these.
    """
    if limit is None:
        return ()
    texts = (limit,) if isinstance(limit, str) else limit
    if not isinstance(texts, Sequence) or not texts or not all(isinstance(text, str) for text in texts):
        raise DefinitionError("limit must be a text such as '10/minute', or a list of such")
    return tuple(texts)

"""What the text of a limit means, such as ``10/minute``.

Imported only where a limit is given: the library is an optional extra.
"""

from __future__ import annotations

from collections.abc import Sequence

from limits import RateLimitItem, parse_many

from gatewayfw.errors import DefinitionError

#: Most calls of one limit; each of them is stored. On MongoDB a call took 3 to 5 ms up to 1,000, 9 ms at 10,000.
_MOST = 10_000
#: Longest span, seconds.
_LONGEST = 366 * 24 * 3600


def parse_rates(texts: Sequence[str]) -> tuple[RateLimitItem, ...]:
    """Return the limits that texts mean, the shortest span first.

    Raises:
        DefinitionError: a text is not a limit, allows no call, or has too many calls to store.
    """
    rates: list[RateLimitItem] = []
    for text in texts:
        try:
            rates += parse_many(text)
        except ValueError:
            raise DefinitionError(f"limit {text[:64]!r}: expected a text such as '10/minute'") from None
    for rate in rates:
        if not 1 <= rate.amount <= _MOST:
            raise DefinitionError(f"limit '{rate}': expected 1 to {_MOST} calls")
        if rate.get_expiry() > _LONGEST:
            raise DefinitionError(f"limit '{rate}': expected a span of at most a year")
    return tuple(sorted(rates, key=RateLimitItem.get_expiry))

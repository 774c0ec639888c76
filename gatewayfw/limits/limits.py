"""Rate limits: how many calls of one act a caller may make.

A limit is text of the `limits` library (``"10/minute"``, ``"100 per 2 hours"``). It looks back from each call: in any
span of that length, no more calls than that are admitted. Calls that are refused do not count. Several limits are
counted in order of their spans, the shortest first, until one refuses. All our choice.

``caller_key`` identifies the caller, by default with the address of the connection; an IPv6 address counts as its
network of 64 bits, which one caller commonly has. Calls without a caller (outside HTTP, or over a Unix socket) share
one counter: no call goes uncounted.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from hashlib import sha256
from inspect import iscoroutinefunction
from ipaddress import AddressValueError, IPv6Address, IPv6Network
from typing import TYPE_CHECKING, final

from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from gatewayfw.acts.context import ADDRESS, Context
from gatewayfw.errors import DefinitionError, RateLimited, missing_extra
from gatewayfw.settings import Settings

if TYPE_CHECKING:
    from limits import RateLimitItem

    from gatewayfw.limits.counters import Counters

CallerKey = Callable[[Context], str | None]

#: The storage of each process by itself.
MEMORY = "memory://"
#: Most calls of one limit; each of them is stored. On MongoDB a call took 3 to 5 ms up to 1,000, 9 ms at 10,000.
_MOST = 10_000
#: Longest span, seconds.
_LONGEST = 366 * 24 * 3600


@final
class RateLimits:
    """Counts the calls of one gateway in the storage ``rate_limit_storage``.

    ``caller_key`` gets the context, which holds ``Headers``, ``Request``, ``body`` and ``Address`` and nothing from
    hooks, which run later. It returns text of any length, or None or empty text to count the address; an exception ends
    the request. It should use only values that a caller cannot choose freely: a caller with a new name for every call
    has no limit.
    """

    def __init__(self, settings: Settings | None = None, caller_key: CallerKey | None = None) -> None:
        if caller_key is not None and (not callable(caller_key) or iscoroutinefunction(caller_key)):
            raise DefinitionError("caller_key must be a plain function of the context")
        self._settings = settings or Settings()
        if self._settings.rate_limit_storage != MEMORY:
            database_of(self._settings.rate_limit_storage)
        self._caller_key = caller_key
        self._counters: dict[int, Counters] = {}

    def parse(self, texts: Sequence[str]) -> tuple[RateLimitItem, ...]:
        """Return the limits that texts mean, the shortest span first.

        Raises:
            DefinitionError: the library is not installed; or a text is no limit, allows no call, or has too many calls
                to store.
        """
        try:
            from limits import RateLimitItem, parse_many
        except ModuleNotFoundError as error:
            raise missing_extra("limit", "limits", "limits") from error
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

    def count(self, act: str, rates: Sequence[RateLimitItem], context: Context, remaining: Callable[[], float]) -> None:
        """Count one call of an act.

        ``act`` is its name within the gateway, ``remaining`` gives the seconds left. Only a hash of the caller's key is
        stored, so that nothing a client sends becomes a storage key.

        Raises:
            RateLimited: a limit is used up; the error rounds up the seconds of ``Retry-After``.
            Unavailable: the storage is unreachable; no call is admitted uncounted.
            DefinitionError: ``caller_key`` returned something other than text or None.
        """
        key = f"{act}/{sha256(self._caller(context).encode('utf-8', 'surrogatepass')).hexdigest()}"
        counters = self._of_this_process()
        for rate in rates:
            wait = counters.take(rate, key, remaining())
            if wait > 0:
                raise RateLimited(wait)

    def close(self) -> None:
        """Close the connections to the storage; the next call opens them again."""
        for counters in self._counters.values():
            counters.close()
        self._counters.clear()

    def _of_this_process(self) -> Counters:
        # By process, because a fork inherits the locks and connections of its parent. `setdefault` is atomic.
        if found := self._counters.get(os.getpid()):
            return found
        from gatewayfw.limits.counters import MemoryCounters, MongoCounters

        uri, patience = self._settings.rate_limit_storage, self._settings.server_selection_timeout
        opened: Counters = MemoryCounters() if uri == MEMORY else MongoCounters(uri, database_of(uri), patience)
        return self._counters.setdefault(os.getpid(), opened)

    def _caller(self, context: Context) -> str:
        key = None if self._caller_key is None else self._caller_key(context)
        if key is not None and not isinstance(key, str):
            raise DefinitionError(f"caller_key must return text or None, not {type(key).__name__}")
        # The prefix keeps a key that looks like an address from counting as that address.
        return f"k{key}" if key else f"a{network_of(context.get(ADDRESS))}"


def network_of(address: object) -> str:
    """Return an address as it is counted: IPv6 by its network, none as nothing."""
    if not isinstance(address, str) or ":" not in address:
        return address if isinstance(address, str) else ""
    try:
        parsed = IPv6Address(address)
    except AddressValueError:
        return address
    return str(parsed.ipv4_mapped or IPv6Network((int(parsed), 64), strict=False))


def database_of(uri: str) -> str:
    """Return the database that a MongoDB URI names, else ``limits``."""
    try:
        return parse_uri(uri)["database"] or "limits"
    except (PyMongoError, ValueError) as error:
        raise DefinitionError(f"setting 'rate_limit_storage': malformed URI ({type(error).__name__})") from None

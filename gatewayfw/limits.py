"""Rate limits: how many calls of an act a caller may make, and their counters.

A limit is text such as ``"10/minute"`` or ``"100 per 2 hours"``; several may stand in one, between semicolons. It looks
back from each call: in any span of that length, no more calls than that are admitted. Spans that begin at fixed times
would admit twice the limit where two of them meet. Calls that are refused do not count. Several limits are counted in
order of their spans, the shortest first, until one refuses. All our choice.

``caller_key`` identifies the caller, by default with the address of the connection; an IPv6 address counts as its
network of 64 bits, which one caller commonly has. Calls without a caller (outside HTTP, or over a Unix socket) share
one counter: no call goes uncounted.
"""

from __future__ import annotations

import logging
import os
import re
import threading
import time
from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from inspect import iscoroutinefunction
from ipaddress import AddressValueError, IPv6Address, IPv6Network
from operator import attrgetter
from typing import Any, NamedTuple, final

import pymongo
from pymongo import MongoClient
from pymongo.errors import PyMongoError
from pymongo.uri_parser import parse_uri

from gatewayfw.acts.context import ADDRESS, Context
from gatewayfw.errors import DefinitionError, RateLimited, Unavailable
from gatewayfw.settings import Settings

_LOG = logging.getLogger("gatewayfw.acts")
#: The collection of the calls on MongoDB; models cannot have this name.
_COLLECTION = "_gw_limits"

CallerKey = Callable[[Context], str | None]

#: The storage of each process by itself.
MEMORY = "memory://"
#: Most calls of one limit; each of them is stored. On MongoDB a call took 3 to 5 ms up to 1,000, 9 ms at 10,000.
_MOST = 10_000
_DAY = 24 * 3600
#: Longest span, seconds.
_LONGEST = 366 * _DAY
_UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": _DAY, "month": 30 * _DAY, "year": 360 * _DAY}
_RATE = re.compile(
    rf"\s*([0-9]{{1,9}})\s*(?:/|per)\s*([0-9]{{1,9}})?\s*({'|'.join(_UNITS)})s?\s*", re.ASCII | re.IGNORECASE
)


class Rate(NamedTuple):
    """So many calls in any span of so many seconds."""

    calls: int
    seconds: int

    def key_for(self, key: str) -> str:
        """Return under which key the calls of this rate are counted."""
        return f"{key}/{self.calls}/{self.seconds}"


@final
class MemoryCounters:
    """Counters of this process alone.

    If there are too many callers, those whose last admitted call is oldest are dropped first.
    """

    def __init__(self, keys: int = 100_000, calls: int = 2_000_000) -> None:
        """Remember so many callers and calls, all limits together: 35 and 16 MB."""
        self._most_keys, self._most_calls = keys, calls
        self._lock = threading.Lock()
        # By the length of the span, so that the first ones expire first.
        self._calls: dict[int, OrderedDict[str, array[float]]] = {}
        self._keys = self._entries = 0

    def take(self, rate: Rate, key: str, seconds: float) -> float:
        """Count a call and return 0, or return the seconds until there is room."""
        key, span, now = rate.key_for(key), rate.seconds, time.monotonic()
        with self._lock:
            known = self._calls.setdefault(span, OrderedDict())
            self._expire(known, now - span)
            calls = known.get(key)
            if calls is None:
                calls = known[key] = array("d")
                self._keys += 1
            old = bisect_right(calls, now - span)
            del calls[:old]
            self._entries -= old
            if len(calls) >= rate.calls:
                return calls[0] + span - now
            calls.append(now)
            self._entries += 1
            known.move_to_end(key)
            while self._keys > self._most_keys or self._entries > self._most_calls:
                self._forget(max(self._calls.values(), key=len))
            return 0.0

    def close(self) -> None:
        """Forget all calls."""
        with self._lock:
            self._calls.clear()
            self._keys = self._entries = 0

    def _expire(self, known: OrderedDict[str, array[float]], before: float) -> None:
        # Two for each new one: so they become fewer, and no call removes many.
        for _ in range(2):
            if known and next(iter(known.values()))[-1] <= before:
                self._forget(known)

    def _forget(self, known: OrderedDict[str, array[float]]) -> None:
        self._keys -= 1
        self._entries -= len(known.popitem(last=False)[1])


@final
class MongoCounters:
    """Counters that all processes share, in MongoDB; a call is one atomic update.

    Times come from the calling machines: the shorter the spans, the better their clocks must agree. It connects at the
    first call, and no call waits longer than ``selection_timeout`` to find a server.
    """

    def __init__(self, uri: str, database: str, selection_timeout: float) -> None:
        milliseconds = int(selection_timeout * 1000)
        self._client = MongoClient[dict[str, Any]](
            uri,
            connect=False,
            appname="gatewayfw",
            readPreference="primary",
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            waitQueueTimeoutMS=1000,
        )
        self._counted = self._client[database][_COLLECTION]
        self._selection_timeout = selection_timeout
        self._is_prepared = False

    def take(self, rate: Rate, key: str, seconds: float) -> float:
        """Do the same; raise `Unavailable` if the answer takes longer than ``seconds``."""
        limit = max(min(seconds, self._selection_timeout), 0.001)  # pymongo.timeout(0) is no limit
        try:
            with pymongo.timeout(limit):
                if not self._is_prepared:
                    self._counted.create_index("expireAt", expireAfterSeconds=0)
                    self._is_prepared = True
                return self._take(rate, rate.key_for(key), time.time())
        except PyMongoError as error:
            _LOG.warning("calls cannot be counted, so rate-limited calls are refused: %s", type(error).__name__)
            raise Unavailable from error

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _take(self, rate: Rate, key: str, now: float) -> float:
        """Add a call if there is room, as the database sees it; count those before it."""
        known = {"$ifNull": ["$calls", []]}
        recent = {"$filter": {"input": known, "cond": {"$gt": ["$$this", now - rate.seconds]}}}
        added = {"$cond": [{"$lt": [{"$size": recent}, rate.calls]}, [now], []]}
        expires = datetime.fromtimestamp(now + rate.seconds, UTC)
        before = self._counted.find_one_and_update(
            {"_id": key},
            [{"$set": {"calls": {"$concatArrays": [recent, added]}, "expireAt": expires}}],
            {"count": {"$size": recent}, "oldest": {"$min": recent}},
            upsert=True,
        )
        if before is None or before["count"] < rate.calls:
            return 0.0
        return max(float(before["oldest"]) + rate.seconds - now, 0.001)


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
        self._counters: dict[int, MemoryCounters | MongoCounters] = {}

    def parse(self, texts: Sequence[str]) -> tuple[Rate, ...]:
        """Return the limits that texts mean, the shortest span first.

        Raises:
            DefinitionError: a text is no limit, allows no call, or has too many calls to store.
        """
        rates = [_parse_rate(part) for text in texts for part in re.split("[,;|]", text)]
        return tuple(sorted(rates, key=attrgetter("seconds")))

    def count(self, act: str, rates: Sequence[Rate], context: Context, remaining: Callable[[], float]) -> None:
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

    def _of_this_process(self) -> MemoryCounters | MongoCounters:
        # By process, because a fork inherits the locks and connections of its parent. `setdefault` is atomic.
        if found := self._counters.get(os.getpid()):
            return found
        uri, patience = self._settings.rate_limit_storage, self._settings.server_selection_timeout
        opened = MemoryCounters() if uri == MEMORY else MongoCounters(uri, database_of(uri), patience)
        return self._counters.setdefault(os.getpid(), opened)

    def _caller(self, context: Context) -> str:
        key = None if self._caller_key is None else self._caller_key(context)
        if key is not None and not isinstance(key, str):
            raise DefinitionError(f"caller_key must return text or None, not {type(key).__name__}")
        # The prefix keeps a key that looks like an address from counting as that address.
        return f"k{key}" if key else f"a{network_of(context.get(ADDRESS))}"


def _parse_rate(text: str) -> Rate:
    found = _RATE.fullmatch(text)
    if found is None:
        raise DefinitionError(f"limit {text[:64]!r}: expected a text such as '10/minute'")
    rate = Rate(int(found[1]), int(found[2] or 1) * _UNITS[found[3].lower()])
    if not 1 <= rate.calls <= _MOST:
        raise DefinitionError(f"limit {text.strip()!r}: expected 1 to {_MOST} calls")
    if not 1 <= rate.seconds <= _LONGEST:
        raise DefinitionError(f"limit {text.strip()!r}: expected a span of at most a year")
    return rate


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

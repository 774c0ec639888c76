"""Counters of calls, in memory or on MongoDB; for acts with a limit.

Both are exact, with threads and, on MongoDB, with several processes: from each call they look back over the span of a
limit. Spans that begin at fixed times would admit twice the limit where two of them meet.
"""

from __future__ import annotations

import logging
import threading
import time
from array import array
from bisect import bisect_right
from collections import OrderedDict
from typing import Any, Protocol, final

import pymongo
from limits import RateLimitItem
from limits.storage import MongoDBStorage
from limits.strategies import MovingWindowRateLimiter
from pymongo import MongoClient
from pymongo.errors import PyMongoError

from gatewayfw.errors import Unavailable

_LOG = logging.getLogger("gatewayfw.acts")
#: The collection of the calls on MongoDB; models cannot have this name.
_COLLECTION = "_gw_limits"
#: How often to retry a call that was refused although there is room.
_ATTEMPTS = 5


class Counters(Protocol):
    """Counts calls by key."""

    def take(self, rate: RateLimitItem, key: str, seconds: float) -> float:
        """Count a call and return 0, or return the seconds until there is room.

        It raises `Unavailable` if the answer takes longer than ``seconds``.
        """

    def close(self) -> None:
        """Release all resources."""


@final
class MemoryCounters:
    """Counters of this process alone.

    Not limits' own storage in memory: 5.8.0 never gives a key back (50,000 callers were still there long after their
    spans), walks all of them in a thread after each call (100,000 callers took 2.6 s of processor time, here 0.9 s),
    and drops locks that threads are waiting for. Here the callers whose last admitted call is oldest are dropped first
    when there are too many.
    """

    def __init__(self, keys: int = 100_000, calls: int = 2_000_000) -> None:
        """Remember so many callers and calls, all limits together: 35 and 16 MB."""
        self._most_keys, self._most_calls = keys, calls
        self._lock = threading.Lock()
        # By the length of the span, so that the first ones expire first.
        self._calls: dict[int, OrderedDict[str, array[float]]] = {}
        self._keys = self._entries = 0

    def take(self, rate: RateLimitItem, key: str, seconds: float) -> float:
        key, span, now = rate.key_for(key), rate.get_expiry(), time.monotonic()
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
            if len(calls) >= rate.amount:
                return calls[0] + span - now
            calls.append(now)
            self._entries += 1
            known.move_to_end(key)
            while self._keys > self._most_keys or self._entries > self._most_calls:
                self._forget(max(self._calls.values(), key=len))
            return 0.0

    def close(self) -> None:
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


class _CounterStorage(MongoDBStorage):
    """The storage of `limits`, which can tell whether it has a client."""

    client: MongoClient[Any] | None = None

    def _init_mongo_client(self, uri: str | None, **options: Any) -> Any:
        self.client = MongoClient(uri, **options)
        return self.client

    def __del__(self) -> None:
        """Do nothing: limits 5.8.0 connects here, for as long as 30 s, if it never did."""


@final
class MongoCounters:
    """Counters that all processes share, by limits' storage on MongoDB.

    An admitted call is one atomic update, a refused one takes two commands or more. Times come from the calling
    machines: the shorter the spans, the better their clocks must agree. It connects at the first call, and no call
    waits longer than ``selection_timeout`` to find a server.
    """

    def __init__(self, uri: str, database: str, selection_timeout: float) -> None:
        milliseconds = int(selection_timeout * 1000)
        self._storage = _CounterStorage(
            uri,
            database_name=database,
            counter_collection_name=_COLLECTION,
            window_collection_name=_COLLECTION,
            appname="gatewayfw",
            readPreference="primary",
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            waitQueueTimeoutMS=1000,
        )
        self._limiter = MovingWindowRateLimiter(self._storage)
        self._selection_timeout = selection_timeout
        self._preparing = threading.Lock()
        self._is_prepared = False

    def take(self, rate: RateLimitItem, key: str, seconds: float) -> float:
        limit = max(min(seconds, self._selection_timeout), 0.001)  # pymongo.timeout(0) is no limit
        try:
            with pymongo.timeout(limit):
                self._prepare(limit)
                return self._taken(rate, key)
        except PyMongoError as error:
            _LOG.warning("calls cannot be counted, so rate-limited calls are refused: %s", type(error).__name__)
            raise Unavailable from error

    def close(self) -> None:
        if self._storage.client is not None:
            self._storage.client.close()

    def _taken(self, rate: RateLimitItem, key: str) -> float:
        # If two first calls of a key race, limits 5.8.0 reports a full span: of 800 calls within their limit, 8 threads
        # had 177 refused. The second attempt finds the key there.
        for _ in range(_ATTEMPTS):
            if self._limiter.hit(rate, key):
                return 0.0
            since, calls = self._storage.get_moving_window(rate.key_for(key), rate.amount, rate.get_expiry())
            if calls >= rate.amount:
                return max(since + rate.get_expiry() - time.time(), 0.001)
        raise Unavailable

    def _prepare(self, limit: float) -> None:
        """Make client and index, once; the library does not retry the index itself."""
        if self._is_prepared:
            return
        if not self._preparing.acquire(timeout=limit):  # the others would wait for an unreachable server
            raise Unavailable
        try:
            if not self._is_prepared:
                self._storage.windows.create_index("expireAt", expireAfterSeconds=0)
                self._is_prepared = True
        finally:
            self._preparing.release()

"""One gateway's parts without web and storage, as fixtures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gatewayfw.acts.context import ContextFns
from gatewayfw.acts.idempotent import IdempotentRunner
from gatewayfw.acts.lifecycle import Lifecycle
from gatewayfw.acts.registry import Acts
from gatewayfw.errors import Timeout
from gatewayfw.limits import RateLimits
from gatewayfw.policies import Policies
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings


class Clock:
    """A deadline whose scope a test sets, and which records being open."""

    def __init__(self) -> None:
        self.committed = False
        self.left = 5.0
        self.is_open = False
        self.reply_bytes: int | None = None
        self.totals = None

    def remaining(self) -> float:
        return self.left

    def check(self) -> None:
        if self.left <= 0:
            raise Timeout()

    @contextmanager
    def __call__(self) -> Iterator[Clock]:
        self.is_open = True
        try:
            yield self
        finally:
            self.is_open = False


@pytest.fixture
def schemas():
    schemas = Schemas(Settings(remote_connect_timeout=0.5, remote_timeout=3.0, max_reply_bytes=1000))
    schemas.add("user", {"name": string(), "email": string()}, {}, {})
    return schemas


@pytest.fixture
def make_acts():
    """A function that makes the acts of models, with rate limits and services as a gateway has them."""

    def make(schemas: Schemas) -> Acts:
        return Acts(schemas, RateLimits(schemas.settings))

    return make


@pytest.fixture
def acts(schemas, make_acts):
    return make_acts(schemas)


@pytest.fixture
def context_fns():
    return ContextFns()


@pytest.fixture
def clock():
    return Clock()


class NoGlobals:
    """No framework around the acts."""

    def read(self):
        return {}

    def reset(self, values):
        pass


class Store(dict[str, dict[str, Any]]):
    """Records of idempotent acts, in memory; ``outcomes`` are those of the next attempts, first to last."""

    def __init__(self) -> None:
        super().__init__()
        self.outcomes: list[str] = []
        self.found: list[dict[str, Any] | None] = []

    def find(self, id_: str) -> Any:
        return self.found.pop(0) if self.found else self.get(id_)

    def attempt(self, record: Any, answer: Any, *, replace: str | None) -> str:
        outcome = self.outcomes.pop(0) if self.outcomes else "DONE"
        if outcome == "DONE":
            assert self.get(record["_id"], {}).get("token") == replace
            self[record["_id"]] = {**record, **answer()}
        return outcome


@pytest.fixture
def store():
    return Store()


def make_lifecycle(schemas, acts, context_fns, clock, store, kept=None):
    runner = IdempotentRunner(store, context_fns, kept or NoGlobals())
    return Lifecycle(acts, context_fns, clock, runner, Policies(schemas, context_fns))


@pytest.fixture
def lifecycle(schemas, acts, context_fns, clock, store):
    return make_lifecycle(schemas, acts, context_fns, clock, store)


@pytest.fixture
def call(lifecycle, context_fns):
    """Run a body as the web part does, in a context of its own; the result unchanged."""

    def call(model: str, act: str, set_: Any = None, get: Any = None, **more: Any) -> Any:
        body = {"service": "main", "model": model, "act": act, "details": {"set": set_ or {}, "get": get or {}}, **more}
        with context_fns.open():
            context_fns.add_body_to_context(body)
            return lifecycle.run(body, lambda result, _: result)

    return call

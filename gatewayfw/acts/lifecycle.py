"""The life of one request between reading its body and writing its envelope.

The count of a rate limit, hooks before validation, validation, hooks before the act, the act, and
the writing of its result, all under one deadline. Source: contract, "Request lifecycle for an act".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar, final

from gatewayfw.acts.context import ContextFns, Headers
from gatewayfw.acts.definitions import Act, ActFn
from gatewayfw.acts.limits import ADDRESS, RateLimits
from gatewayfw.acts.registry import MAIN, Acts
from gatewayfw.acts.remote import Encoder, RemoteReply, RemoteService, encode
from gatewayfw.errors import DefinitionError, PartlyDone, Unavailable

T = TypeVar("T")


class Scope(Protocol):
    """What a running deadline knows; the storage's own, acts import no storage."""

    @property
    def committed(self) -> bool:
        """Whether an operation committed inside."""

    def remaining(self) -> float:
        """Return the seconds left."""

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""


@final
class Lifecycle:
    """Runs the acts of one gateway.

    ``deadline`` opens the time limit of one request; ``encode`` writes the body for remote services;
    ``rate_limits`` counts the calls of acts with a ``limit``, by default in this process.
    """

    def __init__(
        self,
        acts: Acts,
        contexts: ContextFns,
        deadline: Callable[[], AbstractContextManager[Scope]],
        *,
        encode: Encoder = encode,
        rate_limits: RateLimits | None = None,
    ) -> None:
        self._acts = acts
        self._contexts = contexts
        self._deadline = deadline
        self._encode = encode
        self.rate_limits = rate_limits or RateLimits()

    def run(self, body: Mapping[str, Any], finish: Callable[[Any], T]) -> T | RemoteReply:
        """Run the act that a body names and return what ``finish`` makes of its result.

        ``body`` is ``{"service"?, "model", "act", "details": {"set", "get"}}``. The caller has
        opened the context and added request, headers and body. ``finish`` runs inside context and
        deadline, so that cursors can be drained in it. A remote service's reply comes back as it
        is; its requests run no hooks and no validation here.

        The deadline is looked at before each hook, ``fn`` and ``finish``, and in every call of the
        database or a remote service; what only computes or sleeps is not interrupted.

        Raises:
            UnknownName: no such service, model or act; a `NotFound`.
            RateLimited: the caller used up the act's ``limit``; nothing else was looked at.
            ValidationError: the validator refused ``details``; no `preAct` hook and no act ran.
            Timeout: the deadline passed.
            PartlyDone: the database failed, or the deadline passed, after an operation of this
                request had committed.
            Exception: whatever a hook, the act or ``finish`` raised, unchanged.
        """
        found = self._acts.resolve(body.get("service") or MAIN, body["model"], body["act"])
        with self._deadline() as scope:
            try:
                if isinstance(found, RemoteService):
                    return self._forwarded(found, body, scope)
                if found.rates:
                    self._count(found, body, scope)
                result = self._result(found, body, scope)
                scope.check()
                return finish(result)
            except Unavailable as error:
                if scope.committed:
                    raise PartlyDone from error
                raise

    def _count(self, act: Act, body: Mapping[str, Any], scope: Scope) -> None:
        scope.check()
        name = f"{body.get('service') or MAIN}.{act.schema}.{act.act_name}"
        self.rate_limits.count(name, act.rates, self._contexts.get_context_model(), scope.remaining)

    def _result(self, act: Act, body: Mapping[str, Any], scope: Scope) -> Any:
        if act.validation_hooks:
            _run(act.validation_hooks, body, scope)
        details = act.struct.check(body["details"], act.validation_run_type, act.bounds)
        if act.validation_run_type == "create":
            body = {**body, "details": details}
            self._contexts.add_body_to_context(body)
        if act.act_hooks:
            _run(act.act_hooks, body, scope)
        scope.check()
        return act.fn(body)

    def _forwarded(self, service: RemoteService, body: Mapping[str, Any], scope: Scope) -> RemoteReply:
        context = self._contexts.get_context_model()
        headers, address = Headers(context.get("Headers") or ()), context.get(ADDRESS)
        return service.call(
            body,
            headers,
            seconds=scope.remaining(),
            address=address if isinstance(address, str) else "",
            encode=self._encode,
        )


def _run(hooks: Iterable[ActFn], body: Mapping[str, Any], scope: Scope) -> None:
    for hook in hooks:
        scope.check()
        given = hook(body)
        if given is None:
            continue
        if inspect.iscoroutine(given) or inspect.isgenerator(given):
            given.close()  # an access check that nobody runs must not pass for a success
            raise DefinitionError("a hook returned a coroutine or generator, which does nothing")

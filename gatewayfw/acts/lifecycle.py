"""The life of one request between reading its body and writing its envelope.

It counts the call for rate limits. Then it runs, all under one deadline, the hooks before validation, validation, the
hooks before the act, the act, and the function that writes its result. Source: specification 12.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn, Protocol, TypeVar, final

from gatewayfw.acts.act import Act
from gatewayfw.acts.context import ADDRESS, ContextFns, Headers
from gatewayfw.acts.exceptions import NO_EXCEPTIONS, find_error
from gatewayfw.acts.hooks import ActFn
from gatewayfw.acts.idempotent import HEADER, Keyed, read_key
from gatewayfw.acts.late import error_after, refuse_answer
from gatewayfw.acts.once import Once
from gatewayfw.acts.registry import Acts
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.acts.services import RemoteReply, RemoteService
from gatewayfw.acts.totals import Totals
from gatewayfw.errors import (
    BadRequest,
    GatewayError,
    PartlyDone,
    ReplyTooLarge,
    Unavailable,
    UnsupportedMediaType,
)
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.schemas.structs import Struct
from gatewayfw.schemas.uploads import Expected, expected_files, put_files
from gatewayfw.spelling import MAIN

T = TypeVar("T")


class RequestBounds(Protocol):
    """The bounds of one request, as its running deadline knows them.

    The storage implements it, since acts must not import the storage.

    Attributes:
        reply_bytes: most bytes of the JSON of the reply's body.
        totals: the sums of the batch that the request is an item of; None for any other request.
    """

    reply_bytes: int | None
    totals: Any  # `Totals` or None; the storage knows only a part of it

    @property
    def committed(self) -> bool:
        """Whether an operation has committed during this request."""

    def remaining(self) -> float:
        """Return the seconds left."""

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""


class Parts(Protocol):
    """The files of a request, which are read only when they are asked for."""

    def receive(self, expected: Mapping[str, Expected], /) -> Mapping[str, Upload]:
        """Return them by their paths (``set.avatar``), or refuse the request."""


@final
class Lifecycle:
    """Runs the acts of one gateway.

    Attributes:
        deadline: opens the time limit of one request.
    """

    def __init__(
        self,
        acts: Acts,
        contexts: ContextFns,
        deadline: Callable[[], AbstractContextManager[RequestBounds]],
        once: Once,
    ) -> None:
        self._acts = acts
        self._contexts = contexts
        self.deadline = deadline
        self._once = once

    def run(self, body: Mapping[str, Any], finish: Callable[[Any, RequestBounds], T]) -> T | RemoteReply:
        """Run the act that a body names and return what ``finish`` makes of its result.

        ``body`` is ``{"service"?, "model", "act", "details": {"set", "get"}}``. The caller has
        opened the context and added request, headers and body. ``finish`` runs inside context and
        deadline, so that it can drain cursors; it also gets the bounds, such as that of the reply's
        bytes. A remote service's reply is returned as it is; its requests run the hooks registered with
        the service, and are not validated here.

        The deadline is checked before each hook and ``fn``, and in every call of the database or
        a remote service; code that only computes or sleeps is not interrupted. A result that ``fn``
        returns after the deadline is sent all the same: the work is done, and a client told to try
        again would do it twice.

        Raises:
            UnknownName: no such service, model or act. This is a `NotFound`.
            RateLimited: the caller used up the act's ``limit``; nothing else was checked.
            ValidationError: the validator refused ``details``; no `preAct` hook and no act ran.
            Timeout: the deadline passed.
            DefinitionError: a hook returned an exception or work that nobody would do (an awaitable, a
                generator), or an access rule returned anything but None.
            PartlyDone: the database failed, or the deadline passed, after an operation of this
                request had committed.
            ReplyTooLarge: the reply would exceed its bound; the message says whether writes remain.
            HttpError: an exception that the act or the gateway has given a status.
            Exception: any other error of a hook, the act or ``finish``, unchanged.
        """
        found = self.resolve(body)
        with self.deadline() as bounds:
            try:
                if isinstance(found, RemoteService):
                    return self._forward(found, body, bounds)
                return finish(found.run(self.prepare(found, body, bounds)), bounds)
            except Exception as error:
                self._raise(found, body, error, bounds)

    def run_keyed(
        self, body: Mapping[str, Any], finish: Callable[[Any, RequestBounds], T], key: str
    ) -> T | WrittenReply | RemoteReply:
        """Run an idempotent act, as `run` does, once for each ``key``.

        See `gatewayfw.acts.once`.

        Raises:
            BadRequest: the act is not idempotent, or the key is not valid.
            KeyReused, InProgress, Exception: see `Once.run`, and `run`.
        """
        found = self.resolve(body)
        if isinstance(found, RemoteService):  # which judges the key
            return self.run(body, finish)
        keyed = _read_key(found, body, key)  # before hooks change the body
        with self._bounded(found, body) as bounds:
            return self._once.run(keyed, found, self.prepare(found, body, bounds), bounds, finish, {})

    def run_with_files(
        self,
        body: Mapping[str, Any],
        finish: Callable[[Any, RequestBounds], T],
        parts: Parts,
        key: str | None = None,
    ) -> T | WrittenReply:
        """Run an act that takes files, as `run` does, with a ``key`` as `run_keyed`.

        The files are read after the hooks have passed, outside of any deadline, because a client may be slow. The steps
        before and those after have a deadline each.

        Raises:
            UnsupportedMediaType: the act takes no files, or is a remote service's.
            Exception: any error of `run`, and those of ``parts``.
        """
        found = self.resolve(body)
        if isinstance(found, RemoteService) or not found.struct.files:
            raise UnsupportedMediaType("this act takes no files: send application/json in UTF-8")
        keyed = None if key is None else _read_key(found, body, key)
        with self._bounded(found, body) as bounds:
            body = self.prepare(found, body, bounds, found.struct.without_files)
        try:
            uploads = parts.receive(expected_files(found.struct.files, body["details"]))
        except Exception as error:
            self._raise(found, body, error, bounds)
        body = {**body, "details": put_files(body["details"], uploads)}
        self._contexts.add_body_to_context(body)
        with self._bounded(found, body) as bounds:
            bounds.reply_bytes = found.reply_bytes
            if keyed is None:
                return finish(found.run(body), bounds)
            return self._once.run(keyed.with_files(uploads), found, body, bounds, finish, uploads)

    def run_act(self, act: Act, body: Mapping[str, Any], finish: Callable[[Any, RequestBounds], T]) -> T:
        """Run an act that is registered nowhere, as `run` does."""
        with self._bounded(act, body) as bounds:
            return finish(act.run(self.prepare(act, body, bounds)), bounds)

    @contextmanager
    def _bounded(self, act: Act, body: Mapping[str, Any]) -> Iterator[RequestBounds]:
        """Open a deadline; errors are translated as by `run`."""
        with self.deadline() as bounds:
            try:
                yield bounds
            except Exception as error:
                self._raise(act, body, error, bounds)

    def _raise(
        self, found: Act | RemoteService, body: Mapping[str, Any], error: Exception, bounds: RequestBounds
    ) -> NoReturn:
        """Raise the error to tell of."""
        shown = self.translate(found, body, error, bounds)
        try:
            if shown is error:
                raise error
            raise shown from error
        finally:
            del shown, error  # a frame that keeps an error, which keeps the frame, would keep the request

    def translate(
        self,
        found: Act | RemoteService | GatewayError,
        body: Mapping[str, Any],
        error: Exception,
        bounds: RequestBounds,
    ) -> Exception:
        """Return the error that the client is told: the author's, or what was done.

        The hooks of ``on_error`` come first.
        """
        if isinstance(found, Act) and found.on_error:
            error = error_after(found.on_error, body, error)
        own = found.exceptions if isinstance(found, Act) else NO_EXCEPTIONS
        return find_error({**self._acts.exceptions, **own}, error) or complete(error, bounds)

    def resolve(self, body: Mapping[str, Any]) -> Act | RemoteService:
        """Return the act, or the remote service, that a body names.

        Raises:
            UnknownName: there is none.
        """
        return self._acts.resolve(body.get("service") or MAIN, body["model"], body["act"])

    def prepare(
        self, act: Act, body: Mapping[str, Any], bounds: RequestBounds, struct: Struct | None = None
    ) -> Mapping[str, Any]:
        """Do everything that comes before the act itself: count, hooks, validation, hooks.

        Returns the body that the act gets. ``struct`` validates it in place of the act's own. For the errors see `run`.
        """
        if act.rates:
            self._count(act, body, bounds)
        totals: Totals | None = bounds.totals
        if totals is not None and not totals.claim():
            totals = None  # an act runs another: the `get` of that one is not the client's
        bounds.reply_bytes = act.reply_bytes if totals is None else totals.bytes_left(act.reply_bytes)
        if act.validation_hooks:
            _run(act.validation_hooks, body, bounds)
        details = (struct or act.struct).check(body["details"], act.validation_run_type, act.bounds)
        if totals is not None:
            totals.add_get(body["details"]["get"], act.bounds)
        if act.validation_run_type == "create":
            body = {**body, "details": details}
            self._contexts.add_body_to_context(body)
        if act.act_hooks:
            _run(act.act_hooks, body, bounds)
        bounds.check()
        return body

    def _count(self, act: Act, body: Mapping[str, Any], bounds: RequestBounds) -> None:
        bounds.check()
        name = f"{body.get('service') or MAIN}.{act.schema}.{act.act_name}"
        self._acts.limits.count(name, act.rates, self._contexts.get_context_model(), bounds.remaining)

    def _forward(self, service: RemoteService, body: Mapping[str, Any], bounds: RequestBounds) -> RemoteReply:
        _run(service.act_hooks, body, bounds)
        context = self._contexts.get_context_model()
        headers, address = Headers(context.get("Headers") or ()), context.get(ADDRESS)
        reply = service.call(
            body,
            headers,
            seconds=bounds.remaining(),
            carriers=(*self._acts.token_carriers, *self._acts.role_carriers),
            address=address if isinstance(address, str) else "",
        )
        if bounds.totals is not None:
            bounds.totals.check_bytes(len(reply.envelope))
        return reply


def _read_key(act: Act, body: Mapping[str, Any], key: str) -> Keyed:
    if act.once is None:
        raise BadRequest(f"this act takes no {HEADER}")
    return read_key(key, body)


def complete(error: Exception, bounds: RequestBounds) -> Exception:
    """Return an error that also says whether a part of the request was done."""
    if isinstance(error, Unavailable):
        return PartlyDone() if bounds.committed else error
    if not isinstance(error, ReplyTooLarge):
        return error
    most = error.most if bounds.totals is None else bounds.totals.most_bytes(error.most)
    return ReplyTooLarge(most, written=bounds.committed) if bounds.committed or most != error.most else error


def _run(hooks: Iterable[ActFn], body: Mapping[str, Any], bounds: RequestBounds) -> None:
    for hook in hooks:
        bounds.check()
        given = hook(body)
        if given is not None:
            refuse_answer(hook, given)

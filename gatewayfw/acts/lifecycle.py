"""The way of one request, from its body to what is made of the act's result.

`Lifecycle.run` is this way. From the moment the deadline is open errors are translated, the hooks of ``on_error``
first. Source: specification 12.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn, TypeVar, final

from gatewayfw import messages
from gatewayfw.acts.act import Act
from gatewayfw.acts.context import ADDRESS, ContextFns
from gatewayfw.acts.headers import Headers
from gatewayfw.acts.hooks import ActFn, refuse_answer, run_error_hooks
from gatewayfw.acts.idempotent import IdempotentRunner, read_key
from gatewayfw.acts.registry import Acts
from gatewayfw.acts.remote import RemoteService
from gatewayfw.acts.replies import NO_EXCEPTIONS, RequestBounds, WrittenReply, find_error
from gatewayfw.errors import GatewayError, PartlyDone, ReplyTooLarge, Unavailable, UnsupportedMediaType, ValidationError
from gatewayfw.policies import Policies
from gatewayfw.schemas.get import Bounds, count_leaves
from gatewayfw.schemas.kinds.file import FileField, Upload
from gatewayfw.schemas.structs import Struct, put_files
from gatewayfw.settings import Settings
from gatewayfw.spelling import MAIN

T = TypeVar("T")
#: Reads the files of a request, and returns them by their paths (``set.avatar``), or refuses the request.
Receive = Callable[[Mapping[str, FileField]], Mapping[str, Upload]]


@final
class BatchTotals:
    """The sums of one batch; an act with a higher ceiling of its own may reach that.

    Each item has the limits of a request of its own. Fields of `get`, queries and bytes of the reply are summed up
    besides, so that a batch gives nothing that one request would not give. Source: our choice.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._leaves = 0
        #: Bytes of the replies so far; and how many this item may reply, whatever the others do.
        self._bytes, self._own_bytes = 0, 0
        #: Queries of the items before, and of this one.
        self._queries, self._own_queries = 0, 0
        self._is_claimed = True

    def begin_item(self) -> None:
        """Begin to count the next item."""
        self._queries, self._own_queries = self._queries + self._own_queries, 0
        self._is_claimed = False

    def claim(self) -> bool:
        """Tell whether the act that begins is the item's, not one that it runs."""
        is_own, self._is_claimed = not self._is_claimed, True
        return is_own

    def add_get(self, get: Mapping[str, Any], bounds: Bounds) -> None:
        """Count the fields of an item's `get`; refuse it if all items name too many."""
        most = max(self._settings.max_get_leaves, bounds.max_get_leaves)
        leaves = self._leaves + count_leaves(get)
        if leaves > most:
            raise ValidationError({"get": [messages.TOO_MANY_FIELDS_OF_BATCH.format(max=most)]})
        self._leaves = leaves

    def add_queries(self, queries: int) -> None:
        """Count the queries of one `get`; refuse it if all items cause too many.

        As for a request of its own, the `get` that takes the most counts, not their sum: an act may read as often
        as its author likes.
        """
        most = self._settings.max_get_queries
        self._own_queries = max(self._own_queries, queries)
        if self._queries + self._own_queries > most:
            raise ValidationError({"get": [messages.TOO_MANY_RELATIONS_OF_BATCH.format(max=most)]})

    def add_bytes(self, size: int) -> None:
        """Count the bytes of an item's reply."""
        self._bytes += size

    def bytes_left(self, most: int) -> int:
        """Return how many bytes this item may reply, whose act may reply ``most``."""
        self._own_bytes = most
        return max(0, min(most, self._most_bytes - self._bytes))

    def check_bytes(self, size: int) -> None:
        """Refuse the reply of a remote service if all are too large; its writes stay."""
        if size > self.bytes_left(self._settings.max_reply_bytes):
            raise ReplyTooLarge(self._most_bytes, written=True)

    def most_bytes(self, most: int) -> int:
        """Return the bound that refused an item with ``most`` bytes: its own or all's."""
        return most if most >= self._own_bytes else self._most_bytes

    @property
    def _most_bytes(self) -> int:
        return max(self._own_bytes, self._settings.max_reply_bytes)


@final
class Lifecycle:
    """Runs the acts of one gateway; ``deadline`` opens the time limit of a request.

    ``callers`` knows whose rights hold.
    Every request takes the way of `run`; a batch takes it for each item, and an atomic batch its parts.
    """

    def __init__(
        self,
        acts: Acts,
        contexts: ContextFns,
        deadline: Callable[[], AbstractContextManager[RequestBounds]],
        idempotent: IdempotentRunner,
        callers: Policies,
    ) -> None:
        self._acts = acts
        self._contexts = contexts
        self.deadline = deadline
        self._idempotent = idempotent
        self.callers = callers

    def run(
        self,
        body: Mapping[str, Any],
        finish: Callable[[Any, RequestBounds], T],
        key: str | None = None,
        receive: Receive | None = None,
        *,
        act: Act | None = None,
    ) -> T | WrittenReply:
        """Run the act that a body names, and return what ``finish`` makes of its result.

        ``body`` is ``{"service"?, "model", "act", "details": {"set", "get"}}``. The caller has opened the context and
        added request, headers and body. ``finish`` runs inside context and deadline, so that it can drain cursors.
        Requests to a remote service run the hooks registered with it, and are validated there; its reply is returned
        as it is.

        With a ``key`` the act runs once for each, see `gatewayfw.acts.idempotent`; a remote service judges keys itself.
        ``receive`` reads files after the hooks have passed, outside of any deadline, because a client may be slow; what
        is before and what is after have a deadline each. ``act`` runs in place of the one that the body names, and need
        not be registered.

        The deadline is checked before each hook and ``fn``, and in every call of the database or a remote service; code
        that only computes or sleeps is not interrupted. A result that ``fn`` returns after the deadline is sent all the
        same: the work is done, and a client told to try again would do it twice.

        Raises:
            UnknownName: no such service, model or act. This is a `NotFound`.
            UnsupportedMediaType: there are files, and the act takes none or is a remote service's.
            BadRequest: there is a key, and the act is not idempotent or the key is not valid.
            RateLimited: the caller used up the act's ``limit``; nothing else was checked.
            ValidationError: the validator refused ``details``; no `preAct` hook and no act ran.
            DefinitionError: a hook returned an exception or work that nobody would do (an awaitable, a generator), or
                an access rule returned anything but None.
            KeyReused, InProgress: see `IdempotentRunner.run`.
            Timeout, PartlyDone, ReplyTooLarge: see `say_what_is_done`.
            Exception: any other error of a hook, the act, ``receive`` or ``finish``, as `translate` leaves it.
        """
        found = self.resolve(body) if act is None else act
        if receive is not None and (isinstance(found, RemoteService) or not found.struct.files):
            raise UnsupportedMediaType(messages.NO_FILES_TAKEN)
        begun = self.callers.begin()
        try:
            if isinstance(found, RemoteService):
                return self._forward(found, body)
            request = None if key is None else read_key(key, found.once, _names_of(found, body), body["details"])
            uploads = None
            if receive is not None:
                body, uploads = self._receive(found, body, receive)
                request = None if request is None else request.with_files(uploads)
            with self.deadline() as bounds:
                try:
                    if uploads is None:
                        prepared = self.prepare(found, body, bounds)
                    else:
                        prepared, bounds.reply_bytes = body, found.reply_bytes
                    if request is None:
                        return finish(found.run(prepared), bounds)
                    if begun is not None:
                        request = request.of(self.callers.identity())
                    return self._idempotent.run(request, prepared, bounds, found.run, finish, uploads)
                except Exception as error:  # As `_translating`, which costs a twentieth of an act that does nothing.
                    self._raise(found, body, error, bounds)
        finally:
            if begun is not None:
                self.callers.end(begun)

    def _receive(
        self, act: Act, body: Mapping[str, Any], receive: Receive
    ) -> tuple[Mapping[str, Any], Mapping[str, Upload]]:
        """Prepare an act; return the body with its files, and these by their paths."""
        with self.deadline() as bounds, self._translating(act, body, bounds):
            prepared = self.prepare(act, body, bounds, act.struct.without_files)
        with self._translating(act, prepared, bounds):
            uploads = receive(act.struct.files)
        with_files = {**prepared, "details": put_files(prepared["details"], uploads)}
        self._contexts.add_body_to_context(with_files)
        return with_files, uploads

    def resolve(self, body: Mapping[str, Any]) -> Act | RemoteService:
        """Return the act or remote service that a body names, or raise `UnknownName`."""
        return self._acts.resolve(body.get("service") or MAIN, body["model"], body["act"])

    def prepare(
        self, act: Act, body: Mapping[str, Any], bounds: RequestBounds, struct: Struct | None = None
    ) -> Mapping[str, Any]:
        """Do everything that comes before the act, and return the body that it gets.

        ``struct`` validates it in place of the act's own. For the errors see `run`.
        """
        if act.rates:
            bounds.check()
            name, context = ".".join(_names_of(act, body)), self._contexts.get_context_model()
            self._acts.limits.count(name, act.rates, context, bounds.remaining)
        totals: BatchTotals | None = bounds.totals
        if totals is not None and not totals.claim():
            totals = None  # an act runs another: the `get` of that one is not the client's
        bounds.reply_bytes = act.reply_bytes if totals is None else totals.bytes_left(act.reply_bytes)
        if act.validation_hooks:
            _run_hooks(act.validation_hooks, body, bounds)
        details = (struct or act.struct).check(body["details"], act.validation_run_type, act.bounds)
        if totals is not None:
            totals.add_get(body["details"]["get"], act.bounds)
        if act.validation_run_type == "create":
            body = {**body, "details": details}
            self._contexts.add_body_to_context(body)
        if act.act_hooks:
            _run_hooks(act.act_hooks, body, bounds)
        bounds.check()
        if act.schemas.policies_hold:
            self.callers.identify(act.struct.selected, body["details"])
        return body

    def translate(
        self,
        found: Act | RemoteService | GatewayError,
        body: Mapping[str, Any],
        error: Exception,
        bounds: RequestBounds,
    ) -> Exception:
        """Return the error that the client is told: the author's, or what was done."""
        if isinstance(found, Act) and found.on_error:
            with self.callers.after_error():
                error = run_error_hooks(found.on_error, body, error)
        own = found.exceptions if isinstance(found, Act) else NO_EXCEPTIONS
        return find_error({**self._acts.exceptions, **own}, error) or say_what_is_done(error, bounds)

    @contextmanager
    def _translating(
        self, found: Act | RemoteService, body: Mapping[str, Any], bounds: RequestBounds
    ) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            self._raise(found, body, error, bounds)

    def _raise(
        self, found: Act | RemoteService, body: Mapping[str, Any], error: Exception, bounds: RequestBounds
    ) -> NoReturn:
        shown = self.translate(found, body, error, bounds)
        try:
            if shown is error:
                raise error
            raise shown from error
        finally:
            del shown, error  # a frame that keeps an error, which keeps the frame, would keep the request

    def _forward(self, service: RemoteService, body: Mapping[str, Any]) -> WrittenReply:
        with self.deadline() as bounds, self._translating(service, body, bounds):
            _run_hooks(service.act_hooks, body, bounds)
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


def _names_of(act: Act, body: Mapping[str, Any]) -> tuple[str, str, str]:
    return body.get("service") or MAIN, act.schema, act.act_name


def say_what_is_done(error: Exception, bounds: RequestBounds) -> Exception:
    """Return an error that also says whether a part of the request was done.

    After a commit an `Unavailable`, such as `Timeout`, is `PartlyDone`, and a `ReplyTooLarge` says that writes stay.
    """
    if isinstance(error, Unavailable):
        return PartlyDone() if bounds.committed else error
    if not isinstance(error, ReplyTooLarge):
        return error
    most = error.most if bounds.totals is None else bounds.totals.most_bytes(error.most)
    return ReplyTooLarge(most, written=bounds.committed) if bounds.committed or most != error.most else error


def _run_hooks(hooks: Iterable[ActFn], body: Mapping[str, Any], bounds: RequestBounds) -> None:
    for hook in hooks:
        bounds.check()
        given = hook(body)
        if given is not None:
            refuse_answer(hook, given)

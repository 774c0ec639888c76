"""The endpoint: it answers the requests of one mount.

Every exception of a request becomes an envelope here, so no error page of the host app is involved.
"""

import os
import random
import re
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, final

from flask import Request, Response, current_app, got_request_exception, request
from werkzeug.datastructures import Headers

from gatewayfw import messages
from gatewayfw.acts.checks import Checks
from gatewayfw.acts.context import ContextFns, fill
from gatewayfw.acts.lifecycle import Lifecycle
from gatewayfw.acts.lookup import UnknownName
from gatewayfw.acts.replies import WrittenReply
from gatewayfw.environment import IN_PROCESS
from gatewayfw.errors import BadRequest, GatewayError, MethodNotAllowed
from gatewayfw.files import Files
from gatewayfw.logs import UNEXPECTED, traceback_of
from gatewayfw.observe.calls import OK, CallObservers, OpenCall
from gatewayfw.observe.sentry import leave_to_signal
from gatewayfw.odm.readiness import Readiness
from gatewayfw.settings import Settings
from gatewayfw.web import failure as failures
from gatewayfw.web import reply as replies
from gatewayfw.web.batch import KEY, Batches, check_batch
from gatewayfw.web.cors import Cors
from gatewayfw.web.flask_request import address_of
from gatewayfw.web.multipart import Form, boundary_of
from gatewayfw.web.playground import Playground
from gatewayfw.web.reader import discard_body, read_body
from gatewayfw.web.reply import FIXED, Answer, Success

#: Headers of a written reply that no page needs to read.
_NOT_EXPOSED = frozenset({"Set-Cookie", "WWW-Authenticate"})
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
#: Ids of requests, which are names, not secrets. Not from os.urandom, which releases the GIL: with 8 threads that takes
#: a tenth of a `ping`.
_IDS = random.Random()  # noqa: S311
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_IDS.seed)


R = TypeVar("R", bound=Success | Response)
#: The body of a request, once it is checked; the log has the names of the act in it, and nothing else.
Asked = dict[str, Any]
#: Answers a request, given its id; notes the names it asks for; begins the call that observers are told of.
Run = Callable[[Request, str, Asked, OpenCall | None], R]


@final
@dataclass(frozen=True)
class Endpoint:
    """Answers the requests of one mount; all state of a request is local to the call.

    If the caller may see the ``playground`` beside it, the messages of unknown names say which exist. With ``checks``
    the definitions are judged when it is mounted, and before the first request after any change of them: while some
    are wrong no act runs. ``batches`` runs several acts in one request; without it, or with a maximum of 0, batches are
    refused. ``files`` are served below the route. ``calls`` has the observers that are told of each request.
    ``readiness`` looks at the database, for the page of metrics and, with ``probes``, for their routes. ``serve`` is
    called for each request of a route, and raises where this process cannot serve.
    """

    lifecycle: Lifecycle
    contexts: ContextFns
    settings: Settings
    cors: Cors = Cors()
    playground: Playground | None = None
    checks: Checks | None = None
    batches: Batches | None = None
    files: Files | None = None
    calls: CallObservers | None = None
    readiness: Readiness | None = None
    probes: bool = False
    serve: Callable[[], object] = bool

    def check(self) -> None:
        """Refuse wrong definitions, unless the check is switched off."""
        if self.checks is not None:
            self.checks.check()

    def begin(self) -> None:
        """Begin to answer a request whose body nobody reads: it is discarded.

        Raises:
            GatewayError: this process cannot serve.
        """
        discard_body(request, self.settings)
        self.serve()

    def serving(self, view: Callable[..., Response]) -> Callable[..., Response]:
        """Return a view that refuses where this process cannot serve."""

        def served(**values: Any) -> Response:
            try:
                self.begin()
            except GatewayError as error:
                return self.refuse(error)
            return view(**values)

        return served

    def view(self, **_values: Any) -> Response:
        """Answer the current request: POST runs an act, OPTIONS is CORS, else 405.

        An incoming `X-Request-Id` of up to 64 plain characters is kept; the act finds the
        id in the headers of its context. Values of variables in a url_prefix are not passed.
        """
        sent: Request = request._get_current_object()  # type: ignore[attr-defined]  # a proxy, which costs at each use
        reply = self.answer(sent)
        return self.response(reply) if isinstance(reply, Success) else reply

    def answer(self, sent: Request) -> Success | Response:
        """Return what `view` answers; a success has no response around it."""
        try:
            if IN_PROCESS not in sent.environ:
                self.serve()
        except GatewayError as error:
            return self.refuse(error)
        if sent.method == "OPTIONS":
            discard_body(sent, self.settings)
            return self.options(sent, request_id_of(sent), MethodNotAllowed.headers["Allow"], "POST")
        return self.answer_by(self._run, sent, request_id_of(sent))

    def answer_by(self, run: Run[R], sent: Request, request_id: str) -> R | Response:
        """Return what ``run`` makes of a request, or an envelope; tell the observers."""
        calls = self.calls
        asked: Asked = {}
        call = calls.open(request_id, address_of(sent)) if calls is not None and calls.observers else None
        reply: R | Response
        try:
            reply = run(sent, request_id, asked, call)
        except Exception as error:
            reply = self.refuse(error, request_id, asked, call)
        except BaseException:  # The server ends this thread.
            if call is not None:
                call.end(500, GatewayError.code)
            raise
        if call is None:
            return reply
        if isinstance(reply, Response):
            call.end(reply.status_code, reply.headers.get("X-Error-Code", OK))
        else:
            call.end(200, OK)
        return reply

    def _run(self, sent: Request, request_id: str, asked: Asked, call: OpenCall | None) -> Success | Response:
        if sent.method != "POST":
            raise MethodNotAllowed
        body, form = self._read(sent)
        try:
            is_batch = "batch" in body
            fill(self.contexts, sent, request_id, None if is_batch else body)
            if is_batch:
                return Success(self._run_batch(sent, request_id, body, call), request_id)
            if call is not None and self.calls is not None:
                call.begin(self.calls.names(body), sent.headers)
            asked.update(body)
            checks = self.checks
            if checks is not None and checks.right is not checks.schemas.stamp:
                checks.check()
            receive = None if form is None else form.receive
            result = self.lifecycle.run(body, replies.finish, sent.environ.get(KEY), receive)
        finally:
            if form is not None:
                form.close()
        return Success(result, request_id) if isinstance(result, bytes) else self._written(result, request_id)

    def _read(self, sent: Request) -> tuple[dict[str, Any], Form | None]:
        """Return the checked body; of a request with files also the form that has them."""
        media_type = sent.environ.get("CONTENT_TYPE", "")
        boundary = None if media_type == replies.CONTENT_TYPE else boundary_of(media_type)
        if boundary is None:
            return read_body(sent, self.settings), None
        form = Form(sent, boundary, self.settings)
        try:
            return form.read_body(), form
        except BaseException:
            form.close()
            raise

    def _run_batch(self, sent: Request, request_id: str, body: Mapping[str, Any], call: OpenCall | None) -> bytes:
        if self.batches is None or not self.settings.max_batch:
            raise BadRequest(messages.NO_BATCHES)
        batch = check_batch(body, sent.environ, self.settings.max_batch)
        self.check()
        envelope = self.batches.run(batch, sent, request_id, self._describe, None if call is None else self.calls)
        if call is not None:
            call.drop()
        return envelope

    def options(self, sent: Request, request_id: str, allow: str, method: str) -> Response:
        """Answer an OPTIONS request; a preflight learns that pages may use the ``method``.

        Without `cors` it still learns which methods there are: our choice.
        """
        preflight = method if "Origin" in sent.headers and "Access-Control-Request-Method" in sent.headers else ""
        reply = self.reply(b"", 204, {"Allow": allow, "X-Request-Id": request_id})
        del reply.headers["Content-Type"]  # The reply has no content.
        return self.with_cors(reply, preflight=preflight)

    def response(self, success: Success) -> Response:
        """Return a success as a response, equal to what `reply` makes."""
        reply = Answer(success)
        return reply if self.cors.origins is None else self.with_cors(reply)

    def headers(self, success: Success, environ: dict[str, Any]) -> list[tuple[str, str]]:
        """Return the headers of a success that is sent without a response around it."""
        if self.cors.origins is None:
            return success.headers
        headers = Headers(success.headers)
        self.cors.complete(headers, environ.get("HTTP_ORIGIN"), preflight="")
        return headers.to_wsgi_list()

    def refuse(
        self,
        error: Exception,
        request_id: str | None = None,
        asked: Mapping[str, Any] | None = None,
        call: OpenCall | None = None,
    ) -> Response:
        """Return an exception's error envelope; log it, and send Flask's signal if due.

        What nobody has read of the body is discarded. ``call`` is the call that it ends, for its observers.
        """
        if call is not None and failures.is_unexpected(error):
            call.error = error
        discard_body(request, self.settings)
        request_id = request_id or request_id_of(request)
        status, headers, payload = self._describe(error, request_id, asked or {})
        return self.reply(payload, status, {**headers, "X-Request-Id": request_id})

    def _describe(
        self, error: Exception, request_id: str, asked: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return status, headers and envelope of an exception; log and signal it."""
        if isinstance(error, UnknownName) and self.playground is not None and self.playground.is_shown(request):
            error = error.with_known()
        expose = self.settings.expose_errors
        shown = failures.client_error(
            error, expose=current_app.debug or current_app.testing if expose is None else expose
        )
        detail = self.settings.error_detail or request.headers.get("X-Gateway-Detail") == "1"
        status, headers, payload = failures.failure(shown, detail, request_id)
        is_unexpected = failures.is_unexpected(error)
        if is_unexpected:
            leave_to_signal(UNEXPECTED)  # which brings them as well
        failures.log_error(error, status, request_id, asked)
        if is_unexpected:
            send_signal(error)
        return status, headers, payload

    def reply(self, payload: bytes, status: int, headers: Mapping[str, str]) -> Response:
        """Return an envelope as a response. Never cached, never sniffed: our choice."""
        # The content's type and length are set last: an author's error may have headers of these names.
        reply = Response(payload, status, {**dict(FIXED), **headers}, content_type=replies.CONTENT_TYPE)
        return self.with_cors(reply)

    def _written(self, written: WrittenReply, request_id: str) -> Response:
        lines = [*FIXED, ("X-Request-Id", request_id), *written.lines]
        reply = Response(written.envelope, written.status, lines, content_type=replies.CONTENT_TYPE)
        return self.with_cors(reply, exposed=[name for name, _ in written.lines if name not in _NOT_EXPOSED])

    def with_cors(self, reply: Response, *, preflight: str = "", exposed: Sequence[str] = ()) -> Response:
        """Return the response; it gets CORS headers after the host's own hooks ran.

        ``exposed`` are headers of its own that pages may read.

        Only then do we know which headers the host app has set. The method is replaced on the instance, because Flask
        changes the class of a response to the app's own.
        """
        if self.cors.origins is None:
            return reply
        cors, own = self.cors, reply.headers
        ref = weakref.ref(reply)  # Weak: a cycle would keep every reply until a garbage collection.

        def completed(environ: Any) -> Headers:
            owner = ref()  # None if a hook of the host app copied the reply: the copy has this method, too.
            headers = Headers(own) if owner is None else type(owner).get_wsgi_headers(owner, environ)
            cors.complete(headers, environ.get("HTTP_ORIGIN"), preflight=preflight, exposed=exposed)
            return headers

        reply.get_wsgi_headers = completed  # type: ignore[method-assign]  # see above
        return reply


def send_signal(error: Exception) -> None:
    """Send Flask's `got_request_exception`; log exceptions of receivers."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]  # a proxy
    try:
        got_request_exception.send(app, _async_wrapper=current_app.ensure_sync, exception=error)
    except Exception as failed:  # A host's receiver: the client still gets the envelope.
        replies.logger.error("a receiver of got_request_exception failed\n%s", traceback_of(failed))


def request_id_of(sent: Request) -> str:
    """Return the id of a request: the one that was sent, if plain, else a new one."""
    given = sent.environ.get("HTTP_X_REQUEST_ID")
    return given if given and _REQUEST_ID.fullmatch(given) else _IDS.getrandbits(128).to_bytes(16).hex()

"""All errors: each failure's name, HTTP status and code for programs.

Every error that a request can end with is a `GatewayError`. Its ``message`` is written for the client and never holds a
value the client sent, a document, driver text or a path of the server; the texts stand in `gatewayfw.messages`.
docs/errors.md lists the cases.

Source: specification 21; the statuses are our choice.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from gatewayfw import messages

#: How many ids a message names.
_NAMED = 10


class GatewayError(Exception):
    """The root of every error of this package.

    Attributes:
        status: the HTTP status of the reply, 400..599.
        code: a stable word for programs, sent as ``X-Error-Code``.
        message: the text of ``body.message``; that of the class where none is given.
        errors: messages by the path of the value, for validation and duplicate keys; else empty.
        headers: extra headers of the reply.
        done: how many documents `update_many` or `delete_many` had changed or deleted for good before this error;
            "nothing was written" is then about the batch that failed.
        met: for the ODM: the collection, and the filters of the documents, whose stored values an update did not fit.
    """

    status: int = 500
    code: str = "internal_error"
    message: str = messages.INTERNAL
    headers: Mapping[str, str] = {}
    done: int = 0
    met: tuple[str, Sequence[Mapping[str, object]]] | None = None

    def __init__(self, message: str | None = None) -> None:
        self.message = self.message if message is None else message
        super().__init__(self.message)
        self.errors: dict[str, list[str]] = {}


class HttpError(GatewayError):
    """An error an act raises to choose message and status.

    ``code`` is what programs read in ``X-Error-Code``; without one it goes by the status.

    Raises:
        ValueError: ``status`` is not in 400..599.
    """

    _CODES: Mapping[int, str] = {
        400: "bad_request",
        401: "unauthenticated",
        403: "forbidden",
        404: "not_found",
        405: "method_not_allowed",
        409: "conflict",
        412: "precondition_failed",
        413: "too_large",
        415: "unsupported_media_type",
        429: "too_many_requests",
        502: "bad_gateway",
        503: "unavailable",
        504: "gateway_timeout",
    }

    def __init__(self, message: str, status: int = 500, *, code: str | None = None) -> None:
        if isinstance(status, bool) or not isinstance(status, int) or not 400 <= status <= 599:
            raise ValueError(f"status must be an integer in 400..599, not {status!r}")
        super().__init__(message)
        self.status = status
        self.code = code or self._CODES.get(status, "bad_request" if status < 500 else "error")


class DefinitionError(GatewayError):
    """A model, relation, act or option is declared wrongly; for the developer."""

    code = "definition_error"


class UsageError(GatewayError):
    """The server's own code asks for something impossible.

    For example a filter on a field that its model does not have. The mistake is the program's, not the client's: it is
    logged with its traceback and answered with ``internal error``. Nothing was written.
    """

    code = "usage_error"


class BadRequest(GatewayError):
    """The request, or an operation's input, makes no sense. Nothing was written."""

    status = 400
    code = "bad_request"


class ValidationError(GatewayError):
    """The input was understood and refused. Nothing was written.

    ``errors`` maps the path of each refused value (``set.features.0.feature``) to its messages; ``message`` joins them.
    Values are never echoed. Only the first 100 paths are kept, so that a small request cannot cause a large reply or
    much work; then the message ends with "and more".
    """

    status = 400
    code = "validation_error"

    #: How many paths are kept.
    MOST = 100

    def __init__(self, errors: Mapping[str, Sequence[str]]) -> None:
        kept = {path: list(texts) for path, texts in islice(errors.items(), self.MOST)}
        listed = [f"{path}: {' '.join(texts)}" for path, texts in kept.items()]
        if len(errors) > self.MOST:
            listed.append(messages.MORE_ERRORS)
        super().__init__(f"{messages.VALIDATION}: {'; '.join(listed)}" if listed else messages.VALIDATION)
        self.errors = kept


class Unauthenticated(GatewayError):
    """The caller could not be identified."""

    status = 401
    code = "unauthenticated"


class Forbidden(GatewayError):
    """The caller is known and may not do this."""

    status = 403
    code = "forbidden"


class Hidden(Forbidden):
    """The caller asks for a field that a policy hides. Nothing was written."""

    code = "hidden"


class NotFound(GatewayError):
    """The requested thing does not exist. Nothing was written."""

    status = 404
    code = "not_found"


class MethodNotAllowed(GatewayError):
    """The gateway answers POST (and OPTIONS) only."""

    status = 405
    code = "method_not_allowed"
    message = messages.USE_POST
    headers = {"Allow": "POST, OPTIONS"}


class Conflict(GatewayError):
    """The state of the stored data forbids the write. Nothing was written."""

    status = 409
    code = "conflict"


class DuplicateKey(Conflict):
    """A unique index refused the write. Message by the contract.

    Attributes:
        fields: the paths of the index, such as ``("email",)``, in its order; all fields of an index on several; empty
            if the database does not name them. ``errors`` has a message for each. Internal fields (``_gw``) are left
            out.
    """

    code = "duplicate_key"

    def __init__(self, fields: str | Iterable[str] = ()) -> None:
        super().__init__(messages.DUPLICATE_KEY)
        named = [fields] if isinstance(fields, str) else fields
        self.fields = tuple(name for name in named if name.partition(".")[0] != "_gw")
        self.errors = {name: [messages.TAKEN] for name in self.fields}


class InProgress(Conflict):
    """Another request with the same ``Idempotency-Key`` is under way."""

    code = "in_progress"
    message = messages.IN_PROGRESS
    headers = {"Retry-After": "1"}


class NotDone(Conflict):
    """Another item of the atomic batch failed. Nothing of this one was written."""

    code = "not_done"
    message = messages.NOT_DONE


class StillReferenced(Conflict):
    """Other documents embed the one to be deleted.

    ``counts``: how many, by model; empty for callers whom policies restrict.
    """

    code = "still_referenced"

    def __init__(self, model: str, counts: Mapping[str, int]) -> None:
        listed = ", ".join(f"{name}: {count}" for name, count in counts.items())
        super().__init__(messages.STILL_REFERENCED.format(model=model, counts=f" ({listed})" if listed else ""))
        self.counts = dict(counts)


class Stale(GatewayError):
    """The document has another revision than asked for. Nothing was written.

    Read it again, and decide again.

    Attributes:
        revision: the one it has now.
    """

    status = 412
    code = "stale"

    def __init__(self, revision: int) -> None:
        super().__init__(messages.STALE.format(revision=revision))
        self.revision = revision
        self.errors = {"_rev": [messages.REVISION.format(revision=revision)]}


class TooLarge(GatewayError):
    """The request or the resulting document is too large. Nothing was written."""

    status = 413
    code = "too_large"


class ReplyTooLarge(TooLarge):
    """The reply would have more bytes than the act may send.

    ``written``: earlier writes of its act stay.

    Attributes:
        most: how many bytes the JSON of its body may have.
    """

    code = "reply_too_large"

    def __init__(self, most: int, *, written: bool = False) -> None:
        stays = messages.WRITES_STAY if written else ""
        super().__init__(messages.REPLY_TOO_LARGE.format(max=most, stays=stays))
        self.most = most


class KeyReused(GatewayError):
    """The ``Idempotency-Key`` came with another body before. Nothing was written."""

    status = 422
    code = "key_reused"
    message = messages.KEY_REUSED


class UnsupportedMediaType(GatewayError):
    """The body is not plain ``application/json``."""

    status = 415
    code = "unsupported_media_type"


class RateLimited(HttpError):
    """The caller has used up the act's rate limit.

    The next call may succeed in ``seconds``, rounded up.
    """

    status = 429
    code = "rate_limited"

    def __init__(self, seconds: float) -> None:
        super().__init__(messages.RATE_LIMITED, 429, code="rate_limited")
        self.headers = {"Retry-After": str(max(1, math.ceil(seconds)))}


class Unavailable(GatewayError):
    """The database is out of reach, or retries are used up. Nothing was written.

    ``reason`` goes into the log, and not to the client.
    """

    status = 503
    code = "unavailable"
    message = messages.UNAVAILABLE
    headers = {"Retry-After": "1"}

    def __init__(self, message: str | None = None, *, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


class Timeout(Unavailable):
    """The deadline passed. Nothing was written."""

    code = "timeout"
    message = messages.TIMED_OUT


class PartlyDone(GatewayError):
    """The database failed the act after an earlier operation had committed."""

    status = 503
    code = "partly_done"
    message = messages.PARTLY_DONE


class OutcomeUnknown(GatewayError):
    """The database did not say whether it committed: the write may have happened."""

    status = 503
    code = "outcome_unknown"
    message = messages.OUTCOME_UNKNOWN


class StorageError(GatewayError):
    """The database refused for a reason of its own; only the log names it."""

    code = "storage_error"


class RemoteError(GatewayError):
    """A remote service could not be reached or did not answer with an envelope."""

    status = 502
    code = "remote_error"


class RemoteTimeout(RemoteError):
    """A remote service took too long."""

    status = 504
    code = "remote_timeout"


def missing_extra(what: str, library: str, extra: str) -> DefinitionError:
    """Return the error for a library that is not installed.

    It names the feature that needs the library, and two ways to install it.
    """
    return DefinitionError(
        f"{what} needs the library {library}: pip install {library}, or the extra gatewayfw[{extra}]"
    )


def missing_related(model: str, ids: Iterable[object]) -> NotFound:
    """Return the error for missing related documents; it names ten ids at most."""
    listed = [str(id_) for id_ in ids]
    more = messages.MORE_MISSING.format(count=len(listed) - _NAMED) if len(listed) > _NAMED else ""
    return NotFound(messages.MISSING_RELATED.format(model=model, ids=", ".join(listed[:_NAMED]) + more))

"""The reply to a request that failed, and what is logged of it."""

import logging
import re
from collections.abc import Mapping
from typing import Any

import marshmallow
from werkzeug.exceptions import HTTPException
from werkzeug.http import HTTP_STATUS_CODES

from gatewayfw import messages
from gatewayfw.acts.replies import CODE, error_headers
from gatewayfw.errors import (
    DefinitionError,
    GatewayError,
    HttpError,
    StorageError,
    Unavailable,
    UsageError,
    ValidationError,
)
from gatewayfw.logs import UNEXPECTED, traceback_of
from gatewayfw.schemas.paths import Collected, shown
from gatewayfw.web.reply import dumps, logger

_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_PASSED_ON = ("Allow", "Retry-After", "WWW-Authenticate")


def failure(error: GatewayError, detail: bool, request_id: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and envelope of an error.

    See `client_error` for other exceptions.

    With ``detail`` the body holds `code`, `errors`, `details` and `requestId` besides the message. An error
    of an author's own class that cannot be read so (headers that are None, a message that raises)
    is logged, and answered as `internal error`.
    """
    try:
        return _written(error, detail, request_id)
    except Exception as broken:
        logger.error("%s is no proper error: %s\n%s", type(error).__name__, request_id, traceback_of(broken))
        return _written(GatewayError(), detail, request_id)


def _written(error: GatewayError, detail: bool, request_id: str) -> tuple[int, dict[str, str], bytes]:
    status = error.status if type(error.status) is int and 400 <= error.status <= 599 else 500
    code = error.code if CODE.fullmatch(error.code) else "error"  # Authors may define their own.
    body: dict[str, Any] = {"message": _utf8(getattr(error, "message", messages.INTERNAL))}
    if detail:
        told = {_utf8(path): list(texts) for path, texts in getattr(error, "errors", {}).items()}
        errors = {path: list(map(_utf8, texts)) for path, texts in told.items()}
        details = {path: list(map(messages.detail_of, texts)) for path, texts in told.items()}
        body |= {"code": code, "errors": errors, "details": details, "requestId": request_id}
    headers = {
        name: str(value)
        for name, value in error.headers.items()
        if _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(str(value))
    }
    own = error_headers(status, code)
    if status == 401 and "WWW-Authenticate" in headers:  # The error names the way to authenticate.
        del own["WWW-Authenticate"]
    return status, {**headers, **own}, dumps({"body": body, "success": False})


def client_error(error: Exception, *, expose: bool) -> GatewayError:
    """Return the error that a client may see instead of an exception.

    Source: specification 21.

    - our own errors as they are, but the message of a `StorageError`, `DefinitionError` or `UsageError`;
    - `Exception` itself: its text is its author's message, status 500;
    - what `flask.abort` raises: its status (or that of its response) with the description that its
      author gave it, else with that status's name, unless it is no error;
    - a marshmallow `ValidationError` of an act: a validation error with its messages;
    - anything else: `internal error`, or class and text with ``expose``.
    """
    if isinstance(error, GatewayError) and not is_unexpected(error):
        return error
    if isinstance(error, HTTPException) and _is_error(error):
        return _error_of_abort(error)
    if isinstance(error, marshmallow.ValidationError):
        collected = Collected()
        collected.add_all(error.normalized_messages(), "")  # type: ignore[no-untyped-call]  # marshmallow 4.4
        return ValidationError(collected.errors)
    if type(error) is Exception:
        return HttpError(_text(error))
    shown = GatewayError(f"{type(error).__name__}: {_text(error)}" if expose else messages.INTERNAL)
    shown.code = error.code if isinstance(error, GatewayError) else shown.code
    return shown


def is_unexpected(error: Exception) -> bool:
    """Tell whether an exception is the program's fault: its traceback is logged."""
    if isinstance(error, GatewayError):
        return isinstance(error, DefinitionError | StorageError | UsageError)
    if isinstance(error, HTTPException):
        return not _is_error(error)
    return type(error) is not Exception and not isinstance(error, marshmallow.ValidationError)


def log_error(error: Exception, status: int, request_id: str, asked: Mapping[str, Any]) -> None:
    """Log an error of the server's side, never with a value that was sent.

    An unexpected one comes with its traceback; see `gatewayfw.logs`.
    """
    names = " ".join(f"{key}={shown(asked[key])}" for key in ("service", "model", "act") if key in asked)
    where = f"request_id={request_id} {names}".rstrip()
    if is_unexpected(error):
        logging.getLogger(UNEXPECTED).error("unexpected error: %s\n%s", where, traceback_of(error))
    elif status >= 500:
        reason = f" ({shown(error.reason)})" if isinstance(error, Unavailable) and error.reason else ""
        logger.warning("%s: status=%d %s%s", type(error).__name__, status, where, reason)


def _is_error(error: HTTPException) -> bool:
    return 400 <= _status(error) <= 599


def _status(error: HTTPException) -> int:
    status = error.code if error.response is None else getattr(error.response, "status_code", None)
    return status if type(status) is int else 0


def _error_of_abort(error: HTTPException) -> GatewayError:
    status = _status(error)
    # Only a description by the author is in the instance; werkzeug's are in the class.
    own = vars(error).get("description") if error.response is None else None
    message = own if isinstance(own, str) and own else HTTP_STATUS_CODES.get(status, "error")
    shown = HttpError(message, status)
    headers = error.get_headers() if error.response is None else error.get_response().headers
    shown.headers = {name: value for name, value in headers if name in _PASSED_ON}
    return shown


def _text(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # The author's own __str__ or __repr__: an error reply must not fail over it.
        return messages.INTERNAL


def _utf8(text: Any) -> str:
    return str(text).encode(errors="backslashreplace").decode()

"""What an act answers: its declared result, and status, headers, cookies, errors.

A cookie is said in the words of Flask's ``set_cookie``. Without a word about it a cookie is for HTTPS only, out of
reach of scripts, and not sent along by other sites. Source: RFC 6265, section 4.1; the rest is our choice.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, cast, final, get_args

from marshmallow.fields import Field

from gatewayfw.errors import DefinitionError, GatewayError, HttpError, UsageError
from gatewayfw.schemas.definition_types import Word
from gatewayfw.schemas.fields import as_field
from gatewayfw.schemas.get import SelectStruct
from gatewayfw.schemas.kinds.containers import ObjectField
from gatewayfw.schemas.structs import has_files

#: A token of HTTP, such as the name of a header or a cookie.
TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_COOKIE_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")
_PATH = re.compile(r"/[!-:<-~]*")
_DOMAIN = re.compile(r"[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*")
#: Most characters of name and value together: browsers drop larger cookies.
_MOST_OF_COOKIE = 4_096
_DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {"max_age": None, "path": "/", "domain": None, "secure": True, "httponly": True, "samesite": "Lax"}
)


def find_cookie_problems(given: Any) -> Iterator[str]:
    """Yield what is wrong with a cookie, in words that hold none of its values.

    A cookie is as `Reply` takes it: ``{"name", "value", "max_age"?, "path"?, "domain"?, ...}``.
    """
    if not isinstance(given, Mapping):
        yield "expected an object with name and value"
        return
    if unknown := [key for key in given if key not in ("name", "value", *_DEFAULTS)]:
        yield f"unknown key {unknown[0]!r}"
    if problems := [problem for key, problem in _RULES.items() if not _fits(key, given)]:
        yield from problems
        return
    yield from _contradictions({**_DEFAULTS, **given})


def write_cookie(given: Mapping[str, Any]) -> str:
    """Return the value of ``Set-Cookie`` for a cookie without `find_cookie_problems`."""
    cookie = {**_DEFAULTS, **given}
    parts = [f"{cookie['name']}={cookie['value']}"]
    parts += [f"Max-Age={cookie['max_age']}"] if cookie["max_age"] is not None else []
    parts += [f"Path={cookie['path']}"]
    parts += [f"Domain={cookie['domain']}"] if cookie["domain"] is not None else []
    parts += [word for word, key in (("Secure", "secure"), ("HttpOnly", "httponly")) if cookie[key]]
    return "; ".join([*parts, f"SameSite={cookie['samesite']}"])


#: What each key must be.
_RULES: Mapping[str, str] = MappingProxyType(
    {
        "name": "name must be up to 100 letters, digits and signs of a token",
        "value": "value must be ASCII without spaces, quotes, commas, semicolons and backslashes; encode others",
        "max_age": "max_age must be a whole number of seconds, 0 or more, or None",
        "path": "path must begin with / and have no spaces or semicolons",
        "domain": "domain must be a name such as example.com, or None",
        "secure": "secure must be true or false",
        "httponly": "httponly must be true or false",
        "samesite": "samesite must be 'Strict', 'Lax' or 'None'",
    }
)


def _fits(key: str, given: Mapping[str, Any]) -> bool:
    value = given.get(key, _DEFAULTS.get(key))
    if key in ("secure", "httponly"):
        return isinstance(value, bool)
    if key == "max_age":
        return value is None or (type(value) is int and 0 <= value < 2**31)
    if key == "samesite":
        return value in ("Strict", "Lax", "None")
    if key == "domain" and value is None:
        return True
    rule = {"name": TOKEN, "value": _COOKIE_VALUE, "path": _PATH, "domain": _DOMAIN}[key]
    return isinstance(value, str) and rule.fullmatch(value) is not None


def _contradictions(cookie: Mapping[str, Any]) -> Iterator[str]:
    """Yield why browsers would drop a cookie whose parts are right."""
    name = cookie["name"].lower()
    if len(cookie["name"]) + len(cookie["value"]) > _MOST_OF_COOKIE:
        yield f"name and value together may have {_MOST_OF_COOKIE} characters"
    if cookie["samesite"] == "None" and not cookie["secure"]:
        yield "samesite 'None' needs secure"
    if name.startswith(("__secure-", "__host-")) and not cookie["secure"]:
        yield "a name that begins with __Secure- or __Host- needs secure"
    if name.startswith("__host-") and (cookie["domain"] is not None or cookie["path"] != "/"):
        yield "a name that begins with __Host- needs the path / and no domain"


#: Headers that belong to the envelope, the connection or the mount; no act sets them.
_NEVER = frozenset(
    {
        *("cache-control", "content-encoding", "content-length", "content-range", "content-type", "date", "server"),
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy-authenticate"),
        *("idempotent-replay", "x-content-type-options", "x-error-code", "x-request-id"),
    }
)
_VALUE = re.compile(r"([!-~]([ -~]*[!-~])?)?")
#: Most characters of one header's value: proxies refuse larger heads.
_MOST = 4_096
#: Statuses that say something else about the body than that it is an envelope.
_NO_ENVELOPE = (204, 205, 206)


@final
@dataclass(frozen=True)
class Reply:
    """What an act returns to choose the status, headers or cookies of its reply.

    ``body`` is the act's result. ``status`` is in 200..299; for failures raise an error. ``headers`` maps names to
    values; each of ``cookies`` maps the keywords of Flask's ``set_cookie`` to values::

        Reply({"_id": id_}, 201, {"Location": f"/books/{id_}"})
        Reply(user, cookies=[{"name": "__Host-session", "value": token, "max_age": 3600}])

    A cookie needs ``name`` and ``value``, and may have ``max_age`` (seconds; 0 deletes it), ``path`` (default "/"),
    ``domain``, ``secure`` (default True), ``httponly`` (default True) and ``samesite`` (default "Lax").

    Attributes:
        lines: the headers that are sent, cookies included, as pairs of name and value.

    Raises:
        UsageError: a status that is no success or has no body; a header of the envelope, of the
            connection or of CORS; a header or cookie that cannot be sent, or that browsers would drop.
            The message holds no value.
    """

    body: Any = field(repr=False)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cookies: Sequence[Mapping[str, Any]] = field(default=(), repr=False)
    lines: tuple[tuple[str, str], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if problems := list(_problems(self)):
            raise UsageError(f"Reply: {'; '.join(problems)}")
        cookies = [("Set-Cookie", write_cookie(cookie)) for cookie in self.cookies]
        object.__setattr__(self, "lines", (*self.headers.items(), *cookies))


class RequestBounds(Protocol):
    """The bounds of one request, as the storage's running deadline knows them."""

    #: Most bytes of the JSON of the reply's body.
    reply_bytes: int | None
    #: `BatchTotals` of the batch that the request is an item of, or None; the storage knows only a part of it.
    totals: Any

    @property
    def committed(self) -> bool:
        """Whether an operation has committed during this request."""

    def remaining(self) -> float:
        """Return the seconds left."""

    def check(self) -> None:
        """Raise `Timeout` when no time is left."""


@final
@dataclass(frozen=True)
class WrittenReply:
    """A `Reply` whose body is the JSON of an envelope, or a remote service's."""

    status: int
    lines: tuple[tuple[str, str], ...]
    envelope: bytes


def _problems(reply: Reply) -> Iterator[str]:
    if isinstance(reply.body, Reply):
        yield "body: a Reply inside a Reply"
    status = reply.status
    if type(status) is not int or not 200 <= status <= 299:
        yield "status must be in 200..299; raise an error for others"
    elif status in _NO_ENVELOPE:
        yield f"status {status} cannot have a body, and every reply has one"
    yield from _header_problems(reply.headers)
    if not isinstance(reply.cookies, Sequence) or isinstance(reply.cookies, (str, bytes)):
        yield "cookies must be a list of objects"
        return
    for number, cookie in enumerate(reply.cookies):
        yield from (f"cookies[{number}]: {problem}" for problem in find_cookie_problems(cookie))


def _header_problems(headers: Any) -> Iterator[str]:
    if not isinstance(headers, Mapping):
        yield "headers must be an object of names and texts"
        return
    seen: set[str] = set()
    for name, value in headers.items():
        if not isinstance(name, str) or not TOKEN.fullmatch(name):
            yield "headers: a name is not one of HTTP"
            continue
        lowered = name.lower()
        if lowered == "set-cookie":
            yield "headers: Set-Cookie goes into cookies"
        elif lowered in _NEVER:
            yield f"headers: {name} is set by the gateway"
        elif lowered.startswith("access-control-"):
            yield f"headers: {name} is up to the option cors"
        if lowered in seen:
            yield f"headers: {name} is given twice"
        seen.add(lowered)
        if not isinstance(value, str) or not _VALUE.fullmatch(value) or len(value) > _MOST:
            yield f"headers: the value of {name} must be text of printable ASCII, up to {_MOST} characters"


def error_headers(status: int, code: str | None = None) -> dict[str, str]:
    """Return the headers of every error reply with this status; none below 400."""
    if status < 400:
        return {}
    headers = {"X-Error-Code": code or HttpError("", status).code}
    return {**headers, "WWW-Authenticate": "Token"} if status == 401 else headers


#: By the class: ``(status, code, message)``.
Exceptions = Mapping[type[Exception], tuple[int, str, str]]
NO_EXCEPTIONS: Exceptions = MappingProxyType({})

#: The code of an error, which is a header, too.
CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def parse_exceptions(given: Any) -> Exceptions:
    """Return a checked ``exceptions=``: ``{SomeError: (409, "code", "message")}``.

    Raises:
        DefinitionError: a class that is no exception, is `Exception` itself or one of the package's own errors; or
            what it becomes is no status of an error, code and message. The message names every such entry.
    """
    if given is None:
        return NO_EXCEPTIONS
    if not isinstance(given, Mapping):
        raise DefinitionError(f"exceptions: expected classes with (status, code, message), not {type(given).__name__}")
    if problems := [problem for kind, becomes in given.items() for problem in _exception_problems(kind, becomes)]:
        raise DefinitionError(f"exceptions: {'; '.join(problems)}")
    return MappingProxyType({kind: tuple(becomes) for kind, becomes in given.items()})


def find_error(exceptions: Exceptions, error: Exception) -> HttpError | None:
    """Return the error that an exception becomes; None where it stays as it is.

    Of several classes that it belongs to the most specific decides. The package's own errors stay as they are.
    """
    if isinstance(error, GatewayError):
        return None
    for kind in type(error).__mro__:
        if kind in exceptions:
            status, code, message = exceptions[kind]
            return HttpError(message, status, code=code)
    return None


def _exception_problems(kind: Any, becomes: Any) -> Iterator[str]:
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        yield f"{getattr(kind, '__name__', type(kind).__name__)} is no class of exceptions"
        return
    name = kind.__name__
    if kind is Exception:
        yield "Exception itself would hide every mistake of the program; name narrower classes"
    if issubclass(kind, GatewayError):
        yield f"{name} has a status of its own; to change it, raise HttpError in an on_error hook"
    if not isinstance(becomes, (tuple, list)) or len(becomes) != 3:  # noqa: PLR2004  (status, code, message)
        yield f"{name}: expected (status, code, message)"
        return
    status, code, message = becomes
    if type(status) is not int or not 400 <= status <= 599:
        yield f"{name}: the status must be in 400..599"
    if not isinstance(code, str) or not CODE.fullmatch(code):
        yield f"{name}: the code must be up to 64 letters, digits and any of _.-"
    if not isinstance(message, str) or not message:
        yield f"{name}: the message must be text"


# -- the declared result of an act, for clients; results are not checked


@dataclass(frozen=True)
class Selected:
    """Documents in the shape that a ``get`` asks for."""

    word: Word
    #: The part of ``get`` that selects them, and its place: empty for the whole ``get``, else one name.
    select: SelectStruct
    path: tuple[str, ...] = ()


#: The declared result: documents, a value, an object of both, or unknown.
Returns = Selected | Field[Any] | Mapping[str, "Selected | Field[Any]"] | None


def parse_returns(given: Any, get: Field[Any] | None) -> Returns:
    """Return the parsed ``returns=`` of an act with this ``get``, which is one of:

    - ``"one"``, ``"optional"`` or ``"many"``: a document in the shape of ``get``; a document or null; a list of such;
    - a value kind, for a result that ``get`` does not shape, such as ``boolean()``;
    - a mapping of names to these. A name that is also in ``get`` is in the result only if it was asked for. A word
      stands for documents in the shape of that part of ``get``, or of the whole ``get`` if it selects from a model:
      ``{"token": string(), "user": "one"}``, ``{"rows": "many", "total": integer()}``.

    If left out, it is ``"one"`` where ``get`` selects from a model, else unknown.

    Raises:
        DefinitionError: it has none of the forms, or is a word although ``get`` selects nothing.
    """
    if given is None:
        return Selected("one", get) if isinstance(get, SelectStruct) else None
    if not isinstance(given, Mapping):
        return _part(given, get, (), "returns")
    parts: Mapping[str, Field[Any]] = (get.fields or {}) if isinstance(get, ObjectField) else {}
    found: dict[str, Selected | Field[Any]] = {}
    for name, value in given.items():
        if not isinstance(name, str):
            raise DefinitionError(f"returns: the name {name!r} is not a string")
        part, path = (get, ()) if isinstance(get, SelectStruct) else (parts.get(name), (name,))
        found[name] = _part(value, part, path, f"returns, {name!r}")
    return found


def _part(given: Any, get: Field[Any] | None, path: tuple[str, ...], where: str) -> Selected | Field[Any]:
    if not isinstance(given, str):
        field = as_field(given, where)
        if has_files(field):
            raise DefinitionError(f"{where}: a reply holds no files")
        return field
    if given not in get_args(Word):
        raise DefinitionError(f"{where}: expected 'one', 'optional', 'many' or a value kind")
    if not isinstance(get, SelectStruct):
        raise DefinitionError(f"{where}: {given!r} needs a get that selects from a model")
    return Selected(cast(Word, given), get, path)

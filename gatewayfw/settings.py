"""Every setting of a gateway: its default, its unit and its environment variable.

A setting comes from the code (``gateway(deadline=3)``), otherwise from the config of the app in which the gateway is
registered first (``app.config["GATEWAYFW_DEADLINE"] = 3``, see `read_config`), otherwise from the environment
(``GATEWAYFW_DEADLINE=3``), otherwise from the default below. All names and defaults are our choice.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from typing import Any, TypedDict

from gatewayfw.errors import DefinitionError
from gatewayfw.logs import escaped

PREFIX = "GATEWAYFW_"
#: The names in the environment that are no settings: what package, sample service and tests read themselves.
OTHER_NAMES = frozenset(
    PREFIX + name
    for name in (
        *("ENV", "MONGOD", "MCP_TOKEN"),
        *("TOKEN_KEY", "TOKEN_KEY_FALLBACKS", "PROXIES", "LOGIN_LIMIT"),
        *("PLAYGROUND", "BASE_URL", "CORS", "STATIC_PATH"),
        *("TEST_MONGO_URI", "TEST_FAULTS", "TEST_SOAK", "TEST_TOOLS", "SCREENSHOTS"),
        *("REQUIRE_MONGO", "REQUIRE_NODE", "REQUIRE_NGINX", "REQUIRE_BROWSER"),
    )
)
#: A name as similar as this to a setting's is taken for a mistake: one with two letters too many or too few.
_NEAR = 0.85
#: Other names are expected from so many letters on: platforms add short ones, such as GATEWAYFW_PORT, near CORS.
_LONG = len(PREFIX) + 8
_logger = logging.getLogger("gatewayfw")
#: The names that this process has warned of.
WARNED: set[str] = set()
#: Integer settings stay below this: some end up in commands of the database, which take 32 bits.
_MOST = 2**31
#: The beginnings that a storage may have; parsing shows later whether the rest is a URI.
_STORAGE = re.compile(r"memory://|mongodb://\S+")
_COLOR = re.compile(r"#[0-9A-Fa-f]{6}")
#: Numbers that may be 0, which switches something off.
_OFF_AT_ZERO = frozenset({"max_batch"})
#: The settings that are texts or lists of them: what each must be, and the function that checks a text.
_TEXTS: Mapping[str, tuple[str, Callable[[str], bool]]] = {
    "rate_limit_storage": ("memory:// or a mongodb:// URI", lambda text: _STORAGE.fullmatch(text) is not None),
    "playground_title": (
        "a text of 1 to 60 characters in one line",
        lambda text: 0 < len(text) <= 60 and text.isprintable() and text.strip() != "",
    ),
    "playground_color": ("a colour such as #0f6b63", lambda text: not text or _COLOR.fullmatch(text) is not None),
    "playground_note": (
        "a text of at most 300 characters in one line",
        lambda text: len(text) <= 300 and text.isprintable(),  # noqa: PLR2004
    ),
    "link_key": ("a secret of at least 32 bytes", lambda text: not text or _is_long(text)),
    "link_key_fallbacks": ("a list of secrets of at least 32 bytes", lambda text: _is_long(text)),
}
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


@dataclass(frozen=True)
class Settings:
    """The settings of one gateway; each is read from ``GATEWAYFW_<NAME>`` too."""

    #: Most seconds for hooks, act and cursors of one request together; keep it below the timeout of the workers.
    deadline: float = 5.0
    #: Most seconds for one operation outside a request.
    operation_timeout: float = 30.0
    #: Most seconds to wait for a usable database server.
    server_selection_timeout: float = 2.0
    #: Most bytes of a request body; a lower limit of the host app wins.
    max_body_bytes: int = 1024 * 1024
    #: Most bytes of a request with files (`multipart/form-data`); a lower limit of the host app wins.
    max_upload_bytes: int = 64 * 1024 * 1024
    #: Deepest nesting of a request body.
    max_body_depth: int = 32
    #: Most values (objects, lists and scalars) in a request body.
    max_body_nodes: int = 20_000
    #: Most characters of one text in a request body.
    max_body_text: int = 262_144
    #: Most characters of one key in a request body.
    max_body_key: int = 256
    #: Most ids in a list of ids for which a validator gives no maximum of its own.
    max_ids: int = 1_000
    #: Deepest nesting of a `get`.
    max_get_depth: int = 8
    #: Most fields a `get` may name.
    max_get_leaves: int = 500
    #: Most queries that a `get` may cause after the first: one for each relation path below the embedded copies.
    max_get_queries: int = 100
    #: Most bytes of a reply's body as JSON, also from a remote service; an act may have its own maximum.
    max_reply_bytes: int = 16 * 1024 * 1024
    #: Most items of a batch, which is one request with several acts; 0 means no batches.
    max_batch: int = 0
    #: Most bytes of a document's pure fields, as BSON.
    document_bytes: int = 4 * 1024 * 1024
    #: Most bytes of all reverse lists of a document together; each has an equal share and is cut to it.
    windows_bytes: int = 2 * 1024 * 1024
    #: Most characters of a text, or bytes of binary data, where its kind states no maximum `size`.
    max_text: int = 10_000
    #: Whether each act must have an access rule or say that it is public.
    require_access: bool = False
    #: Whether each model must have a policy that names the caller's role, and is used in requests by acts only.
    require_policy: bool = False
    #: Where calls of acts with a `limit` are counted: `memory://` (in each process separately) or a `mongodb://` URI.
    rate_limit_storage: str = field(default="memory://", repr=False)  # It may hold a password.
    #: The secret of at least 32 bytes that signs links to files; while it is unset, links work only in development.
    link_key: str = field(default="", repr=False)
    #: More secrets whose links to files are accepted: former values of `link_key`, or its next one.
    link_key_fallbacks: tuple[str, ...] = field(default=(), repr=False)
    #: Most ids that a `multiple` relation may hold; the `limit` of its definition may be lower, not higher.
    relation_limit: int = 1_000
    #: Most copies of related documents that one insert may embed, in all its documents together.
    insert_copies: int = 20_000
    #: Most copies in a `multiple` reverse relation whose definition states no `limit`.
    reverse_limit: int = 1_000
    #: Most copies that one change writes in its own transaction; a job writes the rest.
    inline_limit: int = 200
    #: Whether each process that serves works on jobs in a thread; if not, `flask gateway work` must run.
    fan_out_thread: bool = True
    #: Most documents of a collection whose indexes, other than unique ones, are built at first use.
    index_build_limit: int = 10_000
    #: Most seconds to connect to a remote service.
    remote_connect_timeout: float = 2.0
    #: Most seconds until a remote service has answered; the deadline may end it earlier.
    remote_timeout: float = 4.0
    #: Whether the bodies of errors always have `code`, `errors` and `requestId`.
    error_detail: bool = False
    #: Whether clients see the messages of unexpected exceptions; if unset, only in debug or testing mode.
    expose_errors: bool | None = None
    #: Environments, as named in `GATEWAYFW_ENV` or `FLASK_ENV`, in which `playground=True` is refused.
    playground_refused_in: tuple[str, ...] = ("production",)
    #: The name of the playground, in the title of the page and at its top.
    playground_title: str = "Playground"
    #: The colour of the playground's buttons and marks, such as `#7a1fa2`; made readable in both themes.
    playground_color: str = ""
    #: What the playground says on its first page and above its log-in form, such as the accounts for trying it out:
    #: each written as `name` / `password` becomes a button that logs in.
    playground_note: str = ""

    @classmethod
    def load(cls, environ: Mapping[str, str], **given: Any) -> Settings:
        """Return the settings that code and environment give.

        Other names of the environment that begin with ``GATEWAYFW_`` are logged, once in each process.

        Raises:
            DefinitionError: an unknown name, also in the environment if it is similar to a setting's; or a value of
                the wrong type or not positive.
        """
        for name in given:
            if name not in _KINDS:
                near = next(iter(get_close_matches(name, _KINDS)), None)
                hint = f"; did you mean {near!r}?" if near else ""
                raise DefinitionError(f"unknown setting {name!r}{hint}")
        settings = replace(cls(), **{**_values(environ, "the environment"), **given})
        for name in _KINDS:
            _check(name, getattr(settings, name))
        return settings


#: The types of the settings, as they are written above.
_KINDS = {field.name: str(field.type) for field in fields(Settings)}


class GivenSettings(TypedDict, total=False):
    """The settings that code gives, for type checkers; see `Settings`."""

    deadline: float
    operation_timeout: float
    server_selection_timeout: float
    max_body_bytes: int
    max_upload_bytes: int
    max_body_depth: int
    max_body_nodes: int
    max_body_text: int
    max_body_key: int
    max_ids: int
    max_get_depth: int
    max_get_leaves: int
    max_get_queries: int
    max_reply_bytes: int
    max_batch: int
    document_bytes: int
    windows_bytes: int
    max_text: int
    require_access: bool
    require_policy: bool
    rate_limit_storage: str
    link_key: str
    link_key_fallbacks: tuple[str, ...]
    relation_limit: int
    insert_copies: int
    reverse_limit: int
    inline_limit: int
    fan_out_thread: bool
    index_build_limit: int
    remote_connect_timeout: float
    remote_timeout: float
    error_detail: bool
    expose_errors: bool | None
    playground_refused_in: tuple[str, ...]
    playground_title: str
    playground_color: str
    playground_note: str


class OpenSettings(Settings):
    """Settings that the config of an app may still change; they note what is read."""

    _given: frozenset[str]
    _read: set[str]

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_"):
            self._read.add(name)
        return super().__getattribute__(name)


def open_to_config(settings: Settings, given: Iterable[str]) -> None:
    """Let the config of an app change settings that the code has not ``given``.

    It does so in place, so that whoever has the settings sees the change; see `read_config`.
    """
    object.__setattr__(settings, "_given", frozenset(given))
    object.__setattr__(settings, "_read", set())
    object.__setattr__(settings, "__class__", OpenSettings)


def read_config(settings: Settings, config: Mapping[str, Any]) -> None:
    """Take the settings in the config of an app.

    The first call takes them, later ones compare. Values are of the setting's type, or text as in the environment.

    Raises:
        DefinitionError: an unknown name that resembles a setting's, a value that does not fit, or a setting that was
            used before and would be another one now.
    """
    ours = {name: value for name, value in config.items() if isinstance(name, str) and name.startswith(PREFIX)}
    values = _values(ours, "app.config")
    for name, value in values.items():
        _check(name, value)
    now = vars(settings)
    changed = {name: value for name, value in values.items() if name not in now["_given"] and value != now[name]}
    used = now["_read"] if isinstance(settings, OpenSettings) else _KINDS
    if late := sorted(name for name in changed if name in used):
        raise DefinitionError(
            f"app.config: {PREFIX}{late[0].upper()} comes too late, {late[0]!r} was used with another value: give it "
            "to gateway(...) or, before anything is defined, the app to Gateway(app); give all its apps the same"
        )
    now.update(changed)
    object.__setattr__(settings, "__class__", Settings)


def _values(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    _judge_names(given, where)
    values = {name: given[PREFIX + name.upper()] for name in _KINDS if PREFIX + name.upper() in given}
    return {name: _parsed(name, value) for name, value in values.items()}


def _judge_names(given: Iterable[str], where: str) -> None:
    """Refuse names that seem to be misspelled settings, or other names of some length."""
    names = {PREFIX + name.upper() for name in _KINDS} | OTHER_NAMES
    long = [name.removeprefix(PREFIX) for name in names if name not in OTHER_NAMES or len(name) >= _LONG]
    for name in sorted(given):
        if not name.startswith(PREFIX) or name in names:
            continue
        if near := get_close_matches(name.removeprefix(PREFIX), long, 1, _NEAR):
            raise DefinitionError(f"unknown setting {name} in {where}; did you mean {PREFIX}{near[0]}?")
        if name not in WARNED:
            WARNED.add(name)
            _logger.warning("%s in %s is no setting, and is ignored", escaped(name), where)


def _parsed(name: str, text: Any) -> Any:
    kind = _KINDS[name]
    if isinstance(text, list):
        return tuple(text)
    if kind == "str" or not isinstance(text, str):
        return text
    if kind.startswith("tuple"):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        if kind.startswith("bool"):
            return _WORDS[text.strip().lower()]
        return int(text) if kind == "int" else float(text)
    except (ValueError, KeyError):
        raise DefinitionError(f"{PREFIX}{name.upper()}: expected {_expected(name)}") from None


def _check(name: str, value: Any) -> None:
    kind = _KINDS[name]
    if kind.startswith("bool"):
        fits = isinstance(value, bool) or (value is None and kind.endswith("None"))
    elif kind == "str":
        fits = isinstance(value, str) and _TEXTS[name][1](value)
    elif kind.startswith("tuple"):
        fits = isinstance(value, (tuple, list)) and all(isinstance(part, str) for part in value)
        fits = fits and (name not in _TEXTS or all(map(_TEXTS[name][1], value)))
    else:
        numbers = (int,) if kind == "int" else (int, float)
        most = _MOST if kind == "int" else float("inf")
        fits = isinstance(value, numbers) and not isinstance(value, bool) and 0 < value < most
        fits = fits or (type(value) is int and value == 0 and name in _OFF_AT_ZERO)
    if not fits:
        raise DefinitionError(f"setting {name!r}: expected {_expected(name)}")


def _is_long(secret: str) -> bool:
    return len(secret.encode("utf-8", "replace")) >= 32


def _expected(name: str) -> str:
    kind = _KINDS[name]
    if name in _TEXTS:
        return _TEXTS[name][0]
    if kind.startswith("tuple"):
        return "a list of names"
    if kind == "int":
        return f"a positive integer below {_MOST}" + (", or 0" if name in _OFF_AT_ZERO else "")
    return "true or false" if kind.startswith("bool") else "a positive number"

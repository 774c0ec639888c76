"""The playground below ``{base}/playground``: its page, files and data.

The files are those of the package: they are read once, and a request names one of them or gets 404;
nothing of a request ever becomes a path of the file system. Every URL in the page is relative, so any
prefix and any proxy will do. What is below is for GET and HEAD.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from html import escape
from pathlib import Path
from types import CoroutineType, MappingProxyType
from typing import Any, final

import orjson
from flask import Request, Response
from werkzeug.exceptions import HTTPException, MethodNotAllowed, NotFound

from gatewayfw.environment import environment
from gatewayfw.errors import DefinitionError
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.openapi import openapi
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.logs import traceback_of
from gatewayfw.settings import Settings
from gatewayfw.web.reply import logger

#: Where the playground is, below the prefix of the blueprint.
RULE = "/playground"
#: The path to call acts, relative to the playground.
_GATEWAY = "/gateway"
_METHODS = ("GET", "HEAD")

Catalog = Mapping[str, Any]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
#: Of every reply.
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": CSP,
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
)
#: Where the files are; a build fills it.
FOLDER = Path(__file__).parent.parent / "playground" / "static"
_INDENTED = orjson.OPT_INDENT_2
_FRESH = "no-store"
_FOR_EVER = "public, max-age=31536000, immutable"
_JSON, _TEXT, _HTML = "application/json", "text/plain; charset=utf-8", "text/html; charset=utf-8"
_FONT = "font/woff2"
#: The types of files by their endings; a build has no others.
_TYPES = {
    ".html": _HTML,
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": _FONT,
}


@dataclass(frozen=True)
class File:
    """A file of the playground: its bytes and its type."""

    content: bytes
    type: str

    @cached_property
    def packed(self) -> bytes | None:
        """The bytes as gzip; None of a font, which is compressed already."""
        return None if self.type == _FONT else gzip.compress(self.content, mtime=0)


@cache
def files() -> Mapping[str, File]:
    """Return the playground's files by name: ``index.html``, ``assets/...``."""
    found = sorted(path for path in FOLDER.rglob("*") if path.is_file())
    return MappingProxyType(
        {path.relative_to(FOLDER).as_posix(): File(path.read_bytes(), _TYPES[path.suffix]) for path in found}
    )


def check_options(on: Any, guard: Any, refused_in: Iterable[str], environ: Mapping[str, str]) -> None:
    """Refuse options of the wrong type, and a playground the setting forbids.

    ``refused_in`` names environments; that of this process is in ``GATEWAYFW_ENV``, else ``FLASK_ENV``.

    Raises:
        DefinitionError: names the option.
    """
    if not isinstance(on, bool):
        raise DefinitionError("option 'playground': expected true or false")
    if guard is not None and not callable(guard):
        raise DefinitionError("option 'playground_guard': expected a function of a request")
    said = environment(environ)
    if on and said and said in {name.strip().lower() for name in refused_in}:
        raise DefinitionError(
            f"option 'playground': refused in the environment {said!r} (setting playground_refused_in); "
            "it tells everybody who may open it which acts and models exist"
        )


@final
@dataclass(frozen=True)
class Playground:
    """Answers requests for the playground.

    Attributes:
        catalog: makes the gateway's catalog; called each time, because acts may be added at any time.
        guard: decides who may see anything of it; None for everybody.
        settings: say what the page is called, and its accent; read for each page, because an app may still change them.
    """

    catalog: Callable[[], Catalog]
    guard: Guard | None = None
    settings: Settings = Settings()

    def is_shown(self, sent: Request) -> bool:
        """Tell whether a request may see the playground, with all names in it."""
        return accepts(self.guard, sent, "the guard of the playground")

    def reply(self, sent: Request, name: str | None) -> Response:
        """Return the reply to a request for a name below the playground.

        None is the page without a slash.

        Raises:
            NotFound: there is nothing of that name, or the guard refuses: werkzeug's, as if there
                were no such route.
            MethodNotAllowed: neither GET nor HEAD: werkzeug's.
            DefinitionError: the catalog cannot be made.
        """
        if not self.is_shown(sent):
            raise NotFound
        if name in (None, "", "index.html"):
            found = _reply(sent, self._page("" if name is not None else f"{RULE[1:]}/"), _FRESH)
        elif name in _MADE:
            path, (type_, make) = sent.script_root + sent.path, _MADE[name]
            gateway = path[: path.rindex(RULE)] + _GATEWAY
            found = _reply(sent, File(make(self.catalog(), gateway), type_), _FRESH)
        elif name in files():
            found = _reply(sent, files()[name], _FOR_EVER)
        else:
            raise NotFound
        if sent.method not in _METHODS:
            raise MethodNotAllowed(valid_methods=_METHODS)
        return found

    def _page(self, base: str) -> File:
        title = self.settings.playground_title
        given = {"theme-color": self.settings.playground_color, "note": self.settings.playground_note}
        metas = [f'<meta name="{name}" content="{escape(text)}" />' for name, text in given.items() if text]
        head = f"<title>{escape(title)}</title>{''.join(metas)}".encode()
        page = files()["index.html"].content.replace(b"<title>Playground</title>", head)
        return File(page.replace(b'"./assets/', f'"{base}assets/'.encode()), _HTML)


def _reply(sent: Request, file: File, caching: str) -> Response:
    headers = {**HEADERS, "Cache-Control": caching}
    content = file.content
    if file.packed is not None:
        headers["Vary"] = "Accept-Encoding"
        if sent.accept_encodings.quality("gzip") > 0:
            content, headers["Content-Encoding"] = file.packed, "gzip"
    return Response(content, 200, headers, content_type=file.type)


#: The files that are generated on request: type and function, by name.
_MADE: Mapping[str, tuple[str, Callable[[Catalog, str], bytes]]] = MappingProxyType(
    {
        "catalog.json": (_JSON, lambda catalog, path: orjson.dumps(catalog)),
        "gateway.ts": (_TEXT, lambda catalog, path: typescript(catalog).encode()),
        "gateway_types.py": (_TEXT, lambda catalog, path: python(catalog).encode()),
        "openapi.json": (_JSON, lambda catalog, path: orjson.dumps(openapi(catalog, path=path), option=_INDENTED)),
        "schema.json": (_JSON, lambda catalog, path: orjson.dumps(json_schema(catalog), option=_INDENTED)),
    }
)


#: Whether a request may see a page.
Guard = Callable[[Request], bool]


def accepts(guard: Guard | None, sent: Request, name: str) -> bool:
    """Tell whether a guard, ``name`` in messages, accepts a request; None accepts all.

    A guard that fails, or answers neither true nor false, refuses and is logged; one that aborts (an HTTPException)
    only refuses.
    """
    if guard is None:
        return True
    try:
        answer: Any = guard(sent)
        if isinstance(answer, CoroutineType):
            answer.close()  # Otherwise Python warns that it was never awaited.
        if not isinstance(answer, bool):  # no other object may count as true
            raise DefinitionError(f"{name} must answer true or false, not {type(answer).__name__}")
        return answer
    except HTTPException:
        return False
    except Exception as error:  # Raised by the guard: its own reply would reveal the page.
        logger.error("%s failed\n%s", name, traceback_of(error))
        return False

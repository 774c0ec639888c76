"""Exceptions to which an author has given a status, a code and a message.

Source: our choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from gatewayfw.errors import DefinitionError, GatewayError, HttpError

#: By the class: ``(status, code, message)``.
Exceptions = Mapping[type[Exception], tuple[int, str, str]]
NO_EXCEPTIONS: Exceptions = MappingProxyType({})

#: The code of an error, which is a header, too.
CODE = re.compile(r"[A-Za-z0-9_.-]{1,64}")


def parse_exceptions(given: Any) -> Exceptions:
    """Return a checked ``exceptions=``: ``{SomeError: (409, "code", "message")}``.

    None means that there are none.

    Raises:
        DefinitionError: a class that is no exception, is `Exception` itself or one of the package's own errors; or
            what it becomes is no status of an error, code and message. The message names every such entry.
    """
    if given is None:
        return NO_EXCEPTIONS
    if not isinstance(given, Mapping):
        raise DefinitionError(f"exceptions: expected classes with (status, code, message), not {type(given).__name__}")
    if problems := [problem for kind, becomes in given.items() for problem in _problems(kind, becomes)]:
        raise DefinitionError(f"exceptions: {'; '.join(problems)}")
    return MappingProxyType({kind: tuple(becomes) for kind, becomes in given.items()})


def find_error(exceptions: Exceptions, error: Exception) -> HttpError | None:
    """Return the error that an exception becomes; None where it stays as it is.

    Of several classes that it belongs to the most specific decides. The package's own errors stay as they are.
    """
    if isinstance(error, GatewayError):
        return None
    found = next((exceptions[kind] for kind in type(error).__mro__ if kind in exceptions), None)
    if found is None:
        return None
    status, code, message = found
    return HttpError(message, status, code=code)


def _problems(kind: Any, becomes: Any) -> Iterator[str]:
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

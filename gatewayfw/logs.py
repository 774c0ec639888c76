"""What may appear in a log: single lines, tracebacks without database texts.

The line about a failed request is written in `gatewayfw.web.failure`.
"""

import traceback

from gatewayfw.errors import StorageError

#: The logger of errors that are the program's fault; reporters get their exceptions another way.
UNEXPECTED = "gatewayfw.errors"
#: Characters of an exception's text that a log shows.
LONGEST = 2_000

#: The packages of the database's exceptions, whose texts can hold documents.
_DRIVERS = frozenset({"pymongo", "bson", "gridfs", "mongomock", "mongomock_ng"})


def escaped(text: str) -> str:
    """Return text with what is unprintable written out, such as line ends."""
    if text.isprintable():
        return text
    # `repr` writes out the same characters and does it at once; it also doubles backslashes and guards quotes.
    return "\\".join(repr(part)[1:-1].replace("\\'", "'") for part in text.split("\\"))


def traceback_of(error: BaseException) -> str:
    """Return the traceback of an exception and of its causes, oldest first.

    The text of an exception is escaped and cut to 2,000 characters, so that what a client sent cannot forge a line. A
    `StorageError`, an exception of the database's driver, and the causes of either are shown only by class, code and
    places: their texts can hold whole documents. The members of an exception group come before it.
    """
    return "which led to:\n".join(_chain(error, set(), hidden=False)).rstrip("\n")


def _chain(error: BaseException, met: set[int], *, hidden: bool) -> list[str]:
    parts: list[str] = []
    link: BaseException | None = error
    while link is not None and id(link) not in met:
        met.add(id(link))
        packages = {kind.__module__.partition(".")[0] for kind in type(link).__mro__}
        hidden = hidden or isinstance(link, StorageError) or not _DRIVERS.isdisjoint(packages)
        places = "".join(traceback.format_tb(link.__traceback__))
        parts.append(f"Traceback (most recent call last):\n{places}{_named(link, hidden=hidden)}\n")
        for member in getattr(link, "exceptions", ()):  # those of an ExceptionGroup
            if isinstance(member, BaseException):
                parts.extend(reversed(_chain(member, met, hidden=hidden)))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return parts[::-1]


def _named(error: BaseException, *, hidden: bool) -> str:
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    if hidden:
        return f"{name} code={error.errno if isinstance(error, OSError) else getattr(error, 'code', None)}"
    try:
        text = escaped(str(error)[:LONGEST])[:LONGEST]
    except Exception:  # the author's own __str__: the log must not fail over it
        text = "<no text>"
    return f"{name}: {text}" if text else name

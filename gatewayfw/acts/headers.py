"""The headers of a request, and the places in it that carry a token or a role.

The contract's are the header ``token`` and the field ``activeRoleId``; all others are our choice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, final

from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import Carrier

#: What may stand around names and values. Python takes more for spaces, which no browser does: a
#: neighbouring site could set ``\x85__Host-session``.
_SPACES = " \t"
#: The contract's place of a role.
ROLE = Carrier("set", "activeRoleId")


@final
class Headers(Mapping[str, str]):
    """Request headers: names ignore case, a name may have several values.

    Takes a mapping, in which the last spelling of a name wins, so that ``{**headers, "x-tenant": own}`` replaces what a
    client sent; or pairs of name and value, or werkzeug's `Headers`. ``headers[name]`` is the first value,
    ``getlist(name)`` all of them. The values never show in ``repr``: one is the token.
    """

    __slots__ = ("_later", "_read")

    def __init__(self, source: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self._later: Callable[[], Iterable[tuple[str, str]]] | None = None
        # Headers that were read never change, so a copy may share them.
        if isinstance(source, Headers):
            self._read = source._values
        elif isinstance(source, Mapping):
            self._read = {name.lower(): (name, [value]) for name, value in source.items()}
        else:
            self._read = _by_name(source)

    @classmethod
    def later(cls, read: Callable[[], Iterable[tuple[str, str]]]) -> Headers:
        """Return headers that call ``read`` at first use, since few acts use any.

        Threads that ask at the same time may each call it.
        """
        headers = cls.__new__(cls)
        headers._later = read
        return headers

    @property
    def _values(self) -> dict[str, tuple[str, list[str]]]:
        read = self._later  # read once: another thread may set it at any moment
        if read is not None:
            self._read = _by_name(read())
            self._later = None
        return self._read

    def getlist(self, name: str) -> list[str]:
        """Return all values of a header in the order sent; empty when it is absent."""
        return list(self._values.get(name.lower(), (name, []))[1])

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()][1][0]

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._values.values())

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping) or not all(isinstance(name, str) for name in other):
            return NotImplemented
        return self._lists() == Headers(other)._lists()

    def __repr__(self) -> str:
        return f"Headers({list(self)})"

    def _lists(self) -> dict[str, list[str]]:
        return {name: values for name, (_, values) in self._values.items()}


def _by_name(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, list[str]]]:
    """Return all values by the name in lower case, with the name as it came first."""
    values: dict[str, tuple[str, list[str]]] = {}
    for name, value in pairs:
        values.setdefault(name.lower(), (name, []))[1].append(value)
    return values


def set_field(name: str) -> Carrier:
    """Return the carrier that is a field of ``details.set``."""
    if not isinstance(name, str) or not name:
        raise DefinitionError("set_field: expected the name of a field of set")
    return Carrier("set", name)


def read_carried(carrier: Carrier, context: Mapping[str, Any], body: Mapping[str, Any]) -> list[Any]:
    """Return the values that a request carries in a place: none, one or several.

    Several are a mistake or a trick of the caller, such as a cookie that a neighbouring site has set.
    """
    if carrier.place == "set":
        value = body["details"]["set"].get(carrier.name)
        return [] if value is None else [value]
    return read_headers(carrier, Headers(context.get("Headers") or ()))


def read_headers(carrier: Carrier, headers: Headers) -> list[str]:
    """Return the values that headers carry in a place."""
    given = headers.getlist(carrier.header)
    if carrier.place == "bearer":
        schemes = [value.strip(_SPACES).partition(" ") for value in given]
        return [token.strip(_SPACES) for scheme, _, token in schemes if scheme.lower() == "bearer"]
    if carrier.place == "cookie":
        pairs = [pair.partition("=") for value in given for pair in value.split(";")]
        return [
            value.strip(_SPACES) for name, is_pair, value in pairs if is_pair and name.strip(_SPACES) == carrier.name
        ]
    return given


def sent_by_all(values: Iterable[tuple[Carrier, str]]) -> dict[str, str]:
    """Return the headers that carry all values; cookies share one header."""
    sent: dict[str, str] = {}
    for carrier, value in values:
        for name, text in carrier.sent(value).items():
            sent[name] = f"{sent[name]}; {text}" if carrier.place == "cookie" and name in sent else text
    return sent

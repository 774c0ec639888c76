"""Where a request carries a token or a role: header, cookie or field.

The contract's are the header ``token`` and the field ``activeRoleId``; all others are our choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from gatewayfw.acts.context import Headers
from gatewayfw.carriers import Carrier
from gatewayfw.errors import DefinitionError

#: What may stand around names and values. Python takes more for spaces, which no browser does: a
#: neighbouring site could set ``\x85__Host-session``.
_SPACES = " \t"
#: The contract's place of a role.
ROLE = Carrier("set", "activeRoleId")


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

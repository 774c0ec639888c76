"""Where a request carries a token or a role: header, cookie or field.

The contract's are the header ``token`` and the field ``activeRoleId``; all others are our choice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, final

from gatewayfw.acts.context import Headers
from gatewayfw.errors import DefinitionError

CarrierPlace = Literal["header", "bearer", "cookie", "set"]

#: Narrower than HTTP, because the name is also used in generated code.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")
#: What may stand around names and values. Python takes more for spaces, which no browser does: a
#: neighbouring site could set ``\x85__Host-session``.
_SPACES = " \t"


@final
@dataclass(frozen=True)
class Carrier:
    """One place in a request; `header`, `bearer`, `cookie` and `set_field` make them.

    Attributes:
        place: ``bearer`` is the header ``Authorization`` with the scheme Bearer.
        name: of the header, in lower case, of the cookie or of the field.
    """

    place: CarrierPlace
    name: str

    @property
    def header(self) -> str:
        """The header that it is in, in lower case; empty for a field of ``set``."""
        return {"header": self.name, "bearer": "authorization", "cookie": "cookie", "set": ""}[self.place]

    def read(self, context: Mapping[str, Any], body: Mapping[str, Any]) -> list[Any]:
        """Return the values that a request carries here: none, one or several.

        Several are a mistake or a trick of the caller, such as a cookie that a neighbouring site has set.
        """
        if self.place == "set":
            value = body["details"]["set"].get(self.name)
            return [] if value is None else [value]
        return self.found(Headers(context.get("Headers") or ()))

    def found(self, headers: Headers) -> list[str]:
        """Return the values in headers."""
        given = headers.getlist(self.header)
        if self.place == "bearer":
            schemes = [value.strip(_SPACES).partition(" ") for value in given]
            return [token.strip(_SPACES) for scheme, _, token in schemes if scheme.lower() == "bearer"]
        if self.place == "cookie":
            pairs = [pair.partition("=") for value in given for pair in value.split(";")]
            return [
                value.strip(_SPACES) for name, is_pair, value in pairs if is_pair and name.strip(_SPACES) == self.name
            ]
        return given

    def sent(self, value: str) -> dict[str, str]:
        """Return the header that carries a value.

        A page in a browser cannot set a cookie this way.
        """
        if self.place == "bearer":
            return {"Authorization": f"Bearer {value}"}
        return {"Cookie": f"{self.name}={value}"} if self.place == "cookie" else {self.name: value}

    def described(self) -> dict[str, str]:
        """Return it for the catalog: ``{"in": place, "name": name}``."""
        return {"in": self.place, "name": self.name}


def header(name: str) -> Carrier:
    """Return the carrier that is a whole header.

    Raises:
        DefinitionError: the name is not a header's. The functions below refuse bad names, too.
    """
    return Carrier("header", _checked("header", name).lower())


def bearer() -> Carrier:
    """Return the carrier ``Authorization: Bearer <token>``.

    Source: RFC 6750, section 2.1.
    """
    return Carrier("bearer", "authorization")


def cookie(name: str) -> Carrier:
    """Return the carrier that is a cookie.

    docs/security.md says how to use one safely.
    """
    return Carrier("cookie", _checked("cookie", name))


def set_field(name: str) -> Carrier:
    """Return the carrier that is a field of ``details.set``."""
    if not isinstance(name, str) or not name:
        raise DefinitionError("set_field: expected the name of a field of set")
    return Carrier("set", name)


#: The contract's places.
TOKEN = Carrier("header", "token")
ROLE = Carrier("set", "activeRoleId")


def sent_by_all(values: Iterable[tuple[Carrier, str]]) -> dict[str, str]:
    """Return the headers that carry all values; cookies share one header."""
    sent: dict[str, str] = {}
    for carrier, value in values:
        for name, text in carrier.sent(value).items():
            sent[name] = f"{sent[name]}; {text}" if carrier.place == "cookie" and name in sent else text
    return sent


def _checked(what: str, name: object) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise DefinitionError(f"{what}: expected a name of letters, digits and any of ._-")
    return name

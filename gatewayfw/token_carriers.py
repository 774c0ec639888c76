"""The headers and cookies that can carry a token, as a caller sends them.

Modules that `gatewayfw.export.python` generates contain this file. What a server reads is in `gatewayfw.acts.headers`.
"""

import re
from typing import Literal, NamedTuple, final

from gatewayfw.errors import DefinitionError

CarrierPlace = Literal["header", "bearer", "cookie", "set"]

#: Narrower than HTTP, because the name is also used in generated code.
_CARRIER_NAME = re.compile(r"[A-Za-z0-9._-]{1,100}")


@final
class Carrier(NamedTuple):
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

    def sent(self, value: str) -> dict[str, str]:
        """Return the header that carries a value.

        A page in a browser cannot set a cookie this way.
        """
        if self.place == "bearer":
            return {"Authorization": f"Bearer {value}"}
        return {"Cookie": f"{self.name}={value}"} if self.place == "cookie" else {self.name: value}


def header(name: str) -> Carrier:
    """Return the carrier that is a whole header.

    Raises:
        DefinitionError: the name is not a header's. The functions below refuse bad names, too.
    """
    return Carrier("header", _checked_name("header", name).lower())


def bearer() -> Carrier:
    """Return the carrier ``Authorization: Bearer <token>``.

    Source: RFC 6750, section 2.1.
    """
    return Carrier("bearer", "authorization")


def cookie(name: str) -> Carrier:
    """Return the carrier that is a cookie; docs/security.md says how it is safe."""
    return Carrier("cookie", _checked_name("cookie", name))


#: The contract's place of a token.
TOKEN = Carrier("header", "token")


def _checked_name(what: str, name: object) -> str:
    if not isinstance(name, str) or not _CARRIER_NAME.fullmatch(name):
        raise DefinitionError(f"{what}: expected a name of letters, digits and any of ._-")
    return name

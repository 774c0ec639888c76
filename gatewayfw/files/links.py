"""Links that open one file for some time, to whoever has them."""

import hashlib
import re
import secrets
from collections.abc import Mapping, Sequence
from typing import final

from itsdangerous import Signer

from gatewayfw.settings import Settings

#: The longest time a link may last, in seconds.
LONGEST = 31 * 86_400
#: The parameter of the query that holds the signature.
SIGNATURE = "signature"
_UNTIL = re.compile(r"[0-9]{1,12}", re.ASCII)
_SIGNATURE = re.compile(r"[A-Za-z0-9_-]{43}", re.ASCII)


@final
class Links:
    """Signs links with one secret key; ``fallbacks`` are further ones, which judge."""

    def __init__(self, key: bytes, fallbacks: Sequence[bytes] = ()) -> None:
        keys = [*fallbacks, key]  # The last one signs.
        self._signer = Signer(keys, salt=b"gatewayfw.files", key_derivation="hmac", digest_method=hashlib.sha256)

    def query(self, model: str, id_: str, until: int) -> str:
        """Return the query that opens a file until a time, in seconds since 1970."""
        return f"until={until}&{SIGNATURE}={self._signer.get_signature(_value(model, id_, str(until))).decode()}"

    def opens(self, model: str, id_: str, given: Mapping[str, str], now: float) -> bool:
        """Tell whether a query opens a file now."""
        until, signature = given.get("until", ""), given.get(SIGNATURE, "")
        if not _UNTIL.fullmatch(until) or not _SIGNATURE.fullmatch(signature) or now > int(until):
            return False
        return self._signer.verify_signature(_value(model, id_, until), signature.encode())


def _value(model: str, id_: str, until: str) -> bytes:
    return f"{model}/{id_}/{until}".encode()


def links_of(settings: Settings, *, in_development: bool) -> Links | None:
    """Return what signs links, with a random key in development; None without one."""
    key = settings.link_key or (secrets.token_hex(32) if in_development else "")
    return Links(key.encode(), [old.encode() for old in settings.link_key_fallbacks]) if key else None

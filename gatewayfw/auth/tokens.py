"""Signed tokens: a JSON Web Token that says who calls.

One algorithm, bound to one key. Source: contract, "Authentication"; algorithm, lifetime and the
claims ``iat`` and ``exp`` are our choice.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Mapping
from typing import Any, Literal, final

import jwt

from gatewayfw.errors import DefinitionError, Unauthenticated

#: The environment variable that holds the key.
KEY_VARIABLE = "GATEWAYFW_TOKEN_KEY"
#: Seconds until a token expires: 7 days.
LIFETIME = 7 * 24 * 3600
INVALID_TOKEN = "Invalid or expired token"

Algorithm = Literal["HS256", "HS384", "HS512"]

# A key as long as the hash: RFC 7518, section 3.2.
_KEY_BYTES: Mapping[str, int] = {"HS256": 32, "HS384": 48, "HS512": 64}
_LOG = logging.getLogger("gatewayfw.auth")


@final
class Tokens:
    """Issues and reads the tokens of one key.

    ``lifetime`` is in seconds. With ``require_exp`` a token without ``exp`` is refused; not the
    default, because the contract's token needs to carry ``_id`` only.

    Raises:
        DefinitionError: the key is shorter than the algorithm's hash (32 bytes for HS256), or
            algorithm or lifetime are not usable.
    """

    def __init__(
        self,
        key: str | bytes,
        *,
        algorithm: Algorithm = "HS256",
        lifetime: float = LIFETIME,
        require_exp: bool = False,
    ) -> None:
        if algorithm not in _KEY_BYTES:
            raise DefinitionError(f"tokens: algorithm must be one of {', '.join(_KEY_BYTES)}")
        if isinstance(lifetime, bool) or not isinstance(lifetime, (int, float)) or not 0 < lifetime < float("inf"):
            raise DefinitionError("tokens: lifetime must be a positive number of seconds")
        self._key = _checked_key(key, _KEY_BYTES[algorithm])
        self._algorithm = algorithm
        self._lifetime = lifetime
        # `iat` is not judged: the clocks of two servers differ, and nothing depends on it.
        self._options: Any = {"verify_iat": False, "require": ["exp"] if require_exp else []}

    def issue(self, payload: Mapping[str, Any]) -> str:
        """Return a token with this payload; ``iat`` and ``exp`` are set here, whatever it holds."""
        now = time.time()
        claims = {**payload, "iat": int(now), "exp": int(now + self._lifetime)}
        return jwt.encode(claims, self._key, algorithm=self._algorithm)

    def read(self, token: str) -> dict[str, Any]:
        """Return the payload of a token.

        Raises:
            Unauthenticated: anything is wrong with it. Message by the contract; it never says what.
        """
        try:
            payload = jwt.decode(token, self._key, algorithms=[self._algorithm], options=self._options)
        except Exception as error:  # The seam: PyJWT 2.15 also lets UnicodeEncodeError and RecursionError through.
            raise Unauthenticated(INVALID_TOKEN) from error
        return payload

    def __repr__(self) -> str:
        return f"Tokens(algorithm={self._algorithm!r})"


def key_from_environment(environ: Mapping[str, str]) -> str:
    """Return the key in ``GATEWAYFW_TOKEN_KEY``.

    Without one, and with ``GATEWAYFW_ENV=development``, a random one is made and a warning logged.
    It lasts as long as the process: after a restart all tokens are invalid, and workers that each
    load the app make keys of their own and refuse each other's tokens. Load the app before the
    workers are forked (``gunicorn --preload``), or set the variable in the master.

    Raises:
        DefinitionError: there is no key, outside development.
    """
    if key := environ.get(KEY_VARIABLE):
        return key
    if environ.get("GATEWAYFW_ENV") != "development":
        raise DefinitionError(
            f"no token key: set {KEY_VARIABLE} to a secret of at least 32 bytes "
            '(python -c "import secrets; print(secrets.token_hex(32))"), or GATEWAYFW_ENV=development for a random one'
        )
    _LOG.warning("%s is not set: tokens are signed with a random key and end with this process", KEY_VARIABLE)
    return secrets.token_hex(32)


def _checked_key(key: object, least: int) -> bytes:
    if not isinstance(key, (str, bytes)):
        raise DefinitionError(f"tokens: the key must be text or bytes, not {type(key).__name__}")
    try:
        encoded = key.encode() if isinstance(key, str) else key
    except UnicodeEncodeError:
        raise DefinitionError("tokens: the key is not valid text") from None
    if len(encoded) < least:
        raise DefinitionError(f"tokens: the key must have at least {least} bytes, this one has {len(encoded)}")
    return encoded

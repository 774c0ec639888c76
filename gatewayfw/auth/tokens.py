"""Signed tokens: a JSON Web Token that says who calls.

One algorithm, and one key that signs; a token can choose neither, and nothing it names is fetched. Old keys may be
accepted for some time, so that a new one logs nobody out.
Source: specification 19.1; algorithm, lifetime and the claims ``iat`` and ``exp`` are our choice.
"""

import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, final

import jwt

from gatewayfw import messages
from gatewayfw.environment import is_development
from gatewayfw.errors import DefinitionError, Unauthenticated, UsageError, missing_extra

#: The environment variable that holds the key.
KEY_VARIABLE = "GATEWAYFW_TOKEN_KEY"
#: The environment variable that holds further keys, separated by commas, which only read.
FALLBACKS_VARIABLE = "GATEWAYFW_TOKEN_KEY_FALLBACKS"
#: Seconds until a token expires: 7 days.
LIFETIME = 7 * 24 * 3600

Algorithm = Literal["HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "ES256", "ES384", "ES512"]

# A secret as long as the hash: RFC 7518, section 3.2.
_SECRET_BYTES: Mapping[str, int] = {"HS256": 32, "HS384": 48, "HS512": 64}
# The keys of the other algorithms: sections 3.3 and 3.4. The library checks curve and size.
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("RS256", "RS384", "RS512"), "an RSA key of at least 2048 bits"),
    "ES256": "an EC key on the curve P-256",
    "ES384": "an EC key on the curve P-384",
    "ES512": "an EC key on the curve P-521",
}
_ALGORITHMS = (*_SECRET_BYTES, *_KEYS)
# The end of the year 9999: later times are invalid, and a token with one would never expire.
_END_OF_TIME = 253_402_300_800
_LOG = logging.getLogger("gatewayfw.auth")


@final
class Tokens:
    """Issues tokens with one key, and reads those of this one and of ``fallbacks``.

    ``key`` is a secret for ``HS...``. For ``RS...`` and ``ES...``, which need the extra ``gatewayfw[crypto]``, it is a
    key in PEM without a password: a private key issues and reads, a public key only reads. ``lifetime`` is in seconds.
    With ``require_exp`` a token without ``exp`` is refused; not the default, because the contract's token only needs
    ``_id``. ``fallbacks`` are keys of the same algorithm that only read: the key before this one, until its last token
    has expired, or the next one, until all processes have it.

    Raises:
        DefinitionError: a secret is shorter than the algorithm's hash (32 bytes for HS256), a key does not fit the
            algorithm, the extra is missing, or algorithm or lifetime are not usable.
    """

    def __init__(
        self,
        key: str | bytes,
        *,
        algorithm: Algorithm = "HS256",
        lifetime: float = LIFETIME,
        require_exp: bool = False,
        fallbacks: Sequence[str | bytes] = (),
    ) -> None:
        if algorithm not in _ALGORITHMS:
            raise DefinitionError(f"tokens: algorithm must be one of {', '.join(_ALGORITHMS)}")
        if isinstance(lifetime, bool) or not isinstance(lifetime, (int, float)) or not 0 < lifetime < float("inf"):
            raise DefinitionError("tokens: lifetime must be a positive number of seconds")
        if isinstance(fallbacks, (str, bytes)) or not isinstance(fallbacks, Sequence):
            raise DefinitionError("tokens: fallbacks must be a list of keys")
        self._signing, *old = [_checked_key(each, algorithm) for each in (key, *fallbacks)]
        # A private key contains the public one, which reads; a secret and a public key read themselves.
        keys = (self._signing, *old)
        self._reading = [each.public_key() if hasattr(each, "public_key") else each for each in keys]
        self._issues = self._reading[0] is not self._signing or algorithm in _SECRET_BYTES
        self._algorithm = algorithm
        self._lifetime = lifetime
        # `iat` is not checked: the clocks of two servers differ, and nothing depends on it.
        self._jwt = _Library({"verify_iat": False, "require": ["exp"] if require_exp else []}, algorithm)

    def issue(self, payload: Mapping[str, Any]) -> str:
        """Return a token with this payload, whose ``iat`` and ``exp`` are set here.

        Raises:
            DefinitionError: the key is a public one.
            UsageError: the payload is not JSON, or `read` would refuse it at any time: ``sub``, ``jti`` and ``iss``
                are text, ``nbf`` is a number of seconds before ``exp``, and ``aud`` is for others. The message holds
                no value.
        """
        if not self._issues:
            raise DefinitionError("tokens: a public key reads tokens only; to issue them give the private key")
        now = time.time()
        claims = {**payload, "iat": int(now), "exp": int(now + self._lifetime)}
        try:
            token = self._jwt.encode(claims, self._signing, algorithm=self._algorithm)
            read = self._decode(token, {"verify_exp": False, "verify_nbf": False})
        except (TypeError, ValueError, RecursionError, jwt.PyJWTError) as error:
            raise UsageError(f"tokens: no token can have this payload: {error}") from None
        if "nbf" in read and read["nbf"] >= read["exp"]:
            raise UsageError("tokens: no token can have this payload: it expires before nbf")
        return token

    def read(self, token: str) -> dict[str, Any]:
        """Return the payload of a token.

        Raises:
            Unauthenticated: anything is wrong with it. The message is the contract's and never says what.
        """
        try:
            return self._decode(token)
        except Exception as error:  # The seam: PyJWT 2.15 also lets UnicodeEncodeError and RecursionError through.
            raise Unauthenticated(messages.BAD_TOKEN) from error

    def _decode(self, token: str, options: Any = None) -> dict[str, Any]:
        payload = self._verify(token, options)
        # PyJWT 2.15 accepts any number, and text that reads as one.
        for name in ("exp", "nbf"):
            time_ = payload.get(name, 0)
            if type(time_) not in (int, float) or not 0 <= time_ < _END_OF_TIME:
                raise jwt.DecodeError(f"{name} is not a number of seconds before the year 10000")
        return payload

    def _verify(self, token: str, options: Any) -> dict[str, Any]:
        *others, last = self._reading
        for key in others:
            with suppress(jwt.InvalidSignatureError):
                return self._jwt.decode(token, key, algorithms=[self._algorithm], options=options)
        return self._jwt.decode(token, last, algorithms=[self._algorithm], options=options)

    def __repr__(self) -> str:
        return f"Tokens(algorithm={self._algorithm!r})"


class _Library(jwt.PyJWT):
    """PyJWT with one algorithm, whose key `_checked_key` has prepared.

    PyJWT 2.15 has no public way to prepare a key, and would check for each token whether a secret is a key in PEM, DER
    or JSON, which takes as long again as reading it. A version without ``_jws`` would do that, with the same results.
    """

    def __init__(self, options: Any, algorithm: Algorithm) -> None:
        super().__init__(options)
        self._jws = jwt.PyJWS(algorithms=[algorithm])
        method: Any = self._jws.get_algorithm_by_name(algorithm)  # of this PyJWS alone
        method.prepare_key = lambda key: key


def key_from_environment(environ: Mapping[str, str]) -> str:
    """Return the key in ``GATEWAYFW_TOKEN_KEY``.

    Without one, and with ``GATEWAYFW_ENV=development``, a random one is made and a warning logged.
    It lasts as long as the process: after a restart all tokens are invalid, and workers that each load the app make
    their own keys and refuse each other's tokens. Load the app before the workers are forked (``gunicorn --preload``),
    or set the variable in the master.

    Raises:
        DefinitionError: there is no key, outside development.
    """
    if key := environ.get(KEY_VARIABLE):
        return key
    if not is_development(environ):
        raise DefinitionError(
            f"no token key: set {KEY_VARIABLE} to a secret of at least 32 bytes "
            '(python -c "import secrets; print(secrets.token_hex(32))"), or GATEWAYFW_ENV=development for a random one'
        )
    _LOG.warning("%s is not set: tokens are signed with a random key and end with this process", KEY_VARIABLE)
    return secrets.token_hex(32)


def fallbacks_from_environment(environ: Mapping[str, str]) -> list[str]:
    """Return the keys in ``GATEWAYFW_TOKEN_KEY_FALLBACKS``, separated by commas."""
    return [key.strip() for key in environ.get(FALLBACKS_VARIABLE, "").split(",") if key.strip()]


def _checked_key(key: object, algorithm: str) -> Any:
    """Return a key as PyJWT prepares it: secret bytes, or a public or private key."""
    if not isinstance(key, (str, bytes)):
        raise DefinitionError(f"tokens: the key must be text or bytes, not {type(key).__name__}")
    try:
        encoded = key.encode() if isinstance(key, str) else key
    except UnicodeEncodeError:
        raise DefinitionError("tokens: the key is not valid text") from None
    least = _SECRET_BYTES.get(algorithm, 0)
    if len(encoded) < least:
        raise DefinitionError(f"tokens: the key must have at least {least} bytes, this one has {len(encoded)}")
    try:
        method = jwt.get_algorithm_by_name(algorithm)
    except NotImplementedError as error:
        raise missing_extra(f"tokens: {algorithm}", "cryptography", "crypto") from error
    try:
        prepared = method.prepare_key(encoded)
        fits = method.check_key_length(prepared) is None
    except Exception:  # The seam: cryptography has exceptions of its own, and their texts describe the key.
        fits = False
    if not fits:
        other = f"a secret, and the key is one for another algorithm ({', '.join(_KEYS)})"
        wanted = f"{_KEYS[algorithm]}, in PEM without a password" if algorithm in _KEYS else other
        raise DefinitionError(f"tokens: {algorithm} takes {wanted}")
    return prepared

"""How passwords are stored: always as hashes.

The contract asks for SHA-256, taken literally without salt: `Sha256Hasher`. A new service should use `Pbkdf2Hasher`; it
verifies the other's hashes too, so that switching takes one line.
"""

import hashlib
import re
import secrets
import unicodedata
from base64 import b64decode, b64encode
from dataclasses import dataclass
from hmac import compare_digest
from typing import Protocol, final

from gatewayfw import messages
from gatewayfw.errors import DefinitionError, ValidationError

#: The longest password in bytes of UTF-8; our choice.
MAX_BYTES = 4096

#: The spaces of Unicode that are none of ASCII.
_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_PBKDF2 = re.compile(r"pbkdf2_sha256\$([0-9]{1,9})\$([A-Za-z0-9]{1,64})\$([A-Za-z0-9+/]{43}=)")


class PasswordHasher(Protocol):
    """What a service needs to store and check passwords."""

    def hash(self, password: str) -> str:
        """Return what to store for a password.

        Raises:
            ValidationError: it has more than `MAX_BYTES` bytes, or is not valid text.
        """

    def verify(self, password: str, stored: str) -> bool:
        """Tell whether a password belongs to a stored hash, in constant time."""

    def needs_rehash(self, stored: str) -> bool:
        """Tell whether a stored hash is outdated: replace it at the next login."""


@final
class Sha256Hasher:
    """The specification's: 64 lower-case hexadecimal digits of SHA-256, no salt."""

    def hash(self, password: str) -> str:
        """Return the digest; see `PasswordHasher`."""
        return hashlib.sha256(_encode(password)).hexdigest()

    def verify(self, password: str, stored: str) -> bool:
        """Tell whether the digest is that of the password."""
        given = _given(password)
        return given is not None and _is_sha256(given, stored)

    def needs_rehash(self, stored: str) -> bool:
        """Tell whether the stored hash has another format."""
        return not _SHA256.fullmatch(stored)


@final
@dataclass(frozen=True)
class Pbkdf2Hasher:
    """Salted PBKDF2 with SHA-256, in Django's format.

    The format is ``pbkdf2_sha256$<iterations>$<salt>$<hash>``. It also verifies the plain digests of `Sha256Hasher`,
    which then need a re-hash. Keyboards spell the same letter in several ways, so the spaces and letters of a password
    are brought into one form first (RFC 8265, OpaqueString: a space, and NFC). Hashes of a password as it was typed,
    which earlier versions and other programs made, still match that spelling.

    After ``iterations`` was lowered, give the former number as ``least_work``: `verify` takes at least as many rounds,
    whether a hash is old, new, or that of nobody. Numbers that are no positive integers raise a DefinitionError.
    """

    iterations: int = 600_000
    least_work: int = 0

    def __post_init__(self) -> None:
        if type(self.iterations) is not int or not 0 < self.iterations < 10**9:
            raise DefinitionError("Pbkdf2Hasher: iterations must be a positive integer")
        if type(self.least_work) is not int or not 0 <= self.least_work < 10**9:
            raise DefinitionError("Pbkdf2Hasher: least_work must be a number of iterations")

    def hash(self, password: str) -> str:
        """Return the hash of a password with a new salt; see `PasswordHasher`."""
        encoded, salt = _uniform(_encode(password)), secrets.token_hex(16)
        return f"pbkdf2_sha256${self.iterations}${salt}${_derive(encoded, salt, self.iterations)}"

    def verify(self, password: str, stored: str) -> bool:
        """Tell whether the password belongs to the hash.

        Verifying a plain digest, or a hash with fewer rounds, takes as long as one with ``iterations``, so that the
        time does not show whether a user is known: for an unknown user a login verifies some other hash. A password
        that is not in the one form is tried in both, whatever the hash is.
        """
        given = _given(password)
        if given is None:
            return False
        results = [self._matches(each, stored) for each in dict.fromkeys((_uniform(given), given))]
        return any(results)

    def _matches(self, given: bytes, stored: str) -> bool:
        work = max(self.iterations, self.least_work)
        found = _PBKDF2.fullmatch(stored)
        if found is None:
            _derive(given, "", work)
            return _is_sha256(given, stored)
        salt, expected, rounds = found[2], found[3], max(1, int(found[1]))
        derived = _derive(given, salt, rounds)
        if rounds < work:
            _derive(given, "", work - rounds)
        return compare_digest(b64decode(derived), b64decode(expected))

    def needs_rehash(self, stored: str) -> bool:
        """Tell whether a hash is a plain digest, or has another number of iterations."""
        found = _PBKDF2.fullmatch(stored)
        return found is None or int(found[1]) != self.iterations


def _derive(password: bytes, salt: str, iterations: int) -> str:
    return b64encode(hashlib.pbkdf2_hmac("sha256", password, salt.encode(), iterations)).decode()


def _is_sha256(password: bytes, stored: str) -> bool:
    expected = stored if _SHA256.fullmatch(stored) else ""
    return compare_digest(hashlib.sha256(password).hexdigest(), expected)


def _uniform(password: bytes) -> bytes:
    """Return a password in the one form of all its spellings: RFC 8265, section 4.2."""
    if password.isascii():
        return password
    return unicodedata.normalize("NFC", _SPACES.sub(" ", password.decode())).encode()


def _encode(password: str) -> bytes:
    given = _given(password)
    if given is None:
        raise ValidationError({"password": [messages.TOO_MANY_BYTES.format(max=MAX_BYTES)]})
    return given


def _given(password: str) -> bytes | None:
    """Return the bytes to hash; None if no stored hash can match."""
    try:
        encoded = password.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return None
    return encoded if len(encoded) <= MAX_BYTES else None

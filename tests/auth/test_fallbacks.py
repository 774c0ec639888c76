"""Keys that only read: a new key logs nobody out."""

from __future__ import annotations

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from gatewayfw.auth import Tokens
from gatewayfw.errors import DefinitionError, Unauthenticated

KEY, OLD, OLDER = "k" * 32, "o" * 32, "p" * 32
ID = "0123456789abcdef01234567"


def signed(payload, key=OLD, algorithm="HS256"):
    return jwt.encode(payload, key, algorithm=algorithm)


def test_tokens_of_fallbacks_are_read_and_the_key_signs():
    tokens = Tokens(KEY, fallbacks=[OLD, OLDER])
    assert [tokens.read(signed({"_id": ID}, key)) for key in (KEY, OLD, OLDER)] == [{"_id": ID}] * 3
    assert Tokens(KEY).read(tokens.issue({"_id": ID}))["_id"] == ID


def test_each_process_reads_the_tokens_of_the_others_in_each_step_of_a_rotation():
    before, next_is_known = Tokens(OLD), Tokens(OLD, fallbacks=[KEY])
    changed, after = Tokens(KEY, fallbacks=[OLD]), Tokens(KEY)
    for one, other in ((before, next_is_known), (next_is_known, changed)):
        assert one.read(other.issue({"_id": ID}))["_id"] == other.read(one.issue({"_id": ID}))["_id"] == ID
    assert after.read(changed.issue({"_id": ID}))["_id"] == ID


def test_a_private_key_may_be_a_fallback_and_so_may_a_public_one():
    old, new = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    encoding, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    private, other = (key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, plain) for key in (old, new))
    public = old.public_key().public_bytes(encoding, serialization.PublicFormat.SubjectPublicKeyInfo)
    token = Tokens(private, algorithm="ES256").issue({"_id": ID})
    read = [Tokens(other, algorithm="ES256", fallbacks=[key]).read(token)["_id"] for key in (private, public)]
    assert read == [ID, ID]


@pytest.mark.parametrize(
    "token",
    [
        signed({"_id": ID}, "q" * 32),
        signed({"_id": ID, "exp": 1}),
        signed({"_id": ID, "exp": 1}, KEY),
        signed({"_id": ID}, OLD * 2, "HS512"),
        signed({"_id": ID})[:-1],
        "",
    ],
    ids=["another key", "expired", "expired, of the key", "another algorithm", "cut", "empty"],
)
def test_fallbacks_open_no_other_door(token):
    with pytest.raises(Unauthenticated, match="^Invalid or expired token$"):
        Tokens(KEY, fallbacks=[OLD, OLDER]).read(token)


@pytest.mark.parametrize(
    ("fallbacks", "message"),
    [
        (OLD, "tokens: fallbacks must be a list of keys"),
        ({OLD}, "tokens: fallbacks must be a list of keys"),
        (["short"], "tokens: the key must have at least 32 bytes, this one has 5"),
        ([OLD, None], "tokens: the key must be text or bytes, not NoneType"),
    ],
)
def test_unusable_fallbacks_are_definition_errors(fallbacks, message):
    with pytest.raises(DefinitionError) as raised:
        Tokens(KEY, fallbacks=fallbacks)
    assert raised.value.message == message

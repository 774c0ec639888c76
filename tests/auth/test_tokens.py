"""Tokens: what is issued, what is read, and everything that is refused with one message."""

from __future__ import annotations

import base64
import json
import logging
import time

import jwt
import pytest

from gatewayfw.auth import Tokens, key_from_environment
from gatewayfw.errors import DefinitionError, Unauthenticated

KEY = "k" * 32
ID = "0123456789abcdef01234567"


@pytest.fixture
def tokens():
    return Tokens(KEY)


def signed(payload, key=KEY, algorithm="HS256", **more):
    return jwt.encode(payload, key, algorithm=algorithm, **more)


def handmade(header, payload, key=KEY):
    """A token whose parts need not be what a library would write, correctly signed."""
    encoded = [
        base64.urlsafe_b64encode(part if isinstance(part, bytes) else json.dumps(part).encode()).rstrip(b"=")
        for part in (header, payload)
    ]
    message = b".".join(encoded)
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(message, key.encode())
    return (message + b"." + base64.urlsafe_b64encode(signature).rstrip(b"=")).decode()


def test_issued_token_carries_payload_and_times(tokens):
    before = int(time.time())
    payload = tokens.read(tokens.issue({"_id": ID, "exp": 1, "iat": 2}))
    times = payload.pop("iat"), payload.pop("exp")
    assert payload == {"_id": ID}
    assert before <= times[0] <= time.time()
    assert 0 <= times[1] - times[0] - 7 * 24 * 3600 <= 1


def test_token_without_expiry_is_read_by_default(tokens):
    assert tokens.read(signed({"_id": ID})) == {"_id": ID}


def test_token_without_expiry_is_refused_when_expiry_is_required():
    strict = Tokens(KEY, require_exp=True)
    assert strict.read(strict.issue({"_id": ID}))["_id"] == ID
    with pytest.raises(Unauthenticated, match=r"^Invalid or expired token$"):
        strict.read(signed({"_id": ID}))


def test_token_of_a_server_whose_clock_is_ahead_is_read(tokens):
    assert tokens.read(signed({"_id": ID, "iat": int(time.time()) + 60}))["_id"] == ID


BAD = {
    "empty": "",
    "text": "nonsense",
    "two parts": "a.b",
    "another key": signed({"_id": ID}, "x" * 32),
    "another algorithm": signed({"_id": ID}, "k" * 64, "HS512"),
    "expired": signed({"_id": ID, "exp": 1}),
    "not yet valid": signed({"_id": ID, "nbf": 2**33}),
    "for another audience": signed({"_id": ID, "aud": "others"}),
    "cut": signed({"_id": ID})[:-2],
    "unsigned": jwt.encode({"_id": ID}, None, algorithm="none"),
    "alg none, signed": handmade({"alg": "none"}, {"_id": ID}),
    "alg missing": handmade({"typ": "JWT"}, {"_id": ID}),
    "alg a list": handmade({"alg": ["HS256"]}, {"_id": ID}),
    "alg an object": handmade({"alg": {"HS256": 1}}, {"_id": ID}),
    "alg RS256": handmade({"alg": "RS256"}, {"_id": ID}),
    "unknown crit": handmade({"alg": "HS256", "crit": ["x"], "x": 1}, {"_id": ID}),
    "b64 false": handmade({"alg": "HS256", "b64": False, "crit": ["b64"]}, {"_id": ID}),
    "header a list": handmade([], {"_id": ID}),
    "payload a list": handmade({"alg": "HS256"}, [ID]),
    "payload text": handmade({"alg": "HS256"}, ID),
    "payload no JSON": handmade({"alg": "HS256"}, b"{"),
    "payload no UTF-8": handmade({"alg": "HS256"}, b'{"_id": "\xff"}'),
    "exp text": handmade({"alg": "HS256"}, {"exp": "tomorrow"}),
    "exp NaN": handmade({"alg": "HS256"}, {"exp": float("nan")}),
    "exp infinite": handmade({"alg": "HS256"}, {"exp": float("inf")}),
    "deep header": handmade(b'{"alg": "HS256", "x": ' + b"[" * 100_000, {"_id": ID}),
    "deep payload": handmade({"alg": "HS256"}, b"[" * 100_000),
    "lone surrogate": "\ud800.a.b",
    "no text": 5,
    "None": None,
}


@pytest.mark.parametrize("token", BAD.values(), ids=BAD)
def test_bad_token_is_refused_without_a_reason(tokens, token):
    with pytest.raises(Unauthenticated) as caught:
        tokens.read(token)
    assert (caught.value.message, caught.value.status) == ("Invalid or expired token", 401)


def test_handmade_token_that_is_right_is_read(tokens):
    assert tokens.read(handmade({"alg": "HS256"}, {"_id": ID})) == {"_id": ID}


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ("k" * 31, {}, "tokens: the key must have at least 32 bytes, this one has 31"),
        ("k" * 47, {"algorithm": "HS384"}, "tokens: the key must have at least 48 bytes, this one has 47"),
        (b"", {}, "tokens: the key must have at least 32 bytes, this one has 0"),
        (None, {}, "tokens: the key must be text or bytes, not NoneType"),
        ("\ud800" * 32, {}, "tokens: the key is not valid text"),
        (KEY, {"algorithm": "none"}, "tokens: algorithm must be one of HS256, HS384, HS512"),
        (KEY, {"lifetime": 0}, "tokens: lifetime must be a positive number of seconds"),
        (KEY, {"lifetime": True}, "tokens: lifetime must be a positive number of seconds"),
    ],
)
def test_unusable_option_is_a_definition_error(key, options, message):
    with pytest.raises(DefinitionError) as caught:
        Tokens(key, **options)
    assert caught.value.message == message


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_each_algorithm_reads_its_own_tokens(algorithm):
    tokens = Tokens(b"\xff" * 64, algorithm=algorithm)
    assert tokens.read(tokens.issue({"_id": ID}))["_id"] == ID


def test_key_never_shows(tokens):
    assert repr(tokens) == "Tokens(algorithm='HS256')"


def test_key_is_read_from_the_environment():
    assert key_from_environment({"GATEWAYFW_TOKEN_KEY": KEY}) == KEY


@pytest.mark.parametrize("environ", [{}, {"GATEWAYFW_TOKEN_KEY": ""}, {"GATEWAYFW_ENV": "production"}])
def test_no_key_is_a_definition_error(environ):
    with pytest.raises(DefinitionError, match="^no token key: set GATEWAYFW_TOKEN_KEY to a secret of at least 32 byte"):
        key_from_environment(environ)


def test_development_gets_a_random_key_and_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        keys = [key_from_environment({"GATEWAYFW_ENV": "development"}) for _ in range(2)]
    assert [len(key) for key in keys] == [64, 64]
    assert keys[0] != keys[1]
    assert keys[0] not in caplog.text
    assert "tokens are signed with a random key and end with this process" in caplog.messages[0]

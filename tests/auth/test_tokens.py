"""Tokens: what is issued, what is read, and everything that is refused with one message."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from bson import ObjectId
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from hypothesis import given
from hypothesis import strategies as st
from jwt.algorithms import HMACAlgorithm

from gatewayfw.auth import Tokens, fallbacks_from_environment, key_from_environment
from gatewayfw.errors import DefinitionError, Unauthenticated, UsageError
from tests.examples import examples

KEY = "k" * 32
ID = "0123456789abcdef01234567"

LOOP: dict[str, Any] = {}
LOOP["loop"] = LOOP


@pytest.fixture
def tokens():
    return Tokens(KEY)


def signed(payload, key=KEY, algorithm="HS256", **more):
    return jwt.encode(payload, key, algorithm=algorithm, **more)


def base64url(part):
    data = part if isinstance(part, bytes) else json.dumps(part).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def joined(header, payload, sign):
    """A token whose parts need not be what a library would write, signed by a function of its bytes."""
    message = f"{base64url(header)}.{base64url(payload)}"
    return f"{message}.{base64url(sign(message.encode()))}"


def handmade(header, payload, key=KEY):
    """The same, correctly signed with HS256."""
    return joined(header, payload, lambda message: hmac.digest(key.encode(), message, hashlib.sha256))


def test_issued_token_carries_payload_and_times(tokens):
    before = int(time.time())
    payload = tokens.read(tokens.issue({"_id": ID, "exp": 1, "iat": 2}))
    times = payload.pop("iat"), payload.pop("exp")
    assert payload == {"_id": ID}
    assert before <= times[0] <= time.time()
    assert 0 <= times[1] - times[0] - 7 * 24 * 3600 <= 1


#: Payloads of tokens that nobody could ever use, and what is said of them.
UNREADABLE = {
    "sub a number": ({"sub": 17}, "Subject must be a string"),
    "sub null": ({"sub": None}, "Subject must be a string"),
    "jti a number": ({"jti": 17}, "JWT ID must be a string"),
    "iss a number": ({"iss": 17}, "Issuer .iss. must be a string"),
    "aud": ({"aud": "others"}, "Invalid audience"),
    "aud a list": ({"aud": ["others"]}, "Invalid audience"),
    "nbf text": ({"nbf": "1"}, "nbf is not a number of seconds"),
    "nbf null": ({"nbf": None}, "nbf is not a number of seconds"),
    "nbf true": ({"nbf": True}, "nbf is not a number of seconds"),
    "nbf below zero": ({"nbf": -1}, "nbf is not a number of seconds"),
    "nbf after the year 9999": ({"nbf": 10**12}, "nbf is not a number of seconds"),
    "nbf after exp": ({"nbf": 2**33}, "it expires before nbf"),
    "an id that is no text": ({"_id": ObjectId(ID)}, "ObjectId is not JSON serializable"),
    "a loop": (LOOP, "Circular reference"),
}


@pytest.mark.parametrize(("payload", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_read_would_refuse_is_not_issued(tokens, payload, message):
    with pytest.raises(UsageError, match=f"^tokens: no token can have this payload: .*{message}"):
        tokens.issue({"_id": ID, **payload})


_VALUES = st.sampled_from(["a", "", 0, 1, 1.5, -1, 10**9, 2**33, 10**12, True, None, [], ["a"], {"a": 1}])
_CLAIMS = st.sampled_from(["sub", "jti", "iss", "nbf", "aud", "iat", "exp", "more"])


@examples(100)
@given(st.dictionaries(_CLAIMS, _VALUES, min_size=1, max_size=3))
def test_random_payloads_that_are_issued_are_read(payload):
    try:
        token = Tokens(KEY).issue({"_id": ID, **payload})
    except UsageError:
        return
    kept = {name: value for name, value in payload.items() if name not in ("iat", "exp")}
    assert Tokens(KEY).read(token).items() >= kept.items()


def test_a_lifetime_beyond_the_end_of_time_issues_nothing():
    with pytest.raises(UsageError, match="exp is not a number of seconds"):
        Tokens(KEY, lifetime=10**12).issue({"_id": ID})


@pytest.mark.parametrize(
    "payload", [{"sub": "a", "jti": "b", "iss": "c"}, {"nbf": 0}, {"aud": ""}, {"aud": []}, {"iat": "x", "exp": "y"}]
)
def test_what_read_takes_is_issued(tokens, payload):
    kept = {name: value for name, value in payload.items() if name not in ("iat", "exp")}
    assert tokens.read(tokens.issue({"_id": ID, **payload})).items() >= kept.items()


def test_a_token_may_begin_to_count_later(tokens):
    token = tokens.issue({"_id": ID, "nbf": int(time.time()) + 3600})
    with pytest.raises(Unauthenticated):
        tokens.read(token)


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
    "exp a number as text": handmade({"alg": "HS256"}, {"exp": "9999999999"}),
    "exp 1e308": handmade({"alg": "HS256"}, {"exp": 1e308}),
    "exp after the year 9999": handmade({"alg": "HS256"}, {"exp": 253402300800}),
    "exp 400 digits": handmade({"alg": "HS256"}, {"exp": 10**400}),
    "exp 5000 digits": handmade({"alg": "HS256"}, b'{"exp": ' + b"9" * 5000 + b"}"),
    "exp true": handmade({"alg": "HS256"}, {"exp": True}),
    "exp null": handmade({"alg": "HS256"}, {"exp": None}),
    "exp a list": handmade({"alg": "HS256"}, {"exp": [9999999999]}),
    "exp an object": handmade({"alg": "HS256"}, {"exp": {"$gt": 0}}),
    "exp below zero": handmade({"alg": "HS256"}, {"exp": -1}),
    "nbf as text": handmade({"alg": "HS256"}, {"nbf": "0"}),
    "nbf below zero": handmade({"alg": "HS256"}, {"nbf": -1e308}),
    "kid a number": handmade({"alg": "HS256", "kid": 5}, {"_id": ID}),
    "kid an object": handmade({"alg": "HS256", "kid": {"$ne": None}}, {"_id": ID}),
    "alg in lower case": handmade({"alg": "hs256"}, {"_id": ID}),
    "alg null": handmade({"alg": None}, {"_id": ID}),
    "crit empty": handmade({"alg": "HS256", "crit": []}, {"_id": ID}),
    "crit text": handmade({"alg": "HS256", "crit": "exp"}, {"_id": ID}),
    "header text": handmade("HS256", {"_id": ID}),
    "header null": handmade(None, {"_id": ID}),
    "header no JSON": handmade(b"{", {"_id": ID}),
    "header no UTF-8": handmade(b'{"alg": "HS256", "x": "\xff"}', {"_id": ID}),
    "payload null": handmade({"alg": "HS256"}, None),
    "payload empty": handmade({"alg": "HS256"}, b""),
    "payload deep and closed": handmade({"alg": "HS256"}, b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "signature empty": signed({"_id": ID}).rpartition(".")[0] + ".",
    "signature missing": signed({"_id": ID}).rpartition(".")[0],
    "four parts": signed({"_id": ID}) + ".e30",
    "five parts": "a.b.c.d.e",
    "two tokens": signed({"_id": ID}) + "," + signed({"_id": ID}),
    "with a scheme": "Bearer " + signed({"_id": ID}),
    "only dots": "..",
    "NUL": signed({"_id": ID}) + "\0",
    "1 MB": "a" * 1_000_000,
    "1 MB of dots": "." * 1_000_000,
    "1 MB header": handmade(b'{"alg": "HS512", "x": "' + b"x" * 1_000_000 + b'"}', {"_id": ID}),
    "1 MB signature": signed({"_id": ID}) + "A" * 1_000_000,
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


@pytest.mark.parametrize(
    "header",
    [{}, {"typ": "x"}, {"kid": "../../dev/null"}, {"kid": "' OR 1=1"}, {"b64": True}],
    ids=repr,
)
def test_handmade_token_that_is_right_is_read(tokens, header):
    assert tokens.read(handmade({"alg": "HS256", **header}, {"_id": ID})) == {"_id": ID}


def test_last_second_that_is_a_time_is_read(tokens):
    assert tokens.read(signed({"exp": 253402300799, "nbf": 0})) == {"exp": 253402300799, "nbf": 0}


def test_large_token_is_read(tokens):
    payload = {"_id": ID, "x": "x" * 1_000_000}
    assert tokens.read(signed(payload)) == payload


@pytest.mark.parametrize(
    ("key", "options", "message"),
    [
        ("k" * 31, {}, "tokens: the key must have at least 32 bytes, this one has 31"),
        ("k" * 47, {"algorithm": "HS384"}, "tokens: the key must have at least 48 bytes, this one has 47"),
        (b"", {}, "tokens: the key must have at least 32 bytes, this one has 0"),
        (None, {}, "tokens: the key must be text or bytes, not NoneType"),
        ("\ud800" * 32, {}, "tokens: the key is not valid text"),
        (
            KEY,
            {"algorithm": "none"},
            "tokens: algorithm must be one of HS256, HS384, HS512, RS256, RS384, RS512, ES256, ES384, ES512",
        ),
        (KEY, {"lifetime": 0}, "tokens: lifetime must be a positive number of seconds"),
        *(
            (KEY, {"lifetime": seconds}, "tokens: lifetime must be a positive number of seconds")
            for seconds in (True, "1", None, -1, float("inf"), float("nan"))
        ),
        ("k" * 63, {"algorithm": "HS512"}, "tokens: the key must have at least 64 bytes, this one has 63"),
    ],
)
def test_unusable_option_is_a_definition_error(key, options, message):
    with pytest.raises(DefinitionError) as caught:
        Tokens(key, **options)
    assert caught.value.message == message


@pytest.mark.parametrize("lifetime", [1, 0.5, 10**6])
def test_a_token_lasts_as_long_as_is_said(lifetime):
    tokens = Tokens(KEY, lifetime=lifetime)
    before = time.time()
    expires = jwt.decode(tokens.issue({}), KEY, algorithms=["HS256"], options={"verify_exp": False})["exp"]
    assert int(before + lifetime) <= expires <= time.time() + lifetime


@pytest.mark.parametrize(("algorithm", "size"), [("HS256", 32), ("HS384", 48), ("HS512", 64)])
def test_a_key_as_long_as_the_hash_is_long_enough(algorithm, size):
    assert Tokens("k" * size, algorithm=algorithm).read(signed({"_id": ID}, "k" * size, algorithm)) == {"_id": ID}


@pytest.mark.parametrize("algorithm", ["HS256", "HS384", "HS512"])
def test_each_algorithm_reads_its_own_tokens(algorithm):
    tokens = Tokens(b"\xff" * 64, algorithm=algorithm)
    assert tokens.read(tokens.issue({"_id": ID}))["_id"] == ID


def test_secret_is_prepared_once_and_for_these_tokens_only(monkeypatch):
    tokens = Tokens(KEY)
    monkeypatch.setattr(HMACAlgorithm, "prepare_key", None)
    assert tokens.read(tokens.issue({"_id": ID}))["_id"] == ID
    monkeypatch.undo()
    with pytest.raises(jwt.InvalidKeyError):
        signed({}, key="")


def pem(key):
    """Both parts of a key as text: private and public."""
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    return private.decode(), public.decode()


RSA = rsa.generate_private_key(65537, 2048)
PRIVATE, PUBLIC = pem(RSA)
CURVES = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}
PAIRS = {
    **dict.fromkeys(("RS256", "RS384", "RS512"), (PRIVATE, PUBLIC)),
    **{algorithm: pem(ec.generate_private_key(curve)) for algorithm, curve in CURVES.items()},
}


@pytest.mark.parametrize("algorithm", PAIRS)
def test_private_key_issues_what_both_keys_read(algorithm):
    private, public = (Tokens(key, algorithm=algorithm) for key in PAIRS[algorithm])
    token = private.issue({"_id": ID})
    assert private.read(token) == public.read(token)
    assert public.read(token)["_id"] == ID


@pytest.mark.parametrize("algorithm", PAIRS)
def test_public_key_issues_nothing(algorithm):
    with pytest.raises(DefinitionError) as caught:
        Tokens(PAIRS[algorithm][1].encode(), algorithm=algorithm).issue({"_id": ID})
    assert caught.value.message == "tokens: a public key reads tokens only; to issue them give the private key"


def signature_of_nothing(size):
    """ECDSA with r = s = 0, which a library of 2022 took for everybody's signature."""
    return joined({"alg": "ES256"}, {"_id": ID}, lambda _: b"\0" * size)


BAD_FOR_KEY_PAIRS = {
    "HS256 with the public key": ("RS256", handmade({"alg": "HS256"}, {"_id": ID}, PUBLIC)),
    "RS256 signed with the public key": ("RS256", handmade({"alg": "RS256"}, {"_id": ID}, PUBLIC)),
    "HS256 with the public EC key": ("ES256", handmade({"alg": "HS256"}, {"_id": ID}, PAIRS["ES256"][1])),
    "unsigned": ("RS256", jwt.encode({"_id": ID}, None, algorithm="none")),
    "another RSA key": ("RS256", signed({"_id": ID}, rsa.generate_private_key(65537, 2048), "RS256")),
    "another hash": ("RS256", signed({"_id": ID}, PRIVATE, "RS512")),
    "another padding": ("RS256", signed({"_id": ID}, PRIVATE, "PS256")),
    "another EC key": ("ES256", signed({"_id": ID}, ec.generate_private_key(ec.SECP256R1()), "ES256")),
    "another curve": ("ES256", signed({"_id": ID}, PAIRS["ES384"][0], "ES384")),
    "r and s zero": ("ES256", signature_of_nothing(64)),
    "r and s empty": ("ES256", signature_of_nothing(0)),
    "r without s": ("ES256", signature_of_nothing(32)),
    "r and s the order of the curve": (
        "ES256",
        joined(
            {"alg": "ES256"},
            {"_id": ID},
            lambda _: bytes.fromhex("ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551") * 2,
        ),
    ),
}


@pytest.mark.parametrize(("algorithm", "token"), BAD_FOR_KEY_PAIRS.values(), ids=BAD_FOR_KEY_PAIRS)
def test_bad_token_of_a_key_pair_is_refused_without_a_reason(algorithm, token):
    with pytest.raises(Unauthenticated) as caught:
        Tokens(PAIRS[algorithm][1], algorithm=algorithm).read(token)
    assert (caught.value.message, caught.value.status) == ("Invalid or expired token", 401)


@pytest.mark.parametrize("name", ["jku", "x5u", "jwk", "x5c"])
def test_key_that_a_token_brings_along_is_neither_fetched_nor_used(name, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it connected"))
    own = rsa.generate_private_key(65537, 2048)
    jwk = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(own.public_key()))
    brought = {"jku": "http://127.0.0.1:9/keys", "x5u": "http://127.0.0.1:9/key", "jwk": jwk, "x5c": ["AAAA"]}[name]
    tokens = Tokens(PUBLIC, algorithm="RS256")
    assert tokens.read(signed({"_id": ID}, PRIVATE, "RS256", headers={name: brought})) == {"_id": ID}
    with pytest.raises(Unauthenticated, match=r"^Invalid or expired token$"):
        tokens.read(signed({"_id": ID}, own, "RS256", headers={name: brought}))


def encrypted(key):
    """A private key under a password."""
    how = serialization.BestAvailableEncryption(b"password")
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, how)


def ssh(key):
    """A public key as ssh writes it."""
    return key.public_key().public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)


DER = RSA.public_key().public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
OTHERS = "RS256, RS384, RS512, ES256, ES384, ES512"
NO_SECRET = f"tokens: HS256 takes a secret, and the key is one for another algorithm ({OTHERS})"
NO_RSA = "tokens: RS256 takes an RSA key of at least 2048 bits, in PEM without a password"
NO_P256 = "tokens: ES256 takes an EC key on the curve P-256, in PEM without a password"
CERTIFICATE = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"

WRONG_KEYS = {
    "public key as a secret": (PUBLIC, "HS256", NO_SECRET),
    "private key as a secret": (PRIVATE, "HS256", NO_SECRET),
    "EC key as a secret": (PAIRS["ES256"][1], "HS256", NO_SECRET),
    "certificate as a secret": (CERTIFICATE, "HS256", NO_SECRET),
    "key of ssh as a secret": (ssh(RSA), "HS256", NO_SECRET),
    "key in DER as a secret": (DER, "HS256", NO_SECRET),
    "JWK as a secret": (json.dumps({"kty": "oct", "k": "k" * 43}), "HS256", NO_SECRET),
    "secret": (KEY, "RS256", NO_RSA),
    "empty": ("", "RS256", NO_RSA),
    "1024 bits": (pem(rsa.generate_private_key(65537, 1024))[0], "RS256", NO_RSA),
    "1024 bits, public": (pem(rsa.generate_private_key(65537, 1024))[1], "RS256", NO_RSA),
    "EC key for RSA": (PAIRS["ES256"][0], "RS256", NO_RSA),
    "public EC key for RSA": (PAIRS["ES256"][1], "RS256", NO_RSA),
    "encrypted": (encrypted(RSA), "RS256", NO_RSA),
    "certificate": (CERTIFICATE, "RS256", NO_RSA),
    "DER": (DER, "RS256", NO_RSA),
    "cut": (PUBLIC[:200], "RS256", NO_RSA),
    "Ed25519": (pem(ed25519.Ed25519PrivateKey.generate())[0], "RS256", NO_RSA),
    "secret for EC": (KEY, "ES256", NO_P256),
    "RSA key for EC": (PRIVATE, "ES256", NO_P256),
    "public RSA key for EC": (PUBLIC, "ES256", NO_P256),
    "another curve": (PAIRS["ES384"][0], "ES256", NO_P256),
    "another curve, public": (PAIRS["ES512"][1], "ES256", NO_P256),
    "curve of the same size": (pem(ec.generate_private_key(ec.SECP256K1()))[1], "ES256", NO_P256),
    "encrypted EC key": (encrypted(ec.generate_private_key(ec.SECP256R1())), "ES256", NO_P256),
}


@pytest.mark.parametrize(("key", "algorithm", "message"), WRONG_KEYS.values(), ids=WRONG_KEYS)
def test_key_of_another_kind_is_a_definition_error(key, algorithm, message):
    with pytest.raises(DefinitionError) as caught:
        Tokens(key, algorithm=algorithm)
    assert caught.value.message == message


def test_an_algorithm_that_the_library_lacks_names_the_extra(monkeypatch):
    def refuse(name):
        raise NotImplementedError

    monkeypatch.setattr(jwt, "get_algorithm_by_name", refuse)
    with pytest.raises(DefinitionError) as caught:
        Tokens(PRIVATE, algorithm="RS512")
    assert caught.value.message == (
        "tokens: RS512 needs the library cryptography: pip install cryptography, or the extra gatewayfw[crypto]"
    )


@pytest.mark.slow
def test_key_pair_without_the_extra_is_a_definition_error():
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from gatewayfw.auth import Tokens\n"
        "print(Tokens('k' * 32).read(Tokens('k' * 32).issue({'_id': 'x'}))['_id'])\n"
        "try:\n    Tokens('k' * 32, algorithm='ES256')\nexcept Exception as error:\n    print(repr(error))"
    )
    root = Path(__file__).parent.parent.parent
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines() == [
        "x",
        "DefinitionError('tokens: ES256 needs the library cryptography: pip install cryptography, "
        "or the extra gatewayfw[crypto]')",
    ]


def test_key_never_shows(tokens):
    assert repr(tokens) == "Tokens(algorithm='HS256')"
    assert repr(Tokens(PRIVATE, algorithm="RS256")) == "Tokens(algorithm='RS256')"


def test_key_is_read_from_the_environment():
    assert key_from_environment({"GATEWAYFW_TOKEN_KEY": KEY}) == KEY


def test_fallbacks_are_read_from_the_environment():
    texts = {"": [], KEY: [KEY], f" {KEY}, {'l' * 32},": [KEY, "l" * 32]}
    assert [fallbacks_from_environment({"GATEWAYFW_TOKEN_KEY_FALLBACKS": text}) for text in texts] == [*texts.values()]
    assert fallbacks_from_environment({}) == []


@pytest.mark.parametrize("environ", [{}, {"GATEWAYFW_TOKEN_KEY": ""}, {"GATEWAYFW_ENV": "production"}])
def test_no_key_is_a_definition_error(environ):
    with pytest.raises(DefinitionError) as caught:
        key_from_environment(environ)
    assert caught.value.message == (
        "no token key: set GATEWAYFW_TOKEN_KEY to a secret of at least 32 bytes "
        '(python -c "import secrets; print(secrets.token_hex(32))"), or GATEWAYFW_ENV=development for a random one'
    )


def test_development_gets_a_random_key_and_a_warning(caplog):
    with caplog.at_level(logging.WARNING):
        keys = [key_from_environment({"GATEWAYFW_ENV": "development"}) for _ in range(2)]
    assert [len(key) for key in keys] == [64, 64]
    assert keys[0] != keys[1]
    assert keys[0] not in caplog.text
    text = "GATEWAYFW_TOKEN_KEY is not set: tokens are signed with a random key and end with this process"
    assert caplog.record_tuples == [("gatewayfw.auth", logging.WARNING, text)] * 2

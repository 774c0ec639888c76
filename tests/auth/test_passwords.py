"""Password hashes: the contract's SHA-256, and the salted one that can replace it."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from dataclasses import FrozenInstanceError

import pytest

from gatewayfw.auth import Pbkdf2Hasher, Sha256Hasher
from gatewayfw.errors import DefinitionError, ValidationError

SHA = Sha256Hasher()
PBKDF2 = Pbkdf2Hasher(iterations=10)
HASHERS = [pytest.param(SHA, id="sha256"), pytest.param(PBKDF2, id="pbkdf2")]


def test_sha256_is_the_hex_digest():
    assert SHA.hash("secret") == hashlib.sha256(b"secret").hexdigest()


def test_pbkdf2_names_its_parameters_and_has_a_salt_of_its_own():
    first, second = PBKDF2.hash("secret"), PBKDF2.hash("secret")
    assert re.fullmatch(r"pbkdf2_sha256\$10\$[0-9a-f]{32}\$[A-Za-z0-9+/]{43}=", first)
    assert first != second


def test_pbkdf2_holds_what_the_standard_library_derives():
    derived = b64encode(hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 7)).decode()
    assert PBKDF2.verify("secret", f"pbkdf2_sha256$7$salt${derived}")


@pytest.mark.parametrize("hasher", HASHERS)
@pytest.mark.parametrize("password", ["secret", "", "pässwörd ☃", "x" * 4096])
def test_password_verifies_against_its_own_hash_only(hasher, password):
    stored = hasher.hash(password)
    assert hasher.verify(password, stored) is True
    assert hasher.verify(password[1:] + "y", stored) is False


@pytest.mark.parametrize("hasher", HASHERS)
@pytest.mark.parametrize("password", ["x" * 4097, "ä" * 2049, "\ud800"], ids=["bytes", "letters", "surrogate"])
def test_unusable_password_is_refused_and_never_matches(hasher, password):
    with pytest.raises(ValidationError) as caught:
        hasher.hash(password)
    assert caught.value.errors == {"password": ["Must be text of at most 4096 bytes."]}
    assert not hasher.verify(password, hasher.hash("secret"))


@pytest.mark.parametrize("hasher", HASHERS)
@pytest.mark.parametrize(
    "stored", ["", "secret", "pbkdf2_sha256$", "pbkdf2_sha256$x$y$z", "pbkdf2_sha256$10$salt$" + "A" * 10, "é" * 64]
)
def test_nothing_matches_what_is_no_hash(hasher, stored):
    assert hasher.verify("secret", stored) is False
    assert hasher.verify("", stored) is False


def test_upper_case_digest_does_not_match():
    assert not SHA.verify("secret", SHA.hash("secret").upper())


def test_plain_digest_is_read_and_wants_a_rehash_after_the_change_to_pbkdf2():
    plain = SHA.hash("secret")
    assert PBKDF2.verify("secret", plain) is True
    assert PBKDF2.verify("other", plain) is False
    assert PBKDF2.needs_rehash(plain) is True
    assert PBKDF2.needs_rehash(PBKDF2.hash("secret")) is False


def test_another_number_of_iterations_wants_a_rehash():
    stored = PBKDF2.hash("secret")
    assert Pbkdf2Hasher(11).verify("secret", stored) is True
    assert Pbkdf2Hasher(11).needs_rehash(stored) is True


@pytest.mark.parametrize(
    ("stored", "rounds"),
    [(Pbkdf2Hasher(3).hash("x"), 10), (PBKDF2.hash("x"), 10), (Pbkdf2Hasher(12).hash("x"), 12), (SHA.hash("x"), 10)],
    ids=["fewer", "as many", "more", "plain"],
)
@pytest.mark.parametrize("password", ["x", "y"])
def test_a_hash_of_fewer_rounds_takes_no_less_work(monkeypatch, stored, rounds, password):
    done = []
    derive = hashlib.pbkdf2_hmac
    monkeypatch.setattr(hashlib, "pbkdf2_hmac", lambda *given: done.append(given[3]) or derive(*given))
    assert (PBKDF2.verify(password, stored), sum(done)) == (password == "x", rounds)


COMPOSED, APART = "caf\u00e9 \u212b", "cafe\u0301\u00a0A\u030a"


@pytest.mark.parametrize(("first", "then"), [(COMPOSED, APART), (APART, COMPOSED), (APART, APART)])
def test_spellings_of_one_password_are_one(first, then):
    assert PBKDF2.verify(then, PBKDF2.hash(first))


@pytest.mark.parametrize("password", ["cafe", "caf\u00e9", "caf\u00e9 A", "CAF\u00c9 \u00c5"])
def test_other_letters_are_another_password(password):
    assert not PBKDF2.verify(password, PBKDF2.hash(COMPOSED))


def test_a_hash_of_a_password_as_it_was_typed_goes_on_to_match():
    derived = b64encode(hashlib.pbkdf2_hmac("sha256", APART.encode(), b"salt", 10)).decode()
    stored = [f"pbkdf2_sha256$10$salt${derived}", SHA.hash(APART)]
    assert [PBKDF2.verify(APART, one) for one in stored] == [True, True]


def test_the_contracts_hash_is_that_of_the_bytes():
    assert SHA.hash(APART) == hashlib.sha256(APART.encode()).hexdigest()


@pytest.mark.parametrize("of", [5, 10, 20])
@pytest.mark.parametrize("password", ["x", "y"])
def test_after_fewer_iterations_all_hashes_take_the_same_work(monkeypatch, of, password):
    stored, hasher = Pbkdf2Hasher(of).hash("x"), Pbkdf2Hasher(10, least_work=20)
    done = []
    derive = hashlib.pbkdf2_hmac
    monkeypatch.setattr(hashlib, "pbkdf2_hmac", lambda *given: done.append(given[3]) or derive(*given))
    assert hasher.verify(password, stored) == (password == "x")
    assert sum(done) == 20
    assert hasher.hash("x").split("$")[1] == "10"


@pytest.mark.parametrize("work", [-1, True, 1.5, 10**9])
def test_unusable_work_is_a_definition_error(work):
    with pytest.raises(DefinitionError, match="^Pbkdf2Hasher: least_work must be a number of iterations$"):
        Pbkdf2Hasher(least_work=work)


def test_sha256_wants_no_rehash_of_its_own_hashes():
    assert SHA.needs_rehash(SHA.hash("secret")) is False
    assert SHA.needs_rehash("secret") is True


def test_default_iterations_are_those_owasp_names():
    assert Pbkdf2Hasher() == Pbkdf2Hasher(600_000)


@pytest.mark.parametrize("iterations", [1, 10**9 - 1])
def test_any_positive_number_of_iterations_is_taken(iterations):
    assert Pbkdf2Hasher(iterations).iterations == iterations


def test_a_hasher_never_changes():
    with pytest.raises(FrozenInstanceError):
        PBKDF2.iterations = 5


def test_hashes_of_one_round_or_none():
    one = Pbkdf2Hasher(1).hash("secret")
    assert PBKDF2.verify("secret", one) is True
    assert PBKDF2.verify("other", one) is False
    assert not PBKDF2.verify("secret", one.replace("$1$", "$0$", 1).replace(one[-8:], "A" * 7 + "="))


@pytest.mark.parametrize("iterations", [0, -1, True, 1.5, "9", 10**9])
def test_unusable_iterations_are_a_definition_error(iterations):
    with pytest.raises(DefinitionError, match="^Pbkdf2Hasher: iterations must be a positive integer$"):
        Pbkdf2Hasher(iterations)

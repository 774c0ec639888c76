"""user.login: what it gives, and one refusal for every reason."""

from __future__ import annotations

import logging

import pytest
from bson import ObjectId

from gatewayfw.auth import Pbkdf2Hasher
from gatewayfw.errors import DefinitionError
from sample_service.app import create_app, create_service
from tests.sample_service.conftest import HASH, KEY, PASSWORD, ok, refused, user_doc

RIGHT = {"email": "orghead@example.com", "password": PASSWORD}


def test_gives_a_token_the_roles_and_the_user(call, service, people, places):
    get = {"token": 1, "roles": 1, "user": {"first_name": 1, "password": 1}}
    status, envelope = call("user", "login", RIGHT, get)
    token = envelope["body"].pop("token")
    person = people["OrgHead"]
    role = {"roleId": person.role, "name": "OrgHead", "scopeType": "organization", "scopeId": places.home}
    assert (status, envelope) == ok({"roles": [role], "user": {"_id": person.id, "first_name": "OrgHead"}})
    assert service.auth.tokens.read(token)["_id"] == person.id


def test_token_and_role_open_the_acts_they_are_for(call, people):
    login = call("user", "login", {**RIGHT, "email": "admin@example.com"}, {"token": 1, "roles": 1})[1]["body"]
    set_ = {"activeRoleId": login["roles"][0]["roleId"], "_id": people["Ordinary"].id, "position": "cook"}
    assert call("user", "updateUser", set_, {"position": 1}, login["token"]) == ok(
        {"_id": people["Ordinary"].id, "position": "cook"}
    )


@pytest.mark.parametrize("get", [{}, {"token": 0}, {"roles": 0}], ids=str)
def test_gives_nothing_that_get_does_not_name(call, people, get):
    assert call("user", "login", RIGHT, get) == ok({})


def test_user_without_roles_has_an_empty_list(call, people):
    assert call("user", "login", {**RIGHT, "email": "ghost@example.com"}, {"roles": 1}) == ok({"roles": []})


@pytest.mark.parametrize(
    "wrong",
    [
        {"email": "nobody@example.com"},
        {"password": "wrong"},
        {"password": ""},
        {"password": HASH},
        {"password": "x" * 4097},
        {"email": "ORGHEAD@example.com"},
        {"email": ".*"},
    ],
    ids=["e-mail", "password", "empty", "the hash", "too long", "case", "pattern"],
)
def test_refuses_with_one_message(call, people, digest, wrong):
    before = digest()
    assert call("user", "login", {**RIGHT, **wrong}, {"token": 1}) == refused(401, "wrong e-mail or password")
    assert digest() == before


def test_refuses_an_inactive_user_with_the_same_message(call, act_as, people):
    set_ = {"_id": people["OrgHead"].id, "isActive": False}
    assert act_as("Manager", "updateUser", set_, {})[0] == 200
    assert call("user", "login", RIGHT, {"token": 1}) == refused(401, "wrong e-mail or password")


def test_refuses_a_user_without_a_password(call, service, database):
    database.user.insert_one({"_id": ObjectId(), "email": "other@example.com"})
    set_ = {"email": "other@example.com", "password": ""}
    assert call("user", "login", set_, {"token": 1}) == refused(401, "wrong e-mail or password")
    database.user.delete_many({})


@pytest.mark.parametrize("value", [None, 5, ["x"], {"$ne": None}, {"$regex": "."}], ids=str)
@pytest.mark.parametrize("name", ["email", "password"])
def test_refuses_what_is_no_text(call, people, name, value):
    status, envelope = call("user", "login", {**RIGHT, name: value}, {"token": 1})
    assert status == 400
    assert envelope["body"]["message"].startswith(f"validation error: set.{name}: ")


@pytest.mark.parametrize("get", [{"password": 1}, {"token": "$password"}, {"user": {"password": "$x"}}], ids=str)
def test_refuses_a_get_that_is_no_projection(call, people, get):
    status, envelope = call("user", "login", RIGHT, get)
    assert status == 400
    assert envelope["success"] is False


def test_changing_to_pbkdf2_keeps_passwords_and_rehashes_at_login(database, caplog):
    service = create_service(database, KEY, Pbkdf2Hasher(iterations=10))
    id_ = service.users.insert_one(doc=user_doc("Old"))["_id"]
    client = service.gw.create_app().test_client()
    details = {"set": {"email": "old@example.com", "password": PASSWORD}, "get": {"user": {"email": 1}}}
    expected = {"body": {"user": {"_id": str(id_), "email": "old@example.com"}}, "success": True}
    with caplog.at_level(logging.DEBUG, "gatewayfw"):
        for _ in range(2):
            reply = client.post("/gateway", json={"model": "user", "act": "login", "details": details})
            assert reply.get_json() == expected
    stored = service.users.find_one(filters={"_id": id_}, reveal=["password"])["password"]
    assert stored.startswith("pbkdf2_sha256$10$")
    assert PASSWORD not in caplog.text
    assert stored not in caplog.text


def test_every_refusal_costs_one_verification(database):
    calls = []

    class Counting(Pbkdf2Hasher):
        def verify(self, password, stored):
            calls.append(password)
            return super().verify(password, stored)

    service = create_service(database, KEY, Counting(iterations=10))
    service.users.insert_one(doc=user_doc("One"))
    client = service.gw.create_app().test_client()
    for email in ("one@example.com", "nobody@example.com"):
        details = {"set": {"email": email, "password": "wrong"}, "get": {}}
        client.post("/gateway", json={"model": "user", "act": "login", "details": details})
    assert calls == ["wrong", "wrong"]


def login_again_and_again(database, monkeypatch, times, **environ):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    client = create_app(database, KEY).test_client()
    details = {"set": {"email": "nobody@example.com", "password": "wrong"}, "get": {}}
    asked = {"model": "user", "act": "login", "details": details}
    forwarded = [{"X-Forwarded-For": f"192.0.2.{number}"} for number in range(times)]
    return [client.post("/gateway", json=asked, headers=headers).status_code for headers in forwarded]


def test_who_guesses_passwords_has_to_wait(database, monkeypatch):
    statuses = login_again_and_again(database, monkeypatch, 4, GATEWAYFW_LOGIN_LIMIT="3/minute")
    assert statuses == [401, 401, 401, 429]


def test_the_limit_of_logins_may_be_none(database, monkeypatch):
    assert login_again_and_again(database, monkeypatch, 70, GATEWAYFW_LOGIN_LIMIT="") == [401] * 70


def test_behind_a_proxy_each_address_has_attempts_of_its_own(database, monkeypatch):
    given = {"GATEWAYFW_LOGIN_LIMIT": "1/minute", "GATEWAYFW_PROXIES": "1"}
    assert login_again_and_again(database, monkeypatch, 4, **given) == [401] * 4


@pytest.mark.parametrize("proxies", ["-1", "one", "4", "1.0"])
def test_an_odd_number_of_proxies_is_refused(database, monkeypatch, proxies):
    monkeypatch.setenv("GATEWAYFW_PROXIES", proxies)
    with pytest.raises(DefinitionError, match="^GATEWAYFW_PROXIES: expected the number of proxies in front, 0 to 3$"):
        create_app(database, KEY)


def test_every_act_has_a_rule_or_is_public(database):
    service = create_service(database, KEY)
    acts = service.gw.acts.get_main_acts()
    public = [f"{schema}.{name}" for schema, own in acts.items() for name, act in own.items() if act.public]
    assert service.gw.settings.require_access is True
    assert public == ["user.login", "country.addCountry", "country.getCountry", "city.addCity", "city.getCity"]

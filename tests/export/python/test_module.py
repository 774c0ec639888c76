"""What type checkers make of the sample service: right programs pass, wrong ones are told at their lines."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw.catalog import build
from gatewayfw.export.python.module import python
from gatewayfw.schemas import array, enums, integer, nullable, optional, string
from sample_service.app import create_service
from tests.batches import Library
from tests.export import market
from tests.export.checking import assert_told, mypy, pyright
from tests.export.every_field import every_row, make_service
from tests.export.generated import make, signature
from tests.export.village import village

RIGHT = """\
from gateway_types import AnyClient, CallError, Client, User1, UserAddUserSet, UserGet1, bearer, cookie
from gatewayfw import gateway
from gatewayfw.client import HttpClient, InProcessClient

client: AnyClient = HttpClient("https://example.com/api", "token", {"Accept-Language": "fr"}, timeout=3)
test: AnyClient = InProcessClient(gateway())
new: UserAddUserSet = {"first_name": "A", "last_name": "B", "email": "a@b.c", "password": "p"}
wanted: UserGet1 = {"_id": 0, "email": 1, "organizations": {"name": 1}, "avatar": 1}


def named(user: User1) -> str:
    return user["first_name"]


def run() -> None:
    one = client.call("user", "addUser", set=new, get=wanted)
    texts: list[str] = [one["email"], *(each["name"] for each in one["organizations"])]
    if "avatar" in one:
        texts.append(one["avatar"].get("path", "no path"))
    many = client.call("user", "getUsers", set={"limit": 3}, get={"first_name": 1, "features": 1})
    features: list[str] = [feature["feature"] for user in many["rows"] for feature in user.get("features", [])]
    me = client.with_token("other").call("user", "getMe")
    if me is not None:
        texts.append(named(me))
    session = client.call("user", "login", set={"email": "a", "password": "b"}, get={"token": 1, "user": {"email": 1}})
    token: str = session["token"]
    gone = client.call("user", "removeUser", set={"_id": "5" * 24, "hardCascade": True}, get={"deletedCount": 1})
    count: int = gone["deletedCount"]
    revised = client.call("user", "getUsers", get={"_rev": 1, "organizations": {"name": 1}})
    revisions: list[int] = [row["_rev"] for row in revised["rows"]]
    people: float = client.call("country", "getCountry", service="main", set={"countryId": "x"})["population"]
    print(texts, features, token, count, revisions, people, test.call("unit", "getUnits"))
    with Client("https://example.com", "t", {"Accept-Language": "fr"}, 3, token_from=bearer()) as own:
        kept: AnyClient = own
        mail: str = own.with_token(None).call("user", "getUser", set={"userId": "5"}, get={"email": 1})["email"]
    try:
        kept.call("user", "getMe")
    except CallError as error:
        print(error.status, error.code, error.errors.get(mail))
    own = Client("https://example.com", token_from=cookie("sid"), connections=1, max_bytes=5)
    own.call("user", "getMe", headers={"Accept-Language": "de"})
    status: int = own.send("user", "getMe", headers={"Accept-Language": "de"}).status
    print(status)
"""

WRONG = """\
from gateway_types import AnyClient, Client, UserAddUserSet, UserGet1


def run(client: AnyClient) -> None:
    client.call("user", "addUsers", set={}, get={})  #! call-overload
    client.call("users", "getUsers")  #! call-overload
    client.call("user", "getUsers", service="other")  #! call-overload
    client.call("user", "addUser", set={"first_name": "A", "last_name": "B", "email": "c"})  #! call-overload
    client.call("user", "getUser")  #! call-overload
    client.call("user", "getUser", set={"userId": 5})  #! call-overload
    client.call("user", "getUser", set={"userId": "5", "more": 1})  #! call-overload
    client.call("user", "getUsers", get={"name": 1})  #! call-overload
    client.call("user", "getUsers", get={"email": 2})  #! call-overload
    client.call("user", "getUsers", get={"password": 1})  #! call-overload
    client.call("user", "getUsers", get={"organizations": {"nope": 1}})  #! call-overload
    client.call("organization", "getOrganizations", get={"users": {"roles": 1}})  #! call-overload
    client.call("user", "getUsers", get={"organizations": {"users": 1}})  #! call-overload
    client.call("user", "getUsers", get={"_rev": 2})  #! call-overload
    client.call("user", "getUsers", get={"organizations": {"_rev": 1}})  #! call-overload
    client.call("user", "getUser", set={"userId": "5"})["organizations"][0]["_rev"]  #! typeddict-item
    client.call("user", "getUsers", set={"limit": "3"})  #! call-overload
    client.call("user", "getUser", set={"userId": "5"})["name"]  #! typeddict-item
    client.call("user", "getUser", set={"userId": "5"})["organizations"]["name"]  #! call-overload
    client.call("user", "getUsers")["email"]  #! typeddict-item
    client.call("user", "getMe")["email"]  #! index
    number: int = client.call("country", "getCountry", set={"countryId": "x"})["name"]  #! assignment
    client.call("user", "login", set={"email": "a", "password": "b"})["user"]["email"]  #! index
    client.with_token(5)  #! arg-type
    client.call("user", "getMe", headers={"Accept-Language": 5})  #! call-overload
    Client("https://example.com").call("user", "getUser")  #! call-overload
    Client()  #! call-arg
    new: UserAddUserSet = {"first_name": "A", "last_name": "B", "email": "c"}  #! typeddict-item
    role: UserAddUserSet = {"first_name": 1, "last_name": "B", "email": "c", "password": "p"}  #! typeddict-item
    wanted: UserGet1 = {"avatar": {"nope": 1}}  #! typeddict-item
    other: UserGet1 = {"nope": 1}  #! typeddict-unknown-key
    print(number, new, role, wanted, other)
"""


@pytest.fixture(scope="module")
def source():
    service = create_service(token_key="k" * 32)
    return python(build(service.gw.schemas, service.gw.acts))


@pytest.mark.slow
def test_right_programs_pass_and_wrong_ones_are_told_where(source, tmp_path):
    assert_told(tmp_path, source, RIGHT, WRONG)


BATCH_RIGHT = """\
from gateway_types import BookAddRequest, AnyClient, Request
from gatewayfw import gateway
from gatewayfw.client import HttpClient, InProcessClient

client: AnyClient = HttpClient("https://example.com/api")
test: AnyClient = InProcessClient(gateway())
add: BookAddRequest = {"model": "book", "act": "add", "set": {"title": "A"}, "get": {"title": 1}}
requests: list[Request] = [add, {"model": "book", "act": "ping"}]


def run() -> None:
    added, books = client.batch(
        [
            {"model": "book", "act": "add", "set": {"title": "A"}, "get": {"title": 1}},
            {"model": "book", "act": "list", "service": "main", "get": {"author": {"name": 1}}},
        ],
        atomic=True,
    )
    print(added, books, test.batch(requests))
    print(test.batch([{"service": "far", "model": "any", "act": "any", "set": {"x": 1}}]))
"""

BATCH_WRONG = """\
from gateway_types import BookAddRequest, AnyClient


def run(client: AnyClient) -> None:
    add: BookAddRequest = {"model": "book", "act": "add"}  #! typeddict-item
    other: BookAddRequest = {"model": "book", "act": "add", "set": {"title": 1}}  #! typeddict-item
    client.batch([{"model": "book", "act": "buy"}])  #! misc #! list-item
    client.batch([{"model": "book", "act": "add"}])  #! misc #! list-item
    client.batch([{"model": "book", "act": "list", "get": {"nope": 1}}])  #! misc #! list-item
    client.batch([{"model": "book", "act": "ping", "sets": {}}])  #! list-item
    client.batch([{"service": "none", "model": "book", "act": "ping"}])  #! misc #! list-item
    client.batch([add], atomic=1)  #! arg-type
    client.batch(add)  #! arg-type
    print(other)
"""


def test_requests_of_a_batch_are_checked(tmp_path):
    library = Library(mongomock.MongoClient().test)
    library.gw.acts.set_service("far", "https://example.com")
    assert_told(tmp_path, python(library.gw.catalog()), BATCH_RIGHT, BATCH_WRONG)


def test_all_types_of_a_gateway_with_one_of_each_thing():
    assert market.written("python.txt") == market.expected("python.txt")


@pytest.mark.slow
def test_type_checkers_accept_the_modules_of_awkward_services(tmp_path):
    services = {"village": village(), "market": market.market(), "fields": make_service(every_row()).gw}
    names = [f"of_{name}.py" for name in services]
    for name, gw in zip(names, services.values(), strict=True):
        (tmp_path / name).write_text(python(gw.catalog()), "utf-8")
    assert mypy(tmp_path, *names) == []
    assert pyright(tmp_path, *names, strict=names) == []


def test_a_gateway_without_batches_has_no_requests():
    source = python(Library(mongomock.MongoClient().test, max_batch=0).gw.catalog())
    assert "Request:" not in source
    assert source.count("def batch") == 1  # that of the untyped client


AFTER, NEXT = {"after": optional(string())}, {"next": nullable(string())}
PAGED = {
    "documents": (AFTER, {}, {"rows": "many", **NEXT}, True),
    "values": (AFTER, {}, {"rows": array(string()), **NEXT}, True),
    "nothing to begin after": ({}, {}, {"rows": "many", **NEXT}, False),
    "a number to begin after": ({"after": optional(integer())}, {}, {"rows": "many", **NEXT}, False),
    "always begins after": ({"after": string()}, {}, {"rows": "many", **NEXT}, False),
    "one row": (AFTER, {}, {"rows": "one", **NEXT}, False),
    "rows of text": (AFTER, {}, {"rows": string(), **NEXT}, False),
    "no rows": (AFTER, {}, NEXT, False),
    "perhaps rows": (AFTER, {}, {"rows": optional(array(string())), **NEXT}, False),
    "no next": (AFTER, {}, {"rows": "many"}, False),
    "perhaps a next": (AFTER, {}, {"rows": "many", "next": optional(nullable(string()))}, False),
    "next is a number": (AFTER, {}, {"rows": "many", "next": nullable(integer())}, False),
    "never ends": (AFTER, {}, {"rows": "many", "next": string()}, False),
    "next where it is asked for": (AFTER, {"next": optional(enums(0, 1))}, {"rows": array(string()), **NEXT}, False),
    "rows where they are asked for": (AFTER, {"rows": optional(enums(0, 1))}, {"rows": array(string()), **NEXT}, False),
    "anything": (AFTER, {}, None, False),
}


@pytest.mark.parametrize(("set_", "get", "returns", "is_paged"), PAGED.values(), ids=PAGED)
def test_an_act_is_read_by_page_where_it_takes_and_gives_what_is_next(set_, get, returns, is_paged):
    gw = make()
    _, module = signature(gw, set=set_, get=get or gw.schemas.select_struct("city", 0), returns=returns)
    assert hasattr(module.AnyClient, "pages") is is_paged

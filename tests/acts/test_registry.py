"""Registering and finding acts and services, in both spellings."""

from __future__ import annotations

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.acts.act import Act
from gatewayfw.acts.remote import FORWARDED, RemoteService
from gatewayfw.errors import DefinitionError, NotFound, ValidationError
from gatewayfw.schemas import Schemas, boolean, object_, string
from gatewayfw.settings import Settings
from gatewayfw.spelling import pythonic

STRUCT = {"set": {"name": string()}, "get": {}}
URL = "http://127.0.0.1:9"
#: What an act has that says nothing of it.
UNSAID = {
    "public": False,
    "limit": None,
    "maxGetDepth": None,
    "maxGetLeaves": None,
    "maxReplyBytes": None,
    "onError": (),
    "postAct": (),
    "returns": None,
    "mcp": False,
    "exceptions": {},
    "idempotent": None,
    "idempotentBy": None,
}


def add_user(body):
    """Add a user."""


def get_user(body):
    """Get a user."""


@pytest.fixture
def filled(acts):
    """Acts of two schemas, a service in this process and a remote one."""
    acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user)
    acts.set_act(schema="city", act_name="addCity", validator=STRUCT, fn=add_user)
    acts.set_act(schema="user", act_name="getUser", validator=STRUCT, fn=get_user)
    acts.set_service("billing", {"bill": {"addBill": {"validator": STRUCT, "fn": add_user}}})
    acts.set_service("far", URL)
    return acts


def test_set_act_registers_an_act_of_main(acts):
    acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user, validation_run_type="create")
    assert acts.get_act("main", "user", "addUser") == {
        "schema": "user",
        "actName": "addUser",
        "validator": STRUCT,
        "fn": add_user,
        "preAct": (),
        "preValidation": (),
        "validationRunType": "create",
        **UNSAID,
    }


def after(body, given):
    """A hook after an act."""


def after_error(body, given):
    """A hook after an error."""


CONTRACT = {
    "schema": "user",
    "actName": "addUser",
    "validator": STRUCT,
    "fn": add_user,
    "preAct": [get_user],
    "preValidation": [add_user],
    "validationRunType": "create",
    "public": True,
    "limit": ["10/minute"],
    "maxGetDepth": 3,
    "maxGetLeaves": 5,
    "maxReplyBytes": 1_000,
    "onError": [after_error],
    "postAct": [after],
    "returns": {"done": boolean},
    "mcp": True,
    "exceptions": {KeyError: (409, "taken", "it is taken")},
    "idempotent": "24h",
    "idempotentBy": get_user,
}
LISTS = {"preAct": (get_user,), "preValidation": (add_user,), "onError": (after_error,), "postAct": (after,)}
REGISTERED = {**CONTRACT, **LISTS, "limit": ("10/minute",)}


@pytest.mark.parametrize("as_keywords", [False, True])
def test_set_act_in_the_contracts_spelling(acts, as_keywords):
    if as_keywords:
        acts.setAct(**CONTRACT)
    else:
        acts.setAct(CONTRACT)
    assert acts.getAct("main", "user", "addUser") == REGISTERED


def decorate(register, validator, fn, validation_run_type, **given):
    assert register(**validator, mode=validation_run_type, **given)(fn) is fn


#: Each way to register an act of `main`, given everything that an act may have but its schema.
WAYS = {
    "set_act": lambda acts, **given: acts.set_act(schema="user", **given),
    "act": lambda acts, **given: decorate(acts.act, schema="user", **given),
    "set_act of a group": lambda acts, **given: acts.group("user").set_act(**given),
    "act of a group": lambda acts, **given: decorate(acts.group("user").act, **given),
}


@pytest.mark.parametrize("register", WAYS.values(), ids=WAYS)
def test_an_act_has_all_that_was_given_however_it_is_registered(acts, register):
    given = pythonic(None, CONTRACT)
    del given["schema"]
    register(acts, **given)
    assert acts.get_main_act("user", "addUser") == REGISTERED


@pytest.mark.parametrize("register", WAYS.values(), ids=WAYS)
def test_an_act_has_nothing_that_was_not_given_however_it_is_registered(acts, register):
    register(acts, act_name="addUser", validator=STRUCT, fn=add_user, validation_run_type="assert")
    unsaid = {"preAct": (), "preValidation": (), "validationRunType": "assert", **UNSAID}
    named = {"schema": "user", "actName": "addUser", "validator": STRUCT, "fn": add_user}
    assert acts.get_main_act("user", "addUser") == {**named, **unsaid}


def test_set_act_names_an_unknown_key_and_registers_nothing(acts):
    with pytest.raises(TypeError, match="'preacts'"):
        acts.setAct({**CONTRACT, "preacts": []})
    with pytest.raises(TypeError, match="'fn'"):
        acts.setAct({"schema": "user", "actName": "addUser", "validator": STRUCT})
    with pytest.raises(TypeError):
        acts.set_act("user", "addUser", STRUCT, add_user)
    assert acts.get_main_acts() == {}


def test_an_act_cannot_be_registered_twice(acts):
    acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user)
    for register in (acts.set_act, acts.setAct):
        with pytest.raises(DefinitionError) as raised:
            register(schema="user", act_name="addUser", validator=STRUCT, fn=get_user)
        assert raised.value.message == "act user.addUser is registered already"
    assert acts.get_main_act("user", "addUser").fn is add_user


def test_a_decorated_act_cannot_be_registered_twice(acts):
    @acts.act("user", "ping")
    def ping(body):
        """Answer."""

    with pytest.raises(DefinitionError) as raised:
        acts.act("user", "ping")(ping)
    assert raised.value.message == "act user.ping is registered already"


def test_a_refused_act_leaves_nothing(acts):
    with pytest.raises(DefinitionError):
        acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user, pre_act=[1])
    assert (acts.get_main_acts(), acts.get_service_keys()) == ({}, ["main"])


def test_the_validator_is_compiled_when_registered(acts):
    acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user)
    struct = acts.get_main_act("user", "addUser").struct
    assert struct.check({"set": {"name": "Ana"}, "get": {}}, "assert") == {"set": {"name": "Ana"}, "get": {}}
    with pytest.raises(ValidationError):
        struct.check({"set": {"name": 1}, "get": {}}, "assert")


def test_the_decorator_registers_the_function_and_gives_it_back(acts):
    @acts.act(
        "user",
        "addUser",
        set={"name": string()},
        get=1,
        mode="create",
        pre_act=[get_user],
        pre_validation=[add_user],
        mcp=True,
    )
    def decorated(body):
        """Add one user."""
        return body

    act = acts.get_main_act("user", "addUser")
    assert decorated("body") == "body"
    assert act.fn == decorated
    assert act.description == "Add one user."
    assert act.pre_act == (get_user,)
    assert act.pre_validation == (add_user,)
    assert act.validation_run_type == "create"
    assert act.mcp is True


GETS = {
    "number": (1, {"name": 1}, {"user": 1}),
    "selection": ({"name": 1}, {"name": 1}, {"email": 1}),
    "kinds": ({"page": string()}, {"page": "a"}, {"name": 1}),
    "field": (object_({"page": string()}), {"page": "a"}, {"name": 1}),
    "nothing": ({}, {}, {"name": 1}),
}


@pytest.mark.parametrize(("get", "accepted", "refused"), GETS.values(), ids=GETS)
def test_get_of_the_decorator(acts, get, accepted, refused):
    acts.act("user", "getUser", get=get)(get_user)
    struct = acts.get_main_act("user", "getUser").struct
    assert struct.check({"set": {}, "get": accepted}, "assert") == {"set": {}, "get": accepted}
    with pytest.raises(ValidationError):
        struct.check({"set": {}, "get": refused}, "assert")


def test_the_decorator_accepts_only_empty_details_when_told_nothing(acts):
    acts.act("user", "ping")(get_user)
    struct = acts.get_main_act("user", "ping").struct
    assert struct.check({"set": {}, "get": {}}, "assert") == {"set": {}, "get": {}}
    with pytest.raises(ValidationError):
        struct.check({"set": {"a": 1}, "get": {}}, "assert")


@pytest.mark.parametrize("get", [-1, 1.5, {"name": -1}, True, "1", None], ids=repr)
def test_the_decorator_names_the_act_of_a_bad_get(acts, get):
    with pytest.raises(DefinitionError, match=r"^act user\.getUser: "):
        acts.act("user", "getUser", get=get)(get_user)
    assert acts.get_main_acts() == {}


def test_introspection_lists_in_the_order_registered(filled):
    assert filled.get_service_keys() == ["main", "billing", "far"]
    assert filled.get_act_keys("user") == ["addUser", "getUser"]
    assert filled.get_acts_keys("billing", "bill") == ["addBill"]
    assert list(filled.get_main_acts()) == ["user", "city"]


def test_introspection_gives_acts_by_name(filled):
    add, get, city = (
        filled.get_main_act(*names) for names in [("user", "addUser"), ("user", "getUser"), ("city", "addCity")]
    )
    bill = filled.get_act("billing", "bill", "addBill")
    main = {"user": {"addUser": add, "getUser": get}, "city": {"addCity": city}}
    assert filled.get_acts("user") == main["user"]
    assert filled.get_main_acts() == filled.get_service("main") == main
    assert filled.get_service("billing") == {"bill": {"addBill": bill}}
    assert filled.get_service("far") == URL
    assert filled.get_acts_with_services() == {"main": main, "billing": {"bill": {"addBill": bill}}, "far": URL}
    assert bill["schema"] == "bill"
    assert bill["actName"] == "addBill"
    assert bill.description == "Add a user."


def test_introspection_in_the_contracts_spelling(filled):
    assert filled.getServiceKeys() == filled.get_service_keys()
    assert filled.getActs("user") == filled.getActs(schema="user") == filled.get_acts("user")
    assert filled.getActsKeys("main", "user") == filled.getActsKeys(service="main", schema="user")
    assert filled.getActKeys("user") == filled.getActKeys(schema="user") == ["addUser", "getUser"]
    assert filled.getAct("main", "user", "addUser") is filled.getAct(service="main", schema="user", act="addUser")
    assert filled.getAtcsWithServices() == filled.get_acts_with_services()
    assert filled.getMainActs() == filled.get_main_acts()
    assert filled.getMainAct("user", "addUser") is filled.getMainAct(schema="user", actName="addUser")
    assert filled.getService("far") == filled.getService(name="far") == URL


UNKNOWN = {
    "service": (lambda acts: acts.get_service("shop"), "service not found: shop"),
    "service of an act": (lambda acts: acts.get_act("shop", "user", "addUser"), "service not found: shop"),
    "schema": (lambda acts: acts.get_acts("usr"), "no acts found for model: usr"),
    "schema of keys": (lambda acts: acts.get_act_keys("usr"), "no acts found for model: usr"),
    "schema of another service": (lambda acts: acts.get_acts_keys("billing", "user"), "no acts found for model: user"),
    "act": (lambda acts: acts.get_main_act("user", "addCity"), "act not found: user.addCity"),
    "keys of a remote service": (
        lambda acts: acts.get_acts_keys("far", "user"),
        "service far is remote: its acts are not known here",
    ),
    "act of a remote service": (
        lambda acts: acts.get_act("far", "user", "addUser"),
        "service far is remote: its acts are not known here",
    ),
}


@pytest.mark.parametrize(("ask", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_names_are_not_found(filled, ask, message):
    with pytest.raises(NotFound) as raised:
        ask(filled)
    assert raised.value.message == message


def test_changing_what_a_getter_gave_changes_nothing_registered(filled):
    before = filled.get_acts_with_services()
    filled.get_main_acts().clear()
    filled.get_acts("user").clear()
    filled.get_service("main")["user"].clear()
    filled.get_service("billing")["bill"].clear()
    filled.get_service_keys().clear()
    assert filled.get_acts_with_services() == before


def test_changing_a_service_object_afterwards_changes_nothing(acts):
    service = {"bill": {"addBill": {"validator": STRUCT, "fn": add_user}}}
    acts.set_service("billing", service)
    service["bill"].clear()
    assert acts.get_acts_keys("billing", "bill") == ["addBill"]


def test_resolve_finds_acts_and_remote_services(filled):
    assert filled.resolve("main", "user", "addUser") is filled.get_main_act("user", "addUser")
    assert filled.resolve("billing", "bill", "addBill") is filled.get_act("billing", "bill", "addBill")
    far = filled.resolve("far", "any", "thing")
    assert isinstance(far, RemoteService)
    assert far.name == "far"
    assert far.given == URL
    assert far.url == URL + "/gateway"


def test_set_service_takes_acts_with_all_their_parts(acts):
    entry = {key: value for key, value in CONTRACT.items() if key not in ("schema", "actName")}
    acts.setService("bill-ing", {"user": {"addUser": entry}})
    assert acts.get_act("bill-ing", "user", "addUser") == REGISTERED


def test_set_service_takes_acts_of_this_gateway(filled):
    filled.set_service(name="other", service=filled.get_main_acts())
    assert filled.get_act("other", "user", "addUser") is filled.get_main_act("user", "addUser")


def test_set_service_refuses_the_acts_of_another_gateway(acts, make_acts):
    other = make_acts(Schemas(Settings()))
    other.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user)
    with pytest.raises(DefinitionError) as raised:
        acts.set_service(name="other", service=other.get_main_acts())
    assert raised.value.message == (
        "service other: act user.addUser: an act of another gateway; "
        "mount that gateway and give its URL, or give plain objects"
    )
    assert acts.get_service_keys() == ["main"]
    acts.set_service("other", {"user": {"addUser": dict(other.get_main_act("user", "addUser"))}})
    assert acts.get_act("other", "user", "addUser").fn is add_user


def test_set_service_refuses_an_act_under_another_name(filled):
    act = filled.get_main_act("user", "addUser")
    with pytest.raises(DefinitionError) as raised:
        filled.set_service("other", {"user": {"getUser": act}, "city": {"addUser": act}, "bill": act})
    assert raised.value.message == (
        "service other: act user.getUser: its schema or actName says otherwise; "
        "act city.addUser: its schema or actName says otherwise; "
        "schema bill: expected an object of acts keyed by act name"
    )


def test_set_service_names_every_error_and_registers_nothing(acts):
    good = {"validator": STRUCT, "fn": add_user}
    service = {
        "user": {
            "fine": good,
            "noFn": {"validator": STRUCT},
            "extra": {**good, "preact": []},
            "typo": {"validator": STRUCT, "func": add_user},
            "wrong": {**good, "validator": 1, "validationRunType": "x"},
            "a-b": good,
            "none": None,
        },
        "city": [good],
        "1x": {"act": good},
    }
    with pytest.raises(DefinitionError) as raised:
        acts.set_service("billing", service)
    assert raised.value.message == (
        "service billing: act user.noFn: missing key fn; act user.extra: unknown key preact; "
        "act user.typo: unknown key func, missing key fn; "
        "act user.wrong: the mode must be 'assert' or 'create'; "
        "act user.a-b: bad act_name: a letter or _, then letters, digits and _; "
        "act user.none: expected an object with validator and fn; "
        "schema city: expected an object of acts keyed by act name; "
        "act 1x.act: bad schema: a letter or _, then letters, digits and _"
    )
    assert acts.get_service_keys() == ["main"]


BAD_SERVICES = {
    "main": ("main", {}, "the service main is this gateway itself; use set_act"),
    "empty name": ("", URL, "bad service name : a letter or _, then letters, digits, _ and -"),
    "digit first": ("1a", URL, "bad service name 1a: a letter or _, then letters, digits, _ and -"),
    "beyond ASCII": ("año", URL, "bad service name año: a letter or _, then letters, digits, _ and -"),
    "dot": ("a.b", URL, "bad service name a.b: a letter or _, then letters, digits, _ and -"),
    "no text": (1, URL, "bad service name 1: a letter or _, then letters, digits, _ and -"),
    "none": ("x", None, "service x: expected a URL or an object of acts, not NoneType"),
    "list": ("x", [], "service x: expected a URL or an object of acts, not list"),
    "url": ("x", "ftp://h", "service x: the URL must start with http:// or https://"),
}


@pytest.mark.parametrize(("name", "service", "message"), BAD_SERVICES.values(), ids=BAD_SERVICES)
def test_a_bad_service_is_refused(acts, name, service, message):
    with pytest.raises(DefinitionError) as raised:
        acts.set_service(name, service)
    assert raised.value.message == message
    assert acts.get_service_keys() == ["main"]


@pytest.mark.parametrize("name", ["a", "Z", "_", "shop-1", "Shop_Z9"])
def test_a_service_has_a_name_of_letters_digits_and_two_signs(acts, name):
    acts.set_service(name, {})
    assert acts.get_service_keys() == ["main", name]


BAD_FRONTS = {
    "hooks no list": ({"pre_act": len}, "pre_act must be a list of functions"),
    "no hooks": ({"pre_act": [len, 1, "x"]}, "pre_act[1] must be a function; pre_act[2] must be a function"),
    "headers as text": ({"headers": "x-tenant"}, "headers must be a list of names such as 'x-tenant'"),
    "header no name": ({"headers": ["a b"]}, "headers must be a list of names such as 'x-tenant'"),
    "header no text": ({"headers": [1]}, "headers must be a list of names such as 'x-tenant'"),
    "header made here": (
        {"headers": ["X-Forwarded-For"]},
        "headers: X-Forwarded-For is made here and never passed on",
    ),
    "header of a connection": ({"headers": ["Host"]}, "headers: Host is made here and never passed on"),
}


@pytest.mark.parametrize(("front", "message"), BAD_FRONTS.values(), ids=BAD_FRONTS)
def test_what_stands_in_front_of_a_remote_service_is_checked(acts, front, message):
    with pytest.raises(DefinitionError) as raised:
        acts.set_service("far", URL, **front)
    assert (raised.value.message, acts.get_service_keys()) == (f"service far: {message}", ["main"])


@pytest.mark.parametrize("front", [{"pre_act": [add_user]}, {"headers": ["x-tenant"]}], ids=["hooks", "headers"])
def test_only_a_url_takes_hooks_and_headers(acts, front):
    with pytest.raises(DefinitionError) as raised:
        acts.set_service("billing", {"bill": {"addBill": {"validator": STRUCT, "fn": add_user}}}, **front)
    problem = "service billing: pre_act and headers go with a URL; acts have hooks of their own"
    assert (raised.value.message, acts.get_service_keys()) == (problem, ["main"])


def test_remote_services_are_listed_with_what_is_in_front_of_them(filled):
    filled.setService("further", URL, preAct=[add_user], headers=["X-Tenant", "x-tenant", "token"])
    found = [(one.name, one.pre_act, one.forwarded) for one in filled.remote_services()]
    assert found == [("far", (), FORWARDED), ("further", (add_user,), (*FORWARDED, "x-tenant"))]


@pytest.mark.parametrize("name", ["billing", "far"])
@pytest.mark.parametrize("service", [URL, {}], ids=["url", "acts"])
def test_a_service_cannot_be_set_twice(filled, name, service):
    before = filled.get_acts_with_services()
    with pytest.raises(DefinitionError) as raised:
        filled.set_service(name, service)
    assert raised.value.message == f"service {name} is registered already"
    assert filled.get_acts_with_services() == before


def test_acts_registered_at_the_same_time_are_all_there(acts):
    def register(thread: int) -> int:
        for number in range(50):
            acts.set_act(schema="user", act_name=f"a{thread}_{number}", validator=STRUCT, fn=add_user)
            acts.set_service(f"s{thread}_{number}", {})
        return len(acts.get_act_keys("user"))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(register, range(8)))
    assert (len(acts.get_act_keys("user")), len(acts.get_service_keys())) == (400, 401)


def test_of_threads_that_register_the_same_act_one_succeeds(acts):
    def register(number: int) -> bool:
        try:
            acts.set_act(schema="user", act_name="addUser", validator=STRUCT, fn=add_user)
        except DefinitionError:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(register, range(8))) == 1


def test_an_act_of_a_schema_without_model_is_fine(acts):
    acts.set_act(schema="nothing", act_name="ping", validator={"set": {}, "get": {}}, fn=add_user)
    assert isinstance(acts.get_main_act("nothing", "ping"), Act)


WRONG = {"act_name": "a-b", "pre_act": [1], "pre_validation": 1, "max_get_depth": 0, "max_get_leaves": 0}
SPELLED = {
    "set_act": {**WRONG, "validation_run_type": "creat"},
    "act": {**WRONG, "mode": "creat"},
    "setAct": {
        "actName": "a-b",
        "preAct": [1],
        "preValidation": 1,
        "maxGetDepth": 0,
        "maxGetLeaves": 0,
        "validationRunType": "creat",
    },
}


@pytest.mark.parametrize("way", SPELLED)
def test_all_that_is_wrong_with_an_act_is_named(acts, way):
    given = dict(SPELLED[way])
    with pytest.raises(DefinitionError) as raised:
        if way == "act":
            acts.act("user", given.pop("act_name"), **given)(add_user)
        else:
            getattr(acts, way)(schema="user", validator=STRUCT, fn=add_user, **given)
    assert raised.value.message == (
        "act user.a-b: bad act_name: a letter or _, then letters, digits and _; the mode must be 'assert' or 'create'; "
        "pre_validation must be a list of functions; pre_act[0] must be a function; "
        "max_get_depth must be a positive integer; max_get_leaves must be a positive integer"
    )


def test_an_act_costs_the_same_however_many_there_are(acts):
    def register(number):
        acts.set_act(schema="user", act_name=f"act{number}", validator=STRUCT, fn=add_user)

    for number in range(2_000):
        register(number)
    tracemalloc.start()
    register(2_000)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 50_000  # a copy of the table has 100,000
    assert len(acts.get_acts("user")) == 2_001


def test_a_reader_sees_whole_tables_while_others_register(acts):
    def register(number):
        acts.set_act(schema=f"s{number % 3}", act_name=f"act{number}", validator=STRUCT, fn=add_user)
        return sum(map(len, acts.get_main_acts().values())), acts.takes_files, acts.get_service("main")

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(register, range(200)))
    assert max(count for count, _, _ in found) == 200
    assert sum(map(len, acts.get_main_acts().values())) == 200

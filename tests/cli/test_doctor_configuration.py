"""The configuration that ``doctor`` judges: each finding beside its absence."""

from __future__ import annotations

import secrets

import mongomock
import pytest
from flask import Flask

from gatewayfw.auth import Auth, Tokens, access_rule
from gatewayfw.cli.doctor_configuration import findings
from gatewayfw.core import gateway
from gatewayfw.files import DirectoryFiles

GOOD = "b07b9f6c4e9d46d1a5f2c83e71d0954f"
KEY = "GATEWAYFW_TOKEN_KEY"


def judged(gw, environ=(), **options):
    """What is found where the gateway is mounted with these options in an app that is neither in debug nor testing."""
    return judged_in(Flask("host"), gw, environ, **options)


def judged_in(app, gw, environ=(), **options):
    gw.init_app(app, "/api", **options)
    return list(findings(app, gw, dict(environ)))


def acting(*names, **given):
    """A gateway of acts that say this of themselves."""
    settings = {key: given.pop(key) for key in ("rate_limit_storage",) if key in given}
    gw = gateway(**settings)
    for name in names:
        gw.acts.act("item", name, **given)(lambda body: None)
    return gw


def test_a_plain_gateway_has_nothing_to_find():
    assert judged(gateway(), {KEY: GOOD}, cors=["https://shop.example"]) == []


# -- where it runs


ON = ("warning", "/api/gateway: the playground is on: it tells everybody which services, models and acts exist")


@pytest.mark.parametrize(
    ("environ", "debug", "testing", "expected"),
    [
        pytest.param({}, False, False, [ON], id="nothing said"),
        pytest.param({"GATEWAYFW_ENV": ""}, False, False, [ON], id="nothing said in a variable"),
        pytest.param({"GATEWAYFW_ENV": "production"}, False, True, [ON], id="production said in testing"),
        pytest.param({"GATEWAYFW_ENV": "development"}, False, False, [], id="development said"),
        pytest.param({"GATEWAYFW_ENV": "development"}, True, False, [], id="development said in debug"),
        pytest.param({}, True, True, [], id="debug and testing"),
        pytest.param({}, False, True, [], id="testing"),
    ],
)
def test_development_is_what_the_environment_says_else_the_app(environ, debug, testing, expected):
    app = Flask("host")
    app.debug, app.testing = debug, testing
    assert judged_in(app, gateway(), environ, playground=True) == expected


DEBUG = ("warning", "debug mode is on: switch it off, or set GATEWAYFW_ENV=development if this is development")


@pytest.mark.parametrize(("environ", "expected"), [({}, [DEBUG]), ({"GATEWAYFW_ENV": "production"}, [DEBUG, ON])])
def test_debug_is_a_warning_unless_this_is_development(environ, expected):
    app = Flask("host")
    app.debug = True
    assert judged_in(app, gateway(), environ, playground=True) == expected


# -- mounts


def test_cors_for_everybody_is_a_warning():
    text = "/api/gateway: cors is '*': pages of every origin may read the replies; list the origins"
    assert judged(gateway(), cors="*") == [("warning", text)]


def test_each_gateway_is_judged_by_its_own_mounts():
    app, one, other = Flask("host"), gateway(), gateway()
    one.init_app(app, "/one", playground=True)
    one.init_app(app, "/two", playground=True)
    other.init_app(app, "/other", playground=True, cors="*")
    texts = [[text.partition(": the ")[0] for _, text in findings(app, gw, {})] for gw in (one, other)]
    everybody = "/other/gateway: cors is '*': pages of every origin may read the replies; list the origins"
    assert texts == [["/one/gateway", "/two/gateway"], ["/other/gateway", everybody]]


def test_a_gateway_knows_how_it_was_mounted():
    app, gw = Flask("host"), gateway()
    app.register_blueprint(gw.blueprint("open", cors="*", playground=True))
    app.register_blueprint(gw.blueprint("closed", cors=["https://a.example"]), url_prefix="/closed")
    known = {name: (one.playground is not None, one.cors.origins) for name, one in gw.mounts[app].items()}
    assert known == {"open": (True, "*"), "closed": (False, frozenset({"https://a.example"}))}
    assert app.extensions["gatewayfw"] == {"open": gw, "closed": gw}


def test_an_app_of_its_own_is_a_mount_too():
    gw = gateway()
    app = gw.create_app(playground=True, url_prefix="/api")
    assert (list(gw.mounts[app]), list(findings(app, gw, {}))) == (["gateway"], [ON])


def test_a_mount_of_the_same_name_in_another_app_is_another_mount():
    gw = gateway()
    app, other = gw.create_app(playground=True, url_prefix="/api"), gw.create_app()
    assert (list(findings(app, gw, {})), list(findings(other, gw, {}))) == ([ON], [])


# -- keys


def key_finding(flaw, name=KEY):
    return (
        "problem",
        f"{name} {flaw}: anyone who guesses it can forge tokens; "
        'python -c "import secrets; print(secrets.token_hex(32))" prints a good one',
    )


@pytest.mark.parametrize(
    ("key", "flaw"),
    [
        pytest.param(GOOD[:31], "has fewer than 32 bytes", id="short"),
        pytest.param("a" * 40, "has fewer than 6 different characters", id="one character"),
        pytest.param("0123456789" * 4, "repeats itself", id="repeated"),
        pytest.param("0123456789" * 3 + "0123", "repeats itself", id="repeated and cut short"),
        pytest.param(GOOD[:16] * 2, "repeats itself", id="two halves"),
        pytest.param("please-change-me-1234567890-abcdefg", "reads like a placeholder", id="placeholder"),
        pytest.param("MySecretKeyMustBeLongEnough12345678", "reads like a placeholder", id="words"),
    ],
)
def test_a_weak_token_key_is_a_problem(key, flaw):
    assert judged(gateway(), {KEY: key}) == [key_finding(flaw)]
    assert judged(gateway(), {KEY: key, "GATEWAYFW_ENV": "development"}) == []


@pytest.mark.parametrize("key", [GOOD, ""])
def test_a_weak_fallback_is_a_problem(key):
    name = f"{KEY}_FALLBACKS"
    expected = [key_finding("has fewer than 32 bytes", name), key_finding("repeats itself", name)]
    assert judged(gateway(), {KEY: key, name: f"{GOOD[:31]},{GOOD[::-1]},{GOOD[:16] * 2}"}) == expected


@pytest.mark.parametrize(
    "key",
    [
        *(GOOD, "b07b9f6c4e9d46d1" * 3 + GOOD, GOOD[:31] + GOOD[0], GOOD[:17] + GOOD[:15]),
        *("abcdefbacdefcabdefdabcefeabcdffabcde", "é" * 3 + GOOD, "\udcff" + GOOD),
    ],
    ids=["good", "long", "ends as it starts", "half of it twice", "six characters", "other text", "no text"],
)
def test_a_key_that_seems_random_is_none(key):
    assert judged(gateway(), {KEY: key}) == []


def test_random_keys_are_no_finding():
    keys = [make(32) for make in (secrets.token_hex, secrets.token_urlsafe) for _ in range(200)]
    assert [judged(gateway(), {KEY: key}) for key in keys] == [[]] * 400


def with_tokens():
    gw = gateway()
    auth = Auth(gw.context_fns, Tokens(GOOD), load_user=lambda id_: None)
    gw.acts.act("item", "addItem", pre_act=[auth.read_token, access_rule(auth.load_user)])(lambda body: None)
    return gw


@pytest.mark.parametrize("environ", [{}, {KEY: ""}])
def test_tokens_whose_key_is_not_in_the_environment_are_a_hint(environ):
    text = f"{KEY} is not set: keep the key that the app gives its tokens out of the code"
    assert judged(with_tokens(), environ) == [("hint", text)]
    assert judged(with_tokens(), {**environ, "GATEWAYFW_ENV": "development"}) == []


def test_tokens_whose_key_is_in_the_environment_are_none():
    assert judged(with_tokens(), {KEY: GOOD}) == []


@pytest.mark.parametrize(
    ("secret", "expected"),
    [
        pytest.param(None, [], id="none"),
        pytest.param(GOOD[::-1], [], id="another"),
        pytest.param(bytes(range(16)), [], id="bytes"),
        pytest.param("\udcff" + GOOD, [], id="no text"),
        pytest.param(
            "dev",
            [
                (
                    "warning",
                    "the app's SECRET_KEY has fewer than 16 bytes: anyone who guesses it can forge session cookies",
                )
            ],
            id="short",
        ),
        pytest.param(
            GOOD.encode(),
            [("warning", f"{KEY} is the app's SECRET_KEY too: who learns one has both; use two")],
            id="the same",
        ),
    ],
)
def test_the_secret_of_the_app_is_judged_too(secret, expected):
    app = Flask("host")
    app.secret_key = secret
    assert judged_in(app, gateway(), {KEY: GOOD}) == expected


# -- workers


MEMORY = (
    "problem",
    "the data is in memory: each worker has its own, and it ends with the process; "
    "use MongoDB, or one worker and GATEWAYFW_ENV=development",
)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, [MEMORY]),
        ({"WEB_CONCURRENCY": "1"}, [MEMORY]),
        ({"GATEWAYFW_ENV": "development"}, []),
        ({"GATEWAYFW_ENV": "development", "WEB_CONCURRENCY": "1"}, []),
        ({"GATEWAYFW_ENV": "development", "WEB_CONCURRENCY": "2"}, [MEMORY]),
    ],
    ids=str,
)
def test_data_in_memory_is_a_problem_but_for_one_process_in_development(environ, expected):
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    assert judged(gw, environ) == expected


MEANT = ("warning", "the data is in memory, as set_db(..., memory=True) says: it ends with the process")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [({}, [MEANT]), ({"GATEWAYFW_ENV": "development"}, []), ({"WEB_CONCURRENCY": "2"}, [MEMORY])],
    ids=str,
)
def test_data_in_memory_that_is_meant_is_a_warning_but_for_several_workers(environ, expected):
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test, memory=True)
    assert judged(gw, environ) == expected


def test_data_in_mongodb_is_none():
    gw = gateway()
    gw.odm.set_db("mongodb://127.0.0.1:9/none")
    found = judged(gw, {"WEB_CONCURRENCY": "4"})
    gw.odm.storage.close()
    assert found == []


UNKNOWN = (
    "hint",
    "each process counts calls for limits by itself: with more than one, "
    "set rate_limit_storage (GATEWAYFW_RATE_LIMIT_STORAGE) to a mongodb:// URI",
)


def several(number):
    remedy = "set rate_limit_storage (GATEWAYFW_RATE_LIMIT_STORAGE) to a mongodb:// URI"
    return ("warning", f"each of {number} workers counts calls for limits by itself: {remedy}")


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, [UNKNOWN]),
        ({"WEB_CONCURRENCY": "many", "GUNICORN_CMD_ARGS": "--bind :80 --threads 8"}, [UNKNOWN]),
        ({"GUNICORN_CMD_ARGS": "--name shop-w5 -w many -w 5x"}, [UNKNOWN]),
        ({"WEB_CONCURRENCY": "1"}, []),
        ({"WEB_CONCURRENCY": " 4 "}, [several(4)]),
        ({"GUNICORN_CMD_ARGS": "-b :80 -w 3"}, [several(3)]),
        ({"GUNICORN_CMD_ARGS": "-w3 --timeout=60"}, [several(3)]),
        ({"GUNICORN_CMD_ARGS": "--workers=3 --workers 1"}, []),
        ({"GUNICORN_CMD_ARGS": "--workers=3", "WEB_CONCURRENCY": "1"}, [several(3)]),
        ({"GATEWAYFW_ENV": "development", "WEB_CONCURRENCY": "4"}, []),
    ],
    ids=str,
)
def test_limits_that_each_worker_counts_by_itself(environ, expected):
    assert judged(acting("getItem", public=True, limit="9/minute"), environ) == expected


def test_limits_that_all_workers_count_together_are_none():
    gw = acting("getItem", public=True, limit="9/minute", rate_limit_storage="mongodb://u:hush@db.example/counts")
    assert judged(gw, {"WEB_CONCURRENCY": "4"}) == []


LATE = "a worker may be killed in the middle of an act"


@pytest.mark.parametrize(
    ("deadline", "arguments", "expected"),
    [
        (29.5, "", []),
        (30, "", [("warning", f"the deadline of 30 s is not below gunicorn's default timeout of 30 s: {LATE}")]),
        (30, "--timeout 60", []),
        (30, "-t 0", []),
        (5, "-t 1", [("warning", f"the deadline of 5 s is not below gunicorn's timeout of 1 s: {LATE}")]),
        (5, "-t 5", [("warning", f"the deadline of 5 s is not below gunicorn's timeout of 5 s: {LATE}")]),
    ],
)
def test_a_deadline_above_the_timeout_of_workers_is_a_warning(deadline, arguments, expected):
    assert judged(gateway(deadline=deadline), {"GUNICORN_CMD_ARGS": arguments}) == expected


# -- settings


EXPOSED = ("warning", "setting 'expose_errors' is on: replies show the messages of unexpected exceptions")
DETAILED = (
    "hint",
    "setting 'error_detail' is on: every error carries what a client can ask for with the header X-Gateway-Detail",
)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"expose_errors": True}, [EXPOSED]),
        ({"expose_errors": False}, []),
        ({"error_detail": True}, [DETAILED]),
    ],
    ids=str,
)
def test_replies_that_say_more_than_they_must(settings, expected):
    assert judged(gateway(**settings)) == expected
    assert judged(gateway(**settings), {"GATEWAYFW_ENV": "development"}) == []


# -- acts and services


def unruled(names):
    return (
        "hint",
        f"neither public nor with an access rule: {names}; "
        "say public=True or mark the hook that decides with access_rule (setting require_access demands it)",
    )


def test_acts_that_do_not_say_who_may_call_them_are_a_hint():
    gw = acting("addItem", "getItem")
    gw.acts.set_service("other", {"item": {"addItem": gw.acts.get_main_act("item", "addItem")}})
    expected = [unruled("item.addItem, item.getItem, other/item.addItem")]
    assert (judged(gw), judged(gw, {"GATEWAYFW_ENV": "development"})) == (expected, expected)


@pytest.mark.parametrize(("count", "more"), [(10, ""), (12, " and 2 more")])
def test_ten_acts_are_named(count, more):
    gw = acting(*(f"act{number}" for number in range(count)))
    assert judged(gw) == [unruled(f"{', '.join(f'item.act{number}' for number in range(10))}{more}")]


@pytest.mark.parametrize("hooks", ["pre_act", "pre_validation"])
def test_acts_with_an_access_rule_are_none(hooks):
    assert judged(acting("addItem", **{hooks: [access_rule(lambda body: None)]})) == []


def test_what_a_hook_needs_and_no_hook_gives_is_a_hint():
    gw = gateway()
    auth = Auth(gw.context_fns, Tokens(GOOD), load_user=lambda id_: None)
    gw.acts.act("item", "addItem", pre_act=[access_rule(auth.load_user)])(lambda body: None)
    text = (
        "item.addItem: no hook comes before load_user, which needs 'token' in the context; "
        "a function of the app around the request must put it there"
    )
    assert judged(gw, {KEY: GOOD}) == judged(gw, {KEY: GOOD, "GATEWAYFW_ENV": "development"}) == [("hint", text)]


def test_public_acts_without_a_limit_are_a_hint():
    text = "public without a limit: item.login, item.getItem; limit='60/minute' bounds what one caller costs"
    gw = acting("login", "getItem", public=True)
    assert (judged(gw), judged(gw, {"GATEWAYFW_ENV": "development"})) == ([("hint", text)], [])


def test_files_that_nothing_opens_are_a_warning(tmp_path):
    found = []
    for given, settings in (({}, {}), ({}, {"link_key": "l" * 32}), ({"public": True}, {})):
        gw = gateway(**settings)
        gw.odm.set_db(mongomock.MongoClient().db, memory=True)
        gw.files.use(DirectoryFiles(tmp_path))
        gw.files.model("photo", **given)
        found.append([text for _, text in judged(gw) if "links" in text])
        assert [
            text for _, text in judged_in(Flask("other"), gw, {"GATEWAYFW_ENV": "development"}) if "link" in text
        ] == []
    assert found == [["only links open the stored files, and without the setting link_key there are none"], [], []]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://stock.example:8000/api", "stock.example"),
        ("http://10.0.0.7", "10.0.0.7"),
        ("http://[fd00::1]", "fd00::1"),
    ],
)
def test_a_remote_service_by_plain_http_is_a_warning(url, host):
    gw = gateway()
    gw.acts.set_service("far", url)
    text = f"service 'far': requests and tokens go to {host} unencrypted; use https"
    assert judged(gw) == [("warning", text), open_services("far")]


@pytest.mark.parametrize(
    "url",
    ["https://stock.example", "http://127.0.0.1:8001", "http://[::1]", "http://localhost", "http://a.localhost:1"],
)
def test_a_remote_service_by_https_or_on_this_machine_is_none(url):
    gw = gateway()
    gw.acts.set_service("far", url)
    assert judged(gw) == [open_services("far")]


def open_services(names):
    return (
        "hint",
        f"services elsewhere that anybody may call through this gateway: {names}; "
        "unless they judge callers themselves, put an access rule into set_service(..., pre_act=[...])",
    )


def test_remote_services_without_an_access_rule_are_a_hint():
    gw = gateway()
    gw.acts.set_service("bare", "https://bare.example")
    gw.acts.set_service("noted", "https://noted.example", pre_act=[lambda body: None])
    gw.acts.set_service("ruled", "https://ruled.example", pre_act=[access_rule(lambda body: None)])
    expected = [open_services("bare, noted")]
    assert (judged(gw), judged(gw, {"GATEWAYFW_ENV": "development"})) == (expected, expected)


# -- secrets


def test_no_text_shows_a_secret():
    app, key = Flask("host"), "hush-hush-" * 4
    app.secret_key = key
    gw = acting("getItem", public=True, limit="9/minute", rate_limit_storage="mongodb://user:hush@db.example/hush")
    gw.odm.set_db(mongomock.MongoClient("mongodb://user:hush@db.example").test)
    gw.acts.set_service("far", "http://stock.example/hush")
    found = judged_in(app, gw, {KEY: key}, cors="*")
    assert (len(found), [text for _, text in found if "hush" in text]) == (7, [])

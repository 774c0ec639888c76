"""CORS: exact origins, preflights that run no act, headers on errors too."""

import copy
from dataclasses import FrozenInstanceError

import pytest
from flask import Flask, Response
from werkzeug.datastructures import Headers

from gatewayfw import gateway
from gatewayfw.errors import DefinitionError, HttpError
from gatewayfw.web.cors import Cors
from tests.web.mount import host, post, raising, refusal, seen
from tests.web.refusals import refused

pytestmark = pytest.mark.usefixtures("entry")
SHOP = "https://shop.example"
EXPOSED = "X-Error-Code, X-Request-Id, Retry-After, Idempotent-Replay"
PREFLIGHT = {
    "Access-Control-Allow-Methods": "POST",
    "Access-Control-Allow-Headers": (
        "content-type, token, authorization, accept-language, x-request-id, x-gateway, x-gateway-detail, "
        "idempotency-key"
    ),
    "Access-Control-Max-Age": "600",
}


def cors_headers(reply):
    return {name: value for name, value in reply.headers if name.startswith("Access-Control") or name == "Vary"}


def preflight(app, origin=SHOP):
    headers = {"Origin": origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "token"}
    return app.test_client().options("/api/gateway", headers=headers)


ORIGINS = [
    ("*", SHOP, {"Access-Control-Allow-Origin": "*"}),
    ([SHOP], SHOP, {"Access-Control-Allow-Origin": SHOP, "Vary": "Origin"}),
    ((SHOP, "http://127.0.0.1:5173"), "http://127.0.0.1:5173", None),
]


@pytest.mark.parametrize(("cors", "origin", "allowed"), ORIGINS)
def test_allowed_origin_may_read_the_reply(cors, origin, allowed):
    allowed = allowed or {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    reply = post(host(cors=cors), headers={"Origin": origin})
    assert (reply.status_code, cors_headers(reply)) == (200, {**allowed, "Access-Control-Expose-Headers": EXPOSED})


@pytest.mark.parametrize(("cors", "origin", "allowed"), ORIGINS)
def test_preflight_is_answered_without_an_act(cors, origin, allowed):
    allowed = allowed or {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    reply = preflight(host(raising(AssertionError), cors=cors), origin)
    assert reply.status_code == 204
    assert reply.data == b""
    assert reply.headers["Allow"] == "POST, OPTIONS"
    assert cors_headers(reply) == {**allowed, **PREFLIGHT}


@pytest.mark.parametrize(
    "origin", ["https://shop.example.evil", "http://shop.example", "null", "https://SHOP.example", ""]
)
def test_other_origins_get_nothing_but_vary(origin):
    app = host(cors=[SHOP])
    replies = post(app, headers={"Origin": origin}), preflight(app, origin)
    assert [cors_headers(reply) for reply in replies] == [{"Vary": "Origin"}] * 2


def test_star_is_on_replies_without_an_origin_too():
    assert cors_headers(post(host(cors="*")))["Access-Control-Allow-Origin"] == "*"


def test_without_the_option_no_cors_header_is_sent():
    app = host()
    replies = post(app, headers={"Origin": SHOP}), preflight(app)
    assert [(reply.status_code, cors_headers(reply)) for reply in replies] == [(200, {}), (204, {})]


@pytest.mark.parametrize("headers", [{}, {"Origin": SHOP}, {"Access-Control-Request-Method": "POST"}])
def test_options_that_is_no_preflight_names_the_methods(headers):
    reply = host(raising(AssertionError), cors="*").test_client().options("/api/gateway", headers=headers)
    assert reply.status_code == 204
    assert reply.headers["Allow"] == "POST, OPTIONS"
    assert "Access-Control-Max-Age" not in reply.headers


def test_error_replies_carry_the_headers():
    reply = post(host(raising(HttpError("no", 429)), cors=[SHOP]), headers={"Origin": SHOP})
    assert seen(reply) == refusal(429, "no")
    assert cors_headers(reply) == {
        "Access-Control-Allow-Origin": SHOP,
        "Vary": "Origin",
        "Access-Control-Expose-Headers": EXPOSED,
    }


def test_headers_the_host_set_stay_and_are_not_doubled():
    app = host(cors=[SHOP])

    @app.after_request
    def add(reply):
        reply.headers.add("Access-Control-Allow-Origin", "https://host.example")
        reply.headers.add("Vary", "Cookie, origin")
        return reply

    reply = post(app, headers={"Origin": SHOP})
    assert reply.headers.getlist("Access-Control-Allow-Origin") == ["https://host.example"]
    assert reply.headers.getlist("Vary") == ["Cookie, origin"]


def test_response_class_of_the_host_keeps_the_headers():
    app = host(cors="*")
    app.response_class = type("Own", (Response,), {"default_mimetype": "text/html"})
    reply = post(app)
    assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, "*")


@pytest.mark.parametrize(
    "option",
    [
        *(None, "*", [], ["http://localhost:3000"], ("https://a.b", "http://[::1]:80000")),
        *(
            [
                "http://a.b:443",
                "https://a.b:80",
                "http://a.b:8080",
                "https://a-b_c9.example:4430",
                "moz-extension://a1",
            ],
        ),
    ],
)
def test_right_options_are_taken(option):
    assert Cors.checked(option).origins == (frozenset(option) if isinstance(option, list | tuple) else option)


SHAPE = "option 'cors': an origin looks like 'https://host' or 'https://host:port', in lower case"
WRONG = [
    (SHOP, "option 'cors': expected '*' or a list of origins"),
    (True, "option 'cors': expected '*' or a list of origins"),
    ({SHOP: 1}, "option 'cors': expected '*' or a list of origins"),
    ([SHOP + "/"], SHAPE),
    ([SHOP + "/path"], SHAPE),
    (["*"], SHAPE),
    (["null"], SHAPE),
    (["shop.example"], SHAPE),
    (["https://Shop.example"], SHAPE),
    (["https://user@shop.example"], SHAPE),
    (["https://*.example"], SHAPE),
    ([SHOP + "\n"], SHAPE),
    ([None], SHAPE),
    (["https://shop.example:443"], "option 'cors': browsers leave the default port out, write 'https://shop.example'"),
    (["https://a.b", "http://[::1]:80"], "option 'cors': browsers leave the default port out, write 'http://[::1]'"),
]


@pytest.mark.parametrize(("option", "message"), WRONG)
def test_wrong_options_are_refused(option, message):
    with pytest.raises(DefinitionError) as caught:
        Cors.checked(option)
    assert caught.value.message == message


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_reply_that_the_host_copies_keeps_its_headers(copied):
    app = host(cors=[SHOP])
    app.after_request(copied)
    reply = post(app, headers={"Origin": SHOP})
    assert seen(reply) == seen(post(host()))
    assert cors_headers(reply) == {
        "Access-Control-Allow-Origin": SHOP,
        "Vary": "Origin",
        "Access-Control-Expose-Headers": EXPOSED,
    }


def test_a_preflight_allows_the_headers_of_the_option_too():
    assert Cors.checked("*", ["X-Api-Key", "x-tenant", "Token"]).headers == (
        f"{PREFLIGHT['Access-Control-Allow-Headers']}, x-api-key, x-tenant"
    )


@pytest.mark.parametrize("mount", ["blueprint", "create_app"])
def test_the_option_reaches_the_preflight(mount):
    gw, options = gateway(), {"cors": [SHOP], "cors_headers": ["x-api-key"]}
    app = gw.create_app(**options) if mount == "create_app" else Flask("host")
    if mount == "blueprint":
        gw.init_app(app, **options)
    headers = {"Origin": SHOP, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-api-key"}
    reply = app.test_client().options("/gateway", headers=headers)
    assert reply.headers["Access-Control-Allow-Headers"].endswith(", idempotency-key, x-api-key")


def test_a_policy_for_nobody_adds_nothing():
    headers = Headers()
    Cors().complete(headers, SHOP, preflight="POST")
    assert list(headers) == []
    assert Cors() == Cors.checked(None)
    assert Cors.checked(None) == Cors()


def test_a_policy_never_changes():
    with pytest.raises(FrozenInstanceError):
        Cors().origins = "*"


def test_a_preflight_allows_the_headers_of_hooks_once():
    headers, policy = Headers(), Cors.checked([SHOP], ["x-api-key"], lambda: ["x-role", "token"])
    policy.complete(headers, SHOP, preflight="POST")
    allowed = f"{PREFLIGHT['Access-Control-Allow-Headers']}, x-api-key, x-role"
    origin = {"Access-Control-Allow-Origin": SHOP, "Vary": "Origin"}
    assert dict(headers) == {**PREFLIGHT, **origin, "Access-Control-Allow-Headers": allowed}


def test_a_header_has_at_most_100_characters():
    assert Cors.checked("*", ["X" * 100]).headers.endswith(f", {'x' * 100}")
    assert refused(Cors.checked, "*", ["x" * 101]) == (DefinitionError, NO_HEADERS)


NO_HEADERS = "option 'cors_headers': expected a list of header names such as 'x-api-key'"


@pytest.mark.parametrize("headers", ["x-api-key", ["*"], ["a b"], ["a\r\nb"], [""], [1], {"x": 1}, None])
def test_wrong_headers_are_refused(headers):
    with pytest.raises(DefinitionError) as caught:
        Cors.checked("*", headers)
    assert caught.value.message == NO_HEADERS


def test_headers_go_with_origins():
    with pytest.raises(DefinitionError, match="^option 'cors_headers' goes with 'cors'$"):
        Cors.checked(None, ["x-api-key"])

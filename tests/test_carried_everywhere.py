"""Whoever sends or describes a token or a role knows where the gateway's hooks look for it."""

from __future__ import annotations

import threading

import mongomock
import pytest
from bson import ObjectId
from openapi_spec_validator import OpenAPIV31SpecValidator

from gatewayfw import gateway, string
from gatewayfw.auth import Auth, Rule, Tokens, bearer, cookie, header, set_field
from gatewayfw.cli.exports import route_of
from gatewayfw.client import CallError, HttpClient, InProcessClient
from gatewayfw.errors import DefinitionError
from gatewayfw.export.openapi import openapi
from gatewayfw.export.typescript.module import typescript
from gatewayfw.web.servers import threaded_server
from tests.cli.shop import make_app

ID, ROLE = "0123456789abcdef01234567", "a" * 24
USER = {"_id": ID, "roles": [{"roleId": ObjectId(ROLE), "name": "Manager"}]}
TOKENS = Tokens("k" * 32)
ROLE_HEADER = header("X-Role")
GOOD = TOKENS.issue({"_id": ID})
CARRIERS = {"header": header("X-Key"), "bearer": bearer(), "cookie": cookie("sid")}


def made(token_from, role_from=ROLE_HEADER):
    """A gateway with an act for managers."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().test)
    auth = Auth(gw.context_fns, TOKENS, {ID: USER}.get, token_from=token_from, role_from=role_from)
    hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=("Manager",)))]

    @gw.acts.act("user", "name", pre_act=hooks, returns=string(), mcp=True)
    def name(body):
        return gw.context_fns.get_context_model()["active_role"]["name"]

    return gw


@pytest.fixture(params=CARRIERS.values(), ids=CARRIERS)
def carrier(request):
    """Where the token is."""
    return request.param


@pytest.fixture
def gw(carrier):
    return made(carrier)


@pytest.fixture
def serve():
    """Serve a gateway in a thread; gives its URL."""
    servers = []

    def serve(gw):
        server = threaded_server(gw.create_app(), "127.0.0.1", 0)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.port}"

    yield serve
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def refusal(call, *args, **kwargs):
    with pytest.raises(CallError) as raised:
        call(*args, **kwargs)
    return raised.value.status, raised.value.message


def test_clients_send_the_token_there(gw, carrier, serve):
    options = {"headers": {"X-Role": ROLE}, "token_from": carrier}
    with HttpClient(serve(gw), GOOD, **options) as http:
        for client in (http, InProcessClient(gw, GOOD, **options)):
            assert client.call("user", "name") == "Manager"
            assert refusal(client.with_token("x").call, "user", "name") == (401, "Invalid or expired token")
            assert refusal(client.with_token(None).call, "user", "name")[0] == 401


def test_a_client_that_sends_it_elsewhere_is_refused(gw):
    assert refusal(InProcessClient(gw, GOOD, {"X-Role": ROLE}).call, "user", "name")[0] == 401


def test_the_header_of_the_token_is_the_clients_own(gw, carrier):
    with pytest.raises(DefinitionError) as raised:
        InProcessClient(gw, headers={carrier.header.title(): "x"}, token_from=carrier)
    assert raised.value.message == f"headers: {carrier.header.title()} is the client's own"


@pytest.mark.parametrize("token_from", [set_field("token"), "token", None])
def test_a_client_refuses_what_is_no_part_of_its_headers(token_from):
    with pytest.raises(DefinitionError) as raised:
        HttpClient("http://127.0.0.1:1", token_from=token_from)
    assert raised.value.message == "token_from: expected header(...), bearer() or cookie(...)"


@pytest.mark.parametrize("role_from", [header("X-Role"), cookie("role")], ids=["header", "cookie"])
def test_tools_of_language_models_send_both_there(carrier, role_from):
    body = {"service": "main", "model": "user", "act": "name", "details": {"set": {}, "get": {}}}

    def called(token, role):
        return route_of("gw").ask(body, token, role)["body"]

    with make_app(gw=made(carrier, role_from)).app_context():
        assert called(GOOD, ROLE) == "Manager"
        assert called("x", ROLE) == {"message": "Invalid or expired token"}
        assert called(GOOD, None) == {"message": f"{role_from.name} is required"}


@pytest.mark.parametrize("role_from", [header("X-Role"), cookie("role")], ids=["header", "cookie"])
def test_a_remote_service_gets_token_and_role_and_no_other_cookie(carrier, role_from, serve):
    near, far = made(carrier, role_from), made(carrier, role_from)
    seen = []
    far.acts.act("user", "headers")(lambda body: seen.append(dict(far.context_fns.get_context_model().Headers)))
    near.acts.set_service("far", serve(far))
    cookies = {"theme": "dark", **({"sid": GOOD} if carrier.place == "cookie" else {})}
    cookies |= {"role": ROLE} if role_from.place == "cookie" else {}
    headers = {**carrier.sent(GOOD), **role_from.sent(ROLE), "X-Other": "1"}
    headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())

    def ask(act):
        body = {"service": "far", "model": "user", "act": act, "details": {"set": {}, "get": {}}}
        return near.create_app().test_client(use_cookies=False).post("/gateway", json=body, headers=headers).json

    assert ask("name") == {"body": "Manager", "success": True}
    ask("headers")
    expected = "; ".join(f"{name}={value}" for name, value in cookies.items() if name != "theme")
    assert seen[0].get("Cookie", "") == expected
    assert "X-Other" not in seen[0]


def test_a_guard_in_front_of_a_service_is_enough_for_the_token_to_pass(carrier, serve):
    far, near = made(carrier), gateway()
    near.odm.set_db(mongomock.MongoClient().test)
    auth = Auth(near.context_fns, TOKENS, {ID: USER}.get, token_from=carrier)
    near.acts.set_service("far", serve(far), pre_act=[auth.read_token], headers=["X-Role"])
    options = {"headers": {"X-Role": ROLE}, "token_from": carrier}
    assert InProcessClient(near, GOOD, **options).call("user", "name", service="far") == "Manager"
    refused = (401, "Invalid or expired token")
    assert refusal(InProcessClient(near, "x", **options).call, "user", "name", service="far") == refused


@pytest.mark.parametrize("cors", ["*", ["https://shop.example"]])
def test_a_preflight_allows_the_headers_of_token_and_role(gw, carrier, cors):
    headers = {"Origin": "https://shop.example", "Access-Control-Request-Method": "POST"}
    reply = gw.create_app(cors=cors).test_client().options("/gateway", headers=headers)
    allowed = reply.headers["Access-Control-Allow-Headers"].split(", ")
    usual = "content-type, token, authorization, accept-language, x-request-id, x-gateway, x-gateway-detail"
    own = ["x-key"] if carrier.place == "header" else []
    assert allowed == [*usual.split(", "), "idempotency-key", *own, "x-role"]
    assert "Access-Control-Allow-Credentials" not in reply.headers


def test_the_catalog_names_both(gw, carrier):
    act = gw.catalog()["services"]["main"]["acts"]["user"]["name"]
    token = {"in": carrier.place, "name": carrier.name}
    assert gw.catalog()["tokens"] == [token]
    assert act["token"] == token
    assert act["role"] == {"in": "header", "name": "x-role"}


SCHEMES = {
    "header": ("x-key", {"type": "apiKey", "in": "header", "name": "x-key"}),
    "bearer": ("bearer-authorization", {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}),
    "cookie": ("cookie-sid", {"type": "apiKey", "in": "cookie", "name": "sid"}),
}


@pytest.mark.parametrize("role_from", [header("X-Role"), cookie("role")], ids=["header", "cookie"])
def test_openapi_names_both(carrier, role_from):
    name, scheme = SCHEMES[carrier.place]
    role = "x-role" if role_from.place == "header" else "cookie-role"
    for virtual, path, open_to_all in ((False, "/gateway", [{}]), (True, "/gateway#user.name", [])):
        made_of = openapi(made(carrier, role_from).catalog(), virtual_paths=virtual)
        operation = made_of["paths"][path]["post"]
        assert made_of["components"]["securitySchemes"] == {name: scheme}
        assert operation["security"] == [*open_to_all, {name: []}]
        assert operation["parameters"][-1] == {"$ref": f"#/components/parameters/{role}"}
        described = made_of["components"]["parameters"][role]
        assert (described["in"], described["name"]) == (role_from.place, role_from.name)
        assert list(OpenAPIV31SpecValidator(made_of).iter_errors()) == []


WRITTEN = {
    "header": '{ "x-key": client.token }',
    "bearer": "{ Authorization: `Bearer ${client.token}` }",
    "cookie": "{ Cookie: `sid=${client.token}` }",
}


def test_the_typescript_client_sends_the_token_there(gw, carrier):
    assert f"...(client.token ? {WRITTEN[carrier.place]} : {{}})," in typescript(gw.catalog())


def test_where_hooks_look_in_several_places_the_token_is_sent_to_all(serve):
    gw = made(bearer())
    for number, name in enumerate(("sid", "old")):
        auth = Auth(gw.context_fns, TOKENS, {ID: USER}.get, token_from=cookie(name))
        gw.acts.act("user", f"other{number}", pre_act=[auth.read_token])(lambda body: None)
    sent = "{ Authorization: `Bearer ${client.token}`, Cookie: `sid=${client.token}; old=${client.token}` }"
    assert f"...(client.token ? {sent} : {{}})," in typescript(gw.catalog())
    assert gw.acts.token_carriers == (bearer(), cookie("sid"), cookie("old"))


def test_without_such_hooks_it_is_the_header_of_the_contract():
    gw = gateway()
    gw.acts.act("user", "any")(lambda body: None)
    assert (gw.catalog()["tokens"], gw.acts.role_carriers) == ([{"in": "header", "name": "token"}], ())
    act = gw.catalog()["services"]["main"]["acts"]["user"]["any"]
    assert (act["token"], act["role"]) == (None, None)
    assert "...(client.token ? { token: client.token } : {})," in typescript(gw.catalog())

"""The gateway object: its parts, its ways into an app, and requests that do not see each other."""

import asyncio
import inspect
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlsplit

import mongomock
import pymongo
import pytest
import urllib3
from flask import Flask
from prometheus_client import CollectorRegistry

from gatewayfw import observe
from gatewayfw.core import Gateway, gateway
from gatewayfw.errors import DefinitionError, HttpError
from gatewayfw.export.typescript.module import typescript
from gatewayfw.files import GridFsFiles
from gatewayfw.schemas import optional, string
from gatewayfw.web.flask_bypass import FlaskBypass
from gatewayfw.web.servers import threaded_server
from gatewayfw.wire.posting import ENVELOPE_BYTES
from tests.waiting import wait_until

BODY = {"model": "user", "act": "echo", "details": {"set": {"name": "x"}, "get": {}}}
OK = (200, {"body": {"name": "x"}, "success": True})


def echoing(**settings) -> Gateway:
    gw = gateway(**settings)
    gw.acts.act("user", "echo", set={"name": string()}, get={})(lambda body: body["details"]["set"])
    return gw


@pytest.fixture
def gw():
    return echoing()


def post(app, path="/gateway", json=BODY, **given):
    reply = app.test_client().post(path, json=json, **given)
    return reply.status_code, reply.get_json()


def defaults(call):
    """The default of each argument that has one."""
    found = inspect.signature(call).parameters.values()
    return {one.name: one.default for one in found if one.default is not one.empty}


MOUNTED = {"playground": False, "playground_guard": None, "cors": None, "cors_headers": (), "static_path": ()}
SERVED = {
    **{"port": 8000, "type_generation": False, "host": "127.0.0.1", "workers": 2, "threads": 8, "url_prefix": ""},
    **{"server": "gunicorn", "fast_lane": True, "check": True, "probes": True},
}


def test_what_is_left_out_has_a_default():
    made = {"app": None, "caller_key": None, "exceptions": None, "roles": (), "policy_role": None}
    calls = ("init_app", "blueprint", "create_app", "run_server", "generate_types", "generateSchemTypes", "runServer")
    assert [defaults(call) for call in (gateway, Gateway, *(getattr(Gateway, name) for name in calls))] == [
        *(made, made, {"url_prefix": ""}),
        {"name": None, **MOUNTED, "static_prefix": None, "check": True, "probes": False},
        *({**MOUNTED, **SERVED}, {**MOUNTED, **SERVED}),
        *({"path": "declarations", "lang": "ts"}, {"path": "declarations"}, {**MOUNTED, **SERVED}),
    ]


def test_run_server_makes_and_serves_the_app_of_its_options(gw, monkeypatch):
    made, restricted, served, app = [], [], [], Flask("made")
    options = {
        **{"playground": True, "playground_guard": bool, "cors": "*", "cors_headers": ["x-a"], "static_path": ["a"]},
        **{"port": 5, "type_generation": True, "host": "h", "workers": 3, "threads": 4, "url_prefix": "/api"},
        **{"server": "waitress", "fast_lane": False, "check": False, "probes": False},
    }
    monkeypatch.setattr(Gateway, "create_app", lambda self, **given: made.append(given) or app)
    monkeypatch.setattr("gatewayfw.core.restrict_hosts", lambda *given, **named: restricted.append((given, named)))
    monkeypatch.setattr("gatewayfw.core.serve", lambda *given, **named: served.append((given, named)))
    assert sorted(options) == sorted({**MOUNTED, **SERVED})
    gw.run_server(**options)
    how = {key: options[key] for key in ("host", "port", "workers", "threads", "server")}
    assert made == [options]
    assert restricted == [((app, "h"), {"playground": True, "environ": os.environ})]
    assert served == [((app,), {**how, "multi_process": False, "settings": gw.settings, "most_bytes": 1_048_576})]


def test_blueprint_serves_the_acts_in_a_host_app(gw):
    app = Flask("host")
    app.register_blueprint(gw.blueprint(), url_prefix="/api")
    assert post(app, "/api/gateway") == OK


def test_init_app_mounts_under_a_prefix(gw):
    app = Flask("host")
    gw.init_app(app, "/api", cors="*")
    assert post(app, "/api/gateway") == OK


@pytest.mark.parametrize("make", [Gateway, gateway])
def test_a_gateway_takes_an_app_and_its_config(make):
    app = Flask("host")
    app.config.from_mapping(GATEWAYFW_MAX_BODY_BYTES=100, GATEWAYFW_MAX_BATCH="2")
    gw = make(app, max_batch=3)
    gw.acts.act("book", "ping", set={"x": optional(string)})(lambda body: "pong")
    assert (gw.settings.max_body_bytes, gw.settings.max_batch) == (100, 3)
    body = {"model": "book", "act": "ping", "details": {"set": {}, "get": {}}}
    post = app.test_client().post
    assert post("/gateway", json=body).get_json() == {"body": "pong", "success": True}
    assert post("/gateway", json={**body, "details": {"set": {"x": "y" * 100}, "get": {}}}).status_code == 413


@pytest.mark.parametrize("make", [Gateway, gateway])
def test_what_a_gateway_is_given_is_in_force(make):
    gw, calls = make(caller_key=lambda context: context.Headers["who"], exceptions={KeyError: (409, "c", "m")}), []
    gw.on_call(calls.append)

    @gw.acts.act("user", "take", public=True, limit="1/minute")
    def take(body):
        raise KeyError

    app, asked = gw.create_app(), {"model": "user", "act": "take", "details": {"set": {}, "get": {}}}
    replies = [post(app, json=asked, headers={"who": who}) for who in "aab"]
    assert [status for status, _ in replies] == [409, 429, 409]
    assert replies[0][1] == {"body": {"message": "m"}, "success": False}
    assert [(call.act, call.status) for call in calls] == [("take", 409), ("take", 429), ("take", 409)]


def test_services_elsewhere_have_the_settings_of_the_gateway(monkeypatch):
    bounds = []
    monkeypatch.setattr("gatewayfw.acts.remote.Posts", lambda url, **given: bounds.append(given["max_bytes"]))
    gateway(max_reply_bytes=5).acts.set_service("far", "http://far")
    assert bounds == [5 + ENVELOPE_BYTES]


@pytest.mark.parametrize("mount", [Gateway.init_app, lambda gw, app, **options: gw.create_app(**options)])
def test_a_guard_decides_who_sees_the_playground(gw, mount):
    app, guard = Flask("host"), lambda request: request.headers.get("x-in") == "1"
    client = (mount(gw, app, playground=True, playground_guard=guard) or app).test_client()
    assert [client.get("/playground/", headers={"x-in": given}).status_code for given in "01"] == [404, 200]


def test_static_files_are_served_where_one_says(gw, tmp_path):
    (tmp_path / "a.txt").write_text("a")
    app = Flask("host")
    gw.init_app(app, "/api", static_path=[tmp_path], static_prefix="/s")
    own = gw.create_app(static_path=[tmp_path], url_prefix="/api")
    for served, path in ((app, "/api/s/a.txt"), (own, "/a.txt")):
        with served.test_client().get(path) as reply:
            assert reply.data == b"a"


@pytest.mark.parametrize("fast_lane", [True, False])
def test_the_fast_lane_can_be_closed(gw, fast_lane):
    assert isinstance(gw.create_app(fast_lane=fast_lane).wsgi_app, FlaskBypass) is fast_lane


def make_shop():
    """A gateway of a module, with models, an act and a database, before there is an app."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().shop)
    books = gw.odm.new_model("book", {"title": string})
    gw.acts.act("book", "add", set={"title": string}, get=1)(lambda body: books.insert_one(body["details"]["set"]))
    gw.files.use(GridFsFiles())
    gw.files.model("file")
    return gw


def register(gw, app):
    app.register_blueprint(gw.blueprint(playground=True), url_prefix="/api")


@pytest.mark.parametrize("mount", [Gateway.init_app, register], ids=["init_app", "blueprint"])
def test_an_app_factory_gives_settings_to_what_is_defined_before(mount):
    gw, app = make_shop(), Flask("host")
    late = {"DEADLINE": 3, "LINK_KEY": "s" * 32, "MAX_BATCH": 5, "FAN_OUT_THREAD": False, "INLINE_LIMIT": 7}
    late |= {"PLAYGROUND_TITLE": "Harbour", "PLAYGROUND_COLOR": "#7a1fa2"}
    late |= {"OPERATION_TIMEOUT": 4, "SERVER_SELECTION_TIMEOUT": 1, "MAX_BODY_BYTES": 500, "ERROR_DETAIL": True}
    app.config.update({f"GATEWAYFW_{name}": value for name, value in late.items()})
    mount(gw, app)
    assert {name: getattr(gw.settings, name.lower()) for name in late} == late
    link = gw.files.link("f" * 24)
    signed = gateway(link_key="s" * 32)
    signed.files.model("file")
    assert signed.files.find_act("f" * 24, dict(parse_qsl(urlsplit(link).query)))


def test_what_comes_too_late_mounts_nothing():
    gw, app = make_shop(), Flask("host")
    app.config["GATEWAYFW_MAX_TEXT"] = 5
    with pytest.raises(DefinitionError, match="^app.config: GATEWAYFW_MAX_TEXT comes too late"):
        register(gw, app)
    assert (app.blueprints, len(gw.mounts)) == ({}, 0)
    register(gw, Flask("other"))


@pytest.mark.parametrize("mount", [Gateway.init_app, lambda gw, app, **options: gw.create_app(**options)])
def test_cors_option_reaches_the_replies(gw, mount):
    app = Flask("host")
    reply = (mount(gw, app, cors="*") or app).test_client().post("/gateway", json=BODY)
    assert (reply.status_code, reply.headers["Access-Control-Allow-Origin"]) == (200, "*")


def test_create_app_serves_the_acts(gw):
    assert post(gw.create_app()) == OK


def test_refused_details_are_a_validation_error(gw):
    found = post(gw.create_app(), json={**BODY, "details": {"set": {"name": 5}, "get": {}}})
    assert found == (400, {"body": {"message": "validation error: set.name: Not a valid string."}, "success": False})


@pytest.mark.parametrize("key", ["service", "model", "act"])
def test_unknown_names_are_not_found(gw, key):
    status, envelope = post(gw.create_app(), json={**BODY, key: "nobody"})
    assert status == 404
    assert envelope["success"] is False
    assert list(envelope["body"]) == ["message"]


def test_error_of_a_hook_is_the_reply(gw):
    def refuse(body):
        raise HttpError("You cant do this", 403)

    gw.acts.act("user", "closed", set={}, get={}, pre_act=[refuse])(lambda body: 1)
    found = post(gw.create_app(), json={**BODY, "act": "closed", "details": {"set": {}, "get": {}}})
    assert found == (403, {"body": {"message": "You cant do this"}, "success": False})


def test_two_gateways_share_an_app_but_nothing_else(gw):
    other = gateway()
    app = Flask("host")
    gw.init_app(app, "/one")
    other.init_app(app, "/two")
    assert post(app, "/one/gateway") == OK
    assert post(app, "/two/gateway")[0] == 404


def test_one_gateway_can_be_mounted_twice(gw):
    app = Flask("host")
    gw.init_app(app, "/one")
    gw.init_app(app, "/two")
    assert [post(app, path) for path in ("/one/gateway", "/two/gateway")] == [OK, OK]


def test_name_of_the_blueprint_is_taken(gw):
    assert gw.blueprint("acts").name == "acts"


def test_types_of_the_contracts_spelling_are_those_for_typescript(gw, tmp_path):
    assert asyncio.run(gw.generateSchemTypes(tmp_path)) == [tmp_path / "gateway.ts"]


@pytest.mark.parametrize("option", ["check", "probes"])
@pytest.mark.parametrize("mount", ["blueprint", "create_app"])
def test_a_switch_is_true_or_false(gw, mount, option):
    with pytest.raises(DefinitionError) as caught:
        getattr(gw, mount)(**{option: 1})
    assert caught.value.message == f"option {option!r}: expected true or false"


def test_an_observer_with_a_page_comes_before_the_gateway_is_mounted(gw):
    app = gw.create_app()
    with pytest.raises(DefinitionError) as caught:
        gw.on_call(observe.prometheus(guard=bool, registry=CollectorRegistry()))
    assert list(gw.mounts) == [app]
    assert caught.value.message == "on_call: the gateway is mounted already, without the page of this observer"


def test_contract_spellings(gw):
    assert gw.contextFns is gw.context_fns
    with pytest.raises(DefinitionError, match="^option 'port'"):
        gw.runServer({"port": -1, "staticPath": [], "typeGeneration": False})
    with pytest.raises(DefinitionError, match="^option 'port'"):
        gw.runServer(port=-1, staticPath=[], playground=False, cors=None)


def test_unknown_option_is_named(gw):
    with pytest.raises(TypeError, match="sttaicPath"):
        gw.runServer({"sttaicPath": []})


def test_types_are_written_where_nothing_is_right_yet(gw, tmp_path):
    assert gw.generate_types(tmp_path / "a") == [tmp_path / "a" / "gateway.ts"]
    assert gw.generate_types(str(tmp_path / "a")) == []
    assert gw.generate_types(tmp_path / "a", lang="python") == [tmp_path / "a" / "gateway_types.py"]
    with pytest.raises(DefinitionError) as caught:
        gw.generate_types(tmp_path / "b", lang="rust")
    assert caught.value.message == "unknown language 'rust' (known: ts, python)"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_type_generation_writes_the_types_at_start(gw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gw.create_app(type_generation=False)
    assert list(tmp_path.iterdir()) == []
    gw.create_app(type_generation=True)
    assert [path.name for path in tmp_path.rglob("*.*")] == ["gateway.ts"]
    assert (tmp_path / "declarations" / "gateway.ts").read_text() == typescript(gw.catalog())


def test_types_that_cannot_be_written_are_told_at_start(gw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "declarations").write_text("not a folder")
    with pytest.raises(DefinitionError, match="^option 'type_generation': the types cannot be written: .*declarations"):
        gw.create_app(type_generation=True)


def test_type_generation_is_true_or_false(gw):
    with pytest.raises(DefinitionError) as caught:
        gw.runServer({"typeGeneration": "ts"})
    assert caught.value.message == "option 'type_generation': expected true or false"


def test_settings_come_from_code_and_environment(monkeypatch):
    monkeypatch.setenv("GATEWAYFW_MAX_BODY_BYTES", "10")
    monkeypatch.setenv("GATEWAYFW_DEADLINE", "2")
    gw = echoing(deadline=3)
    assert (gw.settings.max_body_bytes, gw.settings.deadline) == (10, 3)
    assert post(gw.create_app()) == (413, {"body": {"message": "the request body is too large"}, "success": False})


def test_unknown_setting_is_refused():
    with pytest.raises(DefinitionError, match="did you mean 'deadline'"):
        gateway(deadlin=3)


def test_port_in_use_raises(gw):
    gw.odm.set_db(mongomock.MongoClient().test)
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        gw.run_server(port=taken.getsockname()[1])


@pytest.mark.parametrize(("workers", "in_memory", "warned"), [(2, False, True), (1, False, False), (2, True, False)])
def test_run_server_warns_where_processes_count_for_themselves(gw, monkeypatch, caplog, workers, in_memory, warned):
    monkeypatch.delenv("PROMETHEUS_MULTIPROC_DIR", raising=False)
    gw.odm.set_db(mongomock.MongoClient().test if in_memory else "mongodb://127.0.0.1:1/test")
    gw.on_call(observe.prometheus(registry=CollectorRegistry()))
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        gw.run_server(port=taken.getsockname()[1], workers=workers)
    assert ("gatewayfw.observe" in {record.name for record in caplog.records}) is warned


@pytest.mark.parametrize(
    ("client", "shared"),
    [
        (mongomock.MongoClient, False),
        (lambda: pymongo.MongoClient("mongodb://127.0.0.1:1", connect=False), True),
    ],
    ids=["mongomock", "mongo"],
)
def test_processes_are_used_only_for_a_database_they_can_share(gw, monkeypatch, client, shared):
    served = []
    monkeypatch.setattr("gatewayfw.core.serve", lambda app, **options: served.append(options))
    gw.runServer(port=5)
    with client() as opened:
        gw.odm.set_db(opened.test)
        gw.runServer({"port": 5})
    one = {"host": "127.0.0.1", "port": 5, "workers": 2, "threads": 8, "server": "gunicorn", "settings": gw.settings}
    one["most_bytes"] = 1_048_576
    assert served == [{**one, "multi_process": False}, {**one, "multi_process": shared}]


def test_the_server_takes_what_the_acts_take(gw, monkeypatch):
    served = []
    monkeypatch.setattr("gatewayfw.core.serve", lambda app, **options: served.append(options["most_bytes"]))
    gw.run_server()
    gw.acts.act("user", "setAvatar", set={"avatar": gw.schemas.file(most="1MB")})(lambda body: 1)
    gw.run_server()
    assert served == [gw.settings.max_body_bytes, gw.settings.max_upload_bytes]


@pytest.fixture
def address():
    """A threaded server whose act tells what its context holds, after all others have started."""
    gw = gateway()
    together = threading.Barrier(20)

    def read_token():
        context = gw.context_fns.get_context_model()
        gw.context_fns.add_context({"caller": context.Headers["token"]})

    def who(body):
        together.wait(10)
        context = gw.context_fns.get_context_model()
        return [context.caller, context.Headers["token"], context.body["details"]["set"]["name"], body is context.body]

    gw.acts.act("user", "who", set={"name": string()}, get={}, pre_act=[read_token])(who)
    running = threaded_server(gw.create_app(), "127.0.0.1", 0)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{running.port}/gateway"
    running.shutdown()
    thread.join()


def test_200_parallel_requests_see_only_their_own_context(address):
    with urllib3.PoolManager(maxsize=20, retries=False) as http, ThreadPoolExecutor(20) as pool:

        def ask(number):
            details = {"set": {"name": f"name-{number}"}, "get": {}}
            body = {"model": "user", "act": "who", "details": details}
            return http.request("POST", address, json=body, headers={"token": f"token-{number}"}).json()

        replies = list(pool.map(ask, range(200)))
    assert replies == [{"body": [f"token-{n}", f"token-{n}", f"name-{n}", True], "success": True} for n in range(200)]


PROGRAM = """
import os, sys
from gatewayfw.core import gateway
from gatewayfw.web.servers import serve
gw = gateway()
gw.acts.act("user", "pid", set={}, get={})(lambda body: os.getpid())
app = gw.create_app()
many = sys.argv[2] == "many"
options = {"workers": 2, "threads": 2, "settings": gw.settings, "most_bytes": gw.settings.max_body_bytes}
serve(app, host="127.0.0.1", port=int(sys.argv[1]), multi_process=many, **options)
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture(params=["many", "one"])
def program(request, tmp_path, default_signals):
    """The process of a server started by a program: of several processes, or of one."""
    port = free_port()
    environ = {**os.environ, "PYTHONPATH": os.getcwd(), "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(port), request.param], env=environ, stderr=subprocess.DEVNULL
    )
    yield request.param, port, process
    process.kill()
    process.wait()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_run_server_uses_processes_where_the_storage_can_be_shared(program):
    kind, port, process = program
    body = {"model": "user", "act": "pid", "details": {"set": {}, "get": {}}}
    pids = set()

    def every_process_answers():  # gunicorn 27 loses a signal that reaches a worker while it starts
        with urllib3.PoolManager(retries=urllib3.Retry(total=None, connect=60, backoff_factor=0.02)) as http:
            pids.add(http.request("POST", f"http://127.0.0.1:{port}/gateway", json=body, timeout=30).json()["body"])
        return len(pids) == (1 if kind == "one" else 2)

    assert wait_until(every_process_answers)
    process.send_signal(signal.SIGINT)
    assert (process.pid in pids, process.wait(30)) == (kind == "one", 0)


def test_two_gateways_at_one_path_are_refused(gw):
    host = Flask("host")
    gw.init_app(host, "/api")
    with pytest.raises(DefinitionError, match="^another gateway is at /api/gateway already: give one of the two a url"):
        gateway().init_app(host, "/api")


def test_only_the_mount_with_the_playground_lists_names(gw):
    host = Flask("host")
    gw.init_app(host, "/open", playground=True)
    gw.init_app(host, "/closed")
    asked = {**BODY, "act": "none"}
    refused = [
        *(post(host, path, json=asked) for path in ("/open/gateway", "/closed/gateway")),
        *(post(gw.create_app(playground=playground), json=asked) for playground in (True, False)),
    ]
    listed = (404, {"body": {"message": "act not found: user.none (known: echo)"}, "success": False})
    bare = (404, {"body": {"message": "act not found: user.none"}, "success": False})
    assert refused == [listed, bare, listed, bare]


def test_deadline_holds_without_a_database():
    gw = gateway(deadline=0.05)
    gw.acts.act("user", "slow", pre_act=[lambda: threading.Event().wait(0.1)])(lambda body: 1)
    gw.acts.act("user", "quick")(lambda body: 1)
    asked = {"model": "user", "act": "slow", "details": {"set": {}, "get": {}}}
    late = (503, {"body": {"message": "the request timed out, try again"}, "success": False})
    assert post(gw.create_app(), json=asked) == late
    assert post(gw.create_app(), json={**asked, "act": "quick"}) == (200, {"body": 1, "success": True})


@pytest.mark.parametrize("guard", [None, lambda request: request.remote_addr == "127.0.0.1"], ids=["open", "guarded"])
@pytest.mark.parametrize("path", ["/gateway", "/playground/"])
def test_a_page_that_binds_its_name_to_this_machine_reaches_nothing(monkeypatch, path, guard):
    served = []
    monkeypatch.setattr("gatewayfw.core.serve", lambda app, **options: served.append(app))
    gw = gateway()
    gw.acts.act("user", "whoAmI")(lambda body: 1)
    gw.run_server(playground=True, playground_guard=guard)
    client = served[0].test_client()
    body = {"model": "user", "act": "whoAmI", "details": {"set": {}, "get": {}}}

    def status(host):
        if path == "/gateway":
            return client.post(path, json=body, headers={"Host": host}).status_code
        return client.get(path, headers={"Host": host}).status_code

    hosts = ["127.0.0.1:8000", "localhost:8000", "rebound.example:8000", "127.0.0.1.rebound.example"]
    assert [status(host) for host in hosts] == [200, 200, 400, 400]
    refused = client.post(path, headers={"Host": "rebound.example"})
    assert (refused.content_type, refused.get_json()["body"]) == (
        "application/json",
        {"message": "the header Host is not valid"},
    )

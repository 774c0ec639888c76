"""The names that blueprints get: the same at every start, and free in the app."""

import gc

import pytest
from flask import Blueprint, Flask, request, url_for
from prometheus_client import CollectorRegistry

from gatewayfw import DirectoryFiles, gateway
from gatewayfw.client import InProcessClient
from gatewayfw.errors import DefinitionError
from gatewayfw.observe import prometheus
from gatewayfw.odm.database import Database
from gatewayfw.web.mount import GatewayBlueprint, init_worker, is_hidden

BODY = {"model": "thing", "act": "where", "details": {"set": {}, "get": {}}}


@pytest.fixture
def gw():
    """A gateway whose act answers the endpoint of its request."""
    gw = gateway()
    gw.acts.act("thing", "where")(lambda body: request.endpoint)
    return gw


def names(app):
    return list(app.blueprints), list(app.extensions.get("gatewayfw", {}))


def test_the_name_is_gateway(gw):
    app = Flask("host")
    made = gw.blueprint()
    app.register_blueprint(made)
    assert made.name == "gateway"
    assert gw.blueprint().name == "gateway"
    assert names(app) == (["gateway"], ["gateway"])


@pytest.mark.parametrize("fast_lane", [False, True])
def test_the_endpoint_of_a_request_is_the_same_at_every_start(gw, fast_lane):
    for _ in range(2):
        client = gw.create_app(fast_lane=fast_lane).test_client()
        assert client.post("/gateway", json=BODY).get_json()["body"] == "gateway.gateway"


def test_the_next_free_name_is_taken(gw):
    app = Flask("host")
    other = gateway()
    for number, one in enumerate([gw, other, gw]):
        one.init_app(app, f"/{number}")
    assert app.extensions["gatewayfw"] == {"gateway": gw, "gateway_2": other, "gateway_3": gw}
    assert {name: sorted(one.mounts[app]) for name, one in (("gw", gw), ("other", other))} == {
        "gw": ["gateway", "gateway_3"],
        "other": ["gateway_2"],
    }
    with app.test_request_context():
        assert [url_for(f"{name}.gateway") for name in app.blueprints] == ["/0/gateway", "/1/gateway", "/2/gateway"]


def test_each_app_has_names_of_its_own(gw):
    apps = [Flask("one"), Flask("two"), gw.create_app()]
    for app in apps[:2]:
        gw.init_app(app)
    assert [names(app) for app in apps] == [(["gateway"], ["gateway"])] * 3


def test_a_blueprint_of_the_host_keeps_its_name(gw):
    app = Flask("host")
    app.register_blueprint(Blueprint("gateway", __name__))
    app.register_blueprint(Blueprint("gateway_2", __name__))
    gw.init_app(app)
    assert names(app) == (["gateway", "gateway_2", "gateway_3"], ["gateway_3"])


def test_a_name_that_was_given_is_kept_and_may_be_taken_once(gw):
    app = Flask("host")
    gw.init_app(app, "/a", name="books")
    gw.init_app(app, "/b", name="gateway")
    gw.init_app(app, "/c")
    assert names(app)[1] == ["books", "gateway", "gateway_2"]
    for name in ("books", "gateway"):
        with pytest.raises(ValueError, match=f"The name '{name}' is already registered"):
            gw.init_app(app, "/d", name=name)
    with pytest.raises(ValueError, match="may not be empty"):
        gw.blueprint("")


def test_a_name_given_at_the_registration_counts(gw):
    app = Flask("host")
    made = gw.blueprint()
    app.register_blueprint(made, name="books", url_prefix="/a")
    app.register_blueprint(made, url_prefix="/b")
    app.register_blueprint(made, url_prefix="/c")  # the same object once more
    assert names(app)[1] == ["books", "gateway", "gateway_2"]
    with pytest.raises(ValueError, match="The name 'books' is already registered for this blueprint"):
        app.register_blueprint(made, name="books", url_prefix="/d")
    ask = app.test_client().post
    found = [ask(f"/{prefix}/gateway", json=BODY).get_json()["body"] for prefix in "abc"]
    assert found == ["books.gateway", "gateway.gateway", "gateway_2.gateway"]


def test_a_slash_at_the_end_of_a_prefix_counts_for_nothing(gw):
    app = Flask("host")
    app.register_blueprint(gw.blueprint(), url_prefix="/a/")
    assert [rule.rule for rule in app.url_map.iter_rules(endpoint="gateway.gateway")] == ["/a/gateway"]


def test_below_another_blueprint_the_name_is_free_again(gw):
    app = Flask("host")
    parent = Blueprint("parent", __name__, url_prefix="/parent")
    parent.register_blueprint(gw.blueprint())
    parent.register_blueprint(gw.blueprint(), url_prefix="/second")
    gw.init_app(app)
    app.register_blueprint(parent)
    app.register_blueprint(parent, name="other", url_prefix="/other")
    assert names(app)[1] == [
        "gateway",
        *("parent.gateway", "parent.gateway_2"),
        *("other.gateway", "other.gateway_2"),
    ]
    ask = app.test_client().post
    assert ask("/other/second/gateway", json=BODY).get_json()["body"] == "other.gateway_2.gateway"


def test_a_hook_of_an_unnamed_blueprint_runs_for_it_alone(gw):
    app, seen = Flask("host"), []
    hooked = gw.blueprint()
    hooked.before_request(lambda: seen.append(request.blueprint))
    app.register_blueprint(gw.blueprint(), url_prefix="/first")
    app.register_blueprint(hooked, url_prefix="/second")
    for prefix in ("first", "second"):
        app.test_client().post(f"/{prefix}/gateway", json=BODY)
    assert seen == ["gateway_2"]


def test_every_route_has_a_name(gw, tmp_path):
    gw.files.use(DirectoryFiles(tmp_path))
    gw.on_call(prometheus(registry=CollectorRegistry(), guard=lambda sent: True))
    app = Flask("host", static_folder=None)
    shown = {"static_path": [tmp_path], "static_prefix": "/page", "playground": True, "probes": True}
    gw.init_app(app, "/api", name="books", **shown)
    assert {rule.endpoint: rule.rule for rule in app.url_map.iter_rules()} == {
        "books.gateway": "/api/gateway",
        "books.gateway_file": "/api/gateway/files/<file_id>",
        "books.gateway_healthz": "/api/gateway/healthz",
        "books.gateway_metrics": "/api/gateway/metrics",
        "books.gateway_readyz": "/api/gateway/readyz",
        "books.playground": "/api/playground",
        "books.playground_page": "/api/playground/",
        "books.playground_file": "/api/playground/<path:playground_file>",
        "books.files_index": "/api/page/",
        "books.files": "/api/page/<path:path>",
    }


def test_every_rule_of_the_gateway_itself_takes_all_methods_and_what_flask_gives(gw, tmp_path):
    """A redirect from doubled slashes would show that a page is there that a guard hides."""
    gw.files.use(DirectoryFiles(tmp_path))
    gw.on_call(prometheus(registry=CollectorRegistry(), guard=lambda sent: True))
    app = Flask("host", static_folder=None, subdomain_matching=True)
    app.config["SERVER_NAME"] = "shop.example"
    app.register_blueprint(gw.blueprint(playground=True), url_prefix="/a", subdomain="x", url_defaults={"tenant": 1})
    rules = {rule.endpoint.partition(".")[2]: rule for rule in app.url_map.iter_rules()}
    assert {name: rule.merge_slashes for name, rule in rules.items()} == {
        "gateway": True,
        "gateway_file": True,
        **dict.fromkeys(["gateway_metrics", "playground", "playground_page", "playground_file"], False),
    }
    for rule in rules.values():
        found = rule.methods, rule.subdomain, rule.defaults, rule.provide_automatic_options
        assert found == (None, "x", {"tenant": 1}, False)
    gw.init_app(app, "/a")  # the same path of another host
    taken = "^another gateway is at /a/gateway already: give one of the two a url_prefix$"
    with pytest.raises(DefinitionError, match=taken):
        gateway().init_app(app, "/a")
    with pytest.raises(DefinitionError, match=taken):
        app.register_blueprint(gateway().blueprint(), url_prefix="/a/", subdomain="x")


def test_pages_that_a_guard_may_hide_are_known_by_their_blueprint(gw):
    app, parent = Flask("host"), Blueprint("parent", __name__)
    parent.register_blueprint(gw.blueprint(playground=True))
    app.register_blueprint(parent, url_prefix="/a")
    app.register_blueprint(gw.blueprint("shop", playground=True), url_prefix="/b")
    app.register_blueprint(Blueprint("other", __name__))
    views = ["playground", "playground_page", "playground_file", "gateway_metrics", "gateway", "gateway_file"]
    for name in ("parent.gateway", "shop"):
        assert [is_hidden(app, f"{name}.{view}") for view in views] == [True] * 4 + [False] * 2
    others = (None, "", "playground", "other.playground", "none.playground")
    assert [is_hidden(app, one) for one in others] == [False] * 5


def test_what_cannot_be_served_changes_nothing_in_the_app():
    def refuse(given):
        assert given is app
        raise DefinitionError("wrong")

    app = Flask("host")
    with pytest.raises(DefinitionError, match="^wrong$"):
        app.register_blueprint(GatewayBlueprint(None, __name__, refuse))
    assert app.blueprints == {}


@pytest.fixture
def serving(monkeypatch):
    """The times that a process was told that it serves; ``refusal`` is raised by them."""

    class Times(list):
        refusal = None

    times = Times()

    def serve(self):
        times.append(1)
        if times.refusal:
            raise times.refusal

    monkeypatch.setattr(Database, "serve", serve)
    return times


@pytest.fixture(params=["host", "lane", "flask"])
def statuses(request, gw, tmp_path):
    """A function that asks each route of an app, of the host or of the gateway, and gives the statuses."""
    gw.files.use(DirectoryFiles(tmp_path))
    gw.on_call(prometheus(registry=CollectorRegistry(), guard=lambda sent: True))
    (tmp_path / "a.txt").write_text("a")
    shown = {"static_path": [tmp_path], "playground": True, "probes": True}
    if request.param == "host":
        app, static = Flask("host", static_folder=None), "/page/a.txt"
        gw.init_app(app, static_prefix="/page", **shown)
    else:
        app, static = gw.create_app(fast_lane=request.param == "lane", **shown), "/a.txt"
    routes = [(method, "/gateway") for method in ("GET", "POST", "OPTIONS")]
    routes += [("GET", f"/gateway/{path}") for path in ("files/1", "metrics", "healthz", "readyz")]
    routes += [("GET", path) for path in ("/playground", "/playground/", "/playground/catalog.json", static)]

    def ask():
        replies = [app.test_client().open(path, method=method) for method, path in routes]
        for reply in replies:
            reply.close()
        return [reply.status_code for reply in replies]

    return ask


def test_a_request_of_any_route_tells_that_the_process_serves(serving, statuses):
    assert len(statuses()) == len(serving) == 11


def test_a_process_that_cannot_serve_lives_and_refuses_the_rest(serving, statuses):
    serving.refusal = DefinitionError("greenlets")
    assert statuses() == [*[500] * 5, 200, 200, *[500] * 4]


def test_a_program_that_calls_its_own_app_does_not_serve(serving, gw):
    app = gw.create_app()
    reply = InProcessClient(app).call("thing", "where")
    assert (reply, serving) == ("gateway.gateway", [])
    app.test_client().post("/gateway", json=BODY)
    assert serving == [1]


def test_each_mount_is_noted_by_app_and_name_until_the_app_is_gone():
    gw, first, second = gateway(), Flask("first"), Flask("second")
    gw.init_app(first, cors="*")
    gw.init_app(first, url_prefix="/more", playground=True)
    gw.init_app(second)
    origins = {name: endpoint.cors.origins for name, endpoint in gw.mounts[first].items()}
    assert origins == {"gateway": "*", "gateway_2": None}
    assert first.extensions["gatewayfw"] == {"gateway": gw, "gateway_2": gw}
    del first
    gc.collect()
    assert [(app, list(mounts)) for app, mounts in gw.mounts.items()] == [(second, ["gateway"])]


def test_all_gateways_of_an_app_begin_to_serve(monkeypatch):
    told, app = [], Flask("app")
    monkeypatch.setattr(Database, "init_worker", lambda database: told.append(database))
    first, second = gateway(), gateway()
    first.init_app(app, "/a")
    second.init_app(app, "/b")
    init_worker(app)
    assert told == [first.odm.database, second.odm.database]
    init_worker(Flask("without"))
    assert len(told) == 2


#: One request of each kind, below the app's root.
REQUESTS = {
    "act": ("POST", "/gateway"),
    "preflight": ("OPTIONS", "/gateway"),
    "wrong method": ("GET", "/gateway"),
    "alive": ("GET", "/gateway/healthz"),
    "ready": ("GET", "/gateway/readyz"),
    "wrong method of a probe": ("POST", "/gateway/readyz"),
    "metrics": ("GET", "/gateway/metrics"),
    "playground": ("GET", "/gateway/playground"),
    "unknown path": ("GET", "/none"),
    "static file": ("GET", "/page.txt"),
    "wrong host": ("GET", "/gateway", "a b"),
    "file": ("GET", "/gateway/files/none"),
}


@pytest.mark.parametrize("kind", REQUESTS)
def test_the_first_request_of_any_kind_begins_to_serve(gw, monkeypatch, tmp_path, kind):
    told = []
    monkeypatch.setattr(Database, "serve", lambda database: told.append(database))
    gw.on_call(prometheus(registry=CollectorRegistry(), guard=lambda request: True))
    (tmp_path / "page.txt").write_text("page")
    app = gw.create_app(playground=True, static_path=[tmp_path])
    InProcessClient(app).call("thing", "where")
    assert told == []
    method, path, host = (*REQUESTS[kind], "localhost")[:3]
    app.test_client().open(path, method=method, environ_overrides={"HTTP_HOST": host}).close()
    assert gw.odm.database in told

"""The playground: its page, its files, what it tells of the gateway, and to whom."""

from __future__ import annotations

import json
import re
from dataclasses import FrozenInstanceError, replace

import mongomock
import pytest
from flask import Flask, abort
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.test import Client

from gatewayfw import gateway
from gatewayfw.errors import DefinitionError
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import object_, string
from gatewayfw.settings import Settings
from gatewayfw.web.mount import make_app
from gatewayfw.web.playground import HEADERS, File, Playground, files
from tests.web.mount import endpoint, host, refusal, seen

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}
TYPES = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "woff2": "font/woff2",
}
MADE = ["catalog.json", "gateway.ts", "gateway_types.py", "openapi.json", "schema.json"]
PATHS = ["", "/", "/index.html", *(f"/{name}" for name in MADE), "/assets/x.js"]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    """No environment is named but by a test."""
    monkeypatch.delenv("GATEWAYFW_ENV", raising=False)
    monkeypatch.delenv("FLASK_ENV", raising=False)


@pytest.fixture
def gw():
    """A gateway with one act and one model."""
    made = gateway()
    made.odm.set_db(mongomock.MongoClient().test)
    made.odm.new_model("book", {"title": string()}, {})
    made.acts.set_act(
        schema="book",
        act_name="getSecretBook",
        validator=object_({"set": object_({"name": string()}), "get": object_({})}),
        fn=lambda body: body,
    )
    return made


def assets(page: str) -> list[str]:
    """The relative URLs in a page."""
    return re.findall(r'(?:src|href)="([^"]+)"', page)


@pytest.mark.parametrize("path", ["/api/playground", "/api/playground/", "/api/playground/index.html"])
def test_the_page_and_all_it_names_are_served(path):
    client = host(playground=True).test_client()
    page = client.get(path)
    assert page.status_code == 200
    assert page.content_type == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    named = assets(page.text)
    assert len(named) >= 3
    assert not [url for url in named if url.startswith(("/", "http"))]
    folder = path.rpartition("/")[0]
    for url in named:
        reply = client.get(f"{folder}/{url}")
        assert (reply.status_code, reply.headers["Cache-Control"]) == (200, "public, max-age=31536000, immutable")


@pytest.mark.parametrize("path", ["", "/", "/catalog.json", "/gateway.ts"])
def test_every_reply_keeps_the_browser_within_its_policy(path):
    reply = host(playground=True).test_client().get(f"/api/playground{path}")
    assert SAFE.items() <= dict(reply.headers).items()


def test_assets_have_their_types_and_come_packed_where_the_client_can_unpack():
    client = host(playground=True).test_client()
    for name, file in files().items():
        if name == "index.html":
            continue
        plain = client.get(f"/api/playground/{name}")
        packed = client.get(f"/api/playground/{name}", headers={"Accept-Encoding": "gzip, br"})
        ending = name.rpartition(".")[2]
        assert (plain.data, plain.content_type) == (file.content, TYPES[ending])
        is_packed = ending != "woff2"  # A font is compressed already.
        assert packed.headers.get("Content-Encoding") == ("gzip" if is_packed else None)
        varies = "Accept-Encoding" if is_packed else None
        assert (plain.headers.get("Vary"), packed.headers.get("Vary")) == (varies, varies)
        assert SAFE.items() <= dict(packed.headers).items()


@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip", "gzip"), ("gzip;q=0.1", "gzip"), ("gzip;q=0", None), ("br", None), ("", None)]
)
def test_it_comes_packed_to_whom_accepts_it(accepted, encoding):
    reply = host(playground=True).test_client().get("/api/playground/", headers={"Accept-Encoding": accepted})
    assert reply.headers.get("Content-Encoding") == encoding


def test_files_are_named_by_their_folders_and_in_order(tmp_path, monkeypatch):
    monkeypatch.setattr("gatewayfw.web.playground.FOLDER", tmp_path / "static")
    assert dict(files.__wrapped__()) == {}  # a package that was not built
    for name in ("b.svg", "a.js", "c/y.css", "c/x.woff2", "index.html"):
        place = tmp_path / "static" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(name)
    assert list(files.__wrapped__().items()) == [
        ("a.js", File(b"a.js", "text/javascript; charset=utf-8")),
        ("b.svg", File(b"b.svg", "image/svg+xml")),
        ("c/x.woff2", File(b"c/x.woff2", "font/woff2")),
        ("c/y.css", File(b"c/y.css", "text/css; charset=utf-8")),
        ("index.html", File(b"index.html", "text/html; charset=utf-8")),
    ]


def test_a_playground_never_changes():
    for one, name in ((Playground(dict), "guard"), (File(b"", ""), "type")):
        with pytest.raises(FrozenInstanceError):
            setattr(one, name, None)
    with pytest.raises(TypeError):
        HEADERS["X-Frame-Options"] = "DENY"


def test_a_playground_alone_is_everybodys_and_has_the_default_name():
    shown = Playground(dict)
    assert shown.is_shown(None) is True
    assert shown.guard is None
    assert shown.settings == Settings()


def test_no_asset_names_another_place():
    for name, file in files().items():
        urls = set(re.findall(rb"https?://[a-z0-9.-]+", file.content))
        assert urls <= {b"http://www.w3.org", b"https://github.com", b"http://json-schema.org"}, name


def test_the_catalog_is_the_gateways_own(gw):
    reply = gw.create_app(playground=True).test_client().get("/playground/catalog.json")
    assert (reply.content_type, reply.headers["Cache-Control"]) == ("application/json", "no-store")
    assert reply.get_json() == gw.catalog()


def test_acts_that_are_added_later_are_in_the_catalog(gw):
    client = gw.create_app(playground=True).test_client()
    gw.odm.new_model("author", {"name": string()}, {})
    assert list(client.get("/playground/catalog.json").get_json()["models"]) == ["book", "author"]


@pytest.mark.parametrize(("name", "type_"), [("gateway.ts", "text/plain"), ("gateway_types.py", "text/plain")])
def test_clients_are_made_of_the_catalog(gw, name, type_):
    reply = gw.create_app(playground=True).test_client().get(f"/playground/{name}")
    made = {"gateway.ts": typescript, "gateway_types.py": python}[name](gw.catalog())
    assert reply.status_code == 200
    assert reply.content_type == f"{type_}; charset=utf-8"
    assert reply.text == made
    assert reply.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("name", ["openapi.json", "schema.json"])
def test_schemas_are_made_of_the_catalog(gw, name):
    reply = gw.create_app(playground=True, url_prefix="/api").test_client().get(f"/api/playground/{name}")
    assert reply.status_code == 200
    assert reply.content_type == "application/json"
    assert "getSecretBook" in reply.text
    found = json.loads(reply.text)
    assert (reply.text, reply.headers["Cache-Control"]) == (json.dumps(found, indent=2, ensure_ascii=False), "no-store")
    if name == "openapi.json":
        assert list(found["paths"]) == ["/api/gateway"]
    else:
        assert found == json_schema(gw.catalog())


@pytest.mark.parametrize("outer", ["", "/inner"])
def test_the_path_of_the_gateway_is_beside_the_playground(gw, outer):
    app = gw.create_app(playground=True, url_prefix="/playground")
    client = Client(DispatcherMiddleware(Flask("outer"), {outer: app}) if outer else app)
    reply = client.get(f"{outer}/playground/playground/openapi.json")
    assert list(reply.json["paths"]) == [f"{outer}/playground/gateway"]


NAMES = [
    "../blueprint.py",
    "..%2Fblueprint.py",
    "assets/../index.html",
    "assets",
    "assets/",
    "%00",
    "index.html/x",
    "x",
]


@pytest.mark.parametrize("name", NAMES)
def test_other_names_are_not_found(name):
    reply = host(playground=True).test_client().get(f"/api/playground/{name}")
    assert (reply.status_code, reply.mimetype) == (404, "text/html")
    own = make_app(endpoint(playground=True)).test_client().get(f"/playground/{name}")
    assert seen(own) == refusal(404, "not found; acts are called by POST /gateway")


@pytest.mark.parametrize("method", [method for method in METHODS if method not in ("GET", "HEAD")])
@pytest.mark.parametrize("path", ["", "/", "/catalog.json"])
def test_only_get_and_head_are_allowed(method, path):
    reply = host(playground=True).test_client().open(f"/api/playground{path}", method=method)
    assert (reply.status_code, reply.headers["Allow"]) == (405, "GET, HEAD")


def test_head_gives_the_headers_only():
    client = host(playground=True).test_client()
    asked, got = (client.open("/api/playground/catalog.json", method=method) for method in ("HEAD", "GET"))
    assert (asked.data, sorted(asked.headers)) == (b"", sorted(got.headers))


def test_with_the_playground_off_nothing_can_be_read(gw):
    bare = Flask("bare", static_folder=None)
    mounted = Flask("bare", static_folder=None)
    mounted.register_blueprint(gw.blueprint(), url_prefix="/api")
    for app, base in ((mounted, "/api"), (gw.create_app(), "")):
        for path in (*PATHS, *(f"/{name}" for name in files())):
            for method in METHODS:
                reply = app.test_client().open(f"{base}/playground{path}", method=method)
                assert reply.status_code == 404
                assert not re.search(r"book|Secret|set_act|<script", reply.text)
    there = [mounted.test_client().get(f"/api/playground{path}") for path in PATHS]
    assert [(reply.data, reply.headers) for reply in there] == [
        (reply.data, reply.headers) for reply in (bare.test_client().get(f"/api/playground{path}") for path in PATHS)
    ]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("path", PATHS)
def test_to_whom_the_guard_refuses_it_does_not_exist(gw, path, method):
    guarded = gw.create_app(playground=True, playground_guard=lambda request: request.headers.get("X-Me") == "dev")
    off = gw.create_app()
    ours, none = (app.test_client().open(f"/playground{path}", method=method) for app in (guarded, off))
    assert (ours.status_code, ours.data) == (none.status_code, none.data)
    assert set(ours.headers.keys()) == set(none.headers.keys())
    if method == "GET" and "assets" not in path and "openapi" not in path:
        assert guarded.test_client().get(f"/playground{path}", headers={"X-Me": "dev"}).status_code == 200


def aborting(request):
    abort(403)


GUARDS = {
    "no guard": (None, True),
    "true": (lambda request: True, True),
    "the caller's": (lambda request: request.headers.get("X-Me") == "dev", False),
    "false": (lambda request: False, False),
    "failing": (lambda request: {}["x"], False),
    "aborting": (aborting, False),
    "object": (lambda request: object(), False),
    "generator": (lambda request: (yield), False),
    "class": (lambda request: DefinitionError, False),
    "reply": (lambda request: ("no", 403), False),
    "none": (lambda request: None, False),
}


@pytest.mark.parametrize("fast_lane", [True, False], ids=["lane", "blueprint"])
@pytest.mark.parametrize(("guard", "listed"), GUARDS.values(), ids=GUARDS)
def test_messages_list_what_exists_for_whom_the_guard_lets_in_only(gw, guard, listed, fast_lane):
    app = gw.create_app(playground=True, playground_guard=guard, fast_lane=fast_lane)
    body = {"model": "book", "act": "none", "details": {"set": {}, "get": {}}}
    known = " (known: getSecretBook)" if listed else ""
    reply = app.test_client().post("/gateway", json=body)
    assert seen(reply) == refusal(404, f"act not found: book.none{known}")


async def asynchronous(request):
    return True


@pytest.mark.parametrize(
    ("guard", "logged"),
    [
        (lambda request: {}["x"], ["KeyError: 'x'"]),
        (asynchronous, ["the guard of the playground must answer true or false, not coroutine"]),
        (lambda request: "yes", ["the guard of the playground must answer true or false, not str"]),
        (aborting, []),
    ],
    ids=["failing", "async", "no answer", "aborting"],
)
@pytest.mark.parametrize("base", ["", "/api"], ids=["own app", "host app"])
def test_a_guard_that_fails_answers_as_if_there_were_no_playground(gw, caplog, base, guard, logged):
    app = gw.create_app(playground=True, playground_guard=guard)
    if base:
        app = Flask("host", static_folder=None)
        gw.init_app(app, base, playground=True, playground_guard=guard)
    client = app.test_client()
    for path, method in (("", "GET"), ("/", "POST"), ("/catalog.json", "GET"), ("/assets/x.js", "HEAD")):
        caplog.clear()
        ours, none = (client.open(base + at + path, method=method) for at in ("/playground", "/nope"))
        assert ours.status_code == 404
        assert ours.data == none.data
        assert list(ours.headers.keys()) == list(none.headers.keys())
        found = [message.splitlines() for message in caplog.messages]
        assert [(lines[0], lines[-1].endswith(end)) for lines, end in zip(found, logged, strict=True)] == [
            ("the guard of the playground failed", True) for _ in logged
        ]
    body = {"model": "book", "act": "none", "details": {"set": {}, "get": {}}}
    reply = client.post(f"{base}/gateway", json=body)
    assert seen(reply) == refusal(404, "act not found: book.none")


@pytest.mark.parametrize("name", [None, "mine"])
@pytest.mark.parametrize("path", PATHS)
def test_a_second_gateway_in_an_app_of_ours_hides_its_playground_too(gw, name, path):
    app = gw.create_app()
    second = gateway().blueprint(name, playground=True, playground_guard=lambda request: False)
    app.register_blueprint(second, url_prefix="/other")
    ours, none = (app.test_client().get(f"/other/{at}{path}") for at in ("playground", "nope"))
    assert seen(ours) == seen(none) == refusal(404, "not found; acts are called by POST /gateway")


@pytest.mark.parametrize(
    "path", ["/api/playground//x", "/api/playground//", "/api//playground", "//api/playground/catalog.json"]
)
@pytest.mark.parametrize("guard", [None, lambda request: False], ids=["open", "guarded"])
def test_doubled_slashes_give_a_playground_in_a_host_app_not_away(gw, path, guard):
    app = Flask("host", static_folder=None)
    gw.init_app(app, "/api", playground=True, playground_guard=guard)
    ours, none = (app.test_client().get(f"http://localhost{one}") for one in (path, "/nope//x"))
    assert (ours.status_code, ours.data) == (404, none.data)


def test_the_guard_is_asked_in_a_host_app_too(gw):
    app = Flask("host", static_folder=None)
    gw.init_app(app, "/api", playground=True, playground_guard=lambda request: False)
    assert app.test_client().get("/api/playground").status_code == 404


@pytest.mark.parametrize(
    ("environ", "setting", "said"),
    [
        ({"GATEWAYFW_ENV": "production"}, None, "production"),
        ({"FLASK_ENV": "Production"}, None, "production"),
        ({"GATEWAYFW_ENV": "live", "FLASK_ENV": "development"}, ["staging", "Live"], "live"),
    ],
)
def test_it_is_refused_in_the_environments_of_the_setting(monkeypatch, environ, setting, said):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    gw = gateway(**({} if setting is None else {"playground_refused_in": setting}))
    for mount in (gw.blueprint, gw.create_app):
        with pytest.raises(DefinitionError) as raised:
            mount(playground=True)
        assert raised.value.message == (
            f"option 'playground': refused in the environment {said!r} (setting playground_refused_in); "
            "it tells everybody who may open it which acts and models exist"
        )
        mount(playground=False)


@pytest.mark.parametrize(
    ("environ", "setting"), [({"GATEWAYFW_ENV": "production"}, ()), ({"GATEWAYFW_ENV": "staging"}, None), ({}, None)]
)
def test_elsewhere_it_is_not(monkeypatch, environ, setting):
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    gw = gateway(**({} if setting is None else {"playground_refused_in": setting}))
    assert gw.create_app(playground=True).test_client().get("/playground").status_code == 200


def test_the_setting_is_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("GATEWAYFW_PLAYGROUND_REFUSED_IN", "production, staging")
    assert gateway().settings.playground_refused_in == ("production", "staging")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"playground": "yes"}, "option 'playground': expected true or false"),
        ({"playground_guard": "me"}, "option 'playground_guard': expected a function of a request"),
    ],
)
def test_options_of_the_wrong_type_are_refused(options, message):
    with pytest.raises(DefinitionError) as raised:
        gateway().blueprint(**options)
    assert raised.value.message == message


@pytest.mark.parametrize("value", ["production", [1], None])
def test_the_setting_is_a_list_of_names(value):
    with pytest.raises(DefinitionError) as raised:
        gateway(playground_refused_in=value)
    assert raised.value.message == "setting 'playground_refused_in': expected a list of names"


def test_the_page_has_the_name_the_colour_and_the_note_of_the_project():
    gw = gateway(playground_title='Harbour & "Sons" <b>', playground_color="#7a1fa2", playground_note='"Try" <it>')
    page = gw.create_app(playground=True).test_client().get("/playground/").get_data(as_text=True)
    assert (
        "<title>Harbour &amp; &quot;Sons&quot; &lt;b&gt;</title>"
        '<meta name="theme-color" content="#7a1fa2" />'
        '<meta name="note" content="&quot;Try&quot; &lt;it&gt;" />'
    ) in page
    plain = gateway().create_app(playground=True).test_client().get("/playground/").get_data(as_text=True)
    assert "<title>Playground</title>" in plain
    assert "theme-color" not in plain
    assert 'name="note"' not in plain


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        *(
            ({"playground_title": value}, "a text of 1 to 60 characters in one line")
            for value in ("", "x" * 61, "a\nb", 1)
        ),
        *(
            ({"playground_note": value}, "a text of at most 300 characters in one line")
            for value in ("x" * 301, "a\nb", 1)
        ),
        *(({"playground_color": value}, "a colour such as #0f6b63") for value in ("red", "#12345", "#0f6b63;", 1)),
    ],
)
def test_a_name_note_or_colour_that_does_not_fit_is_refused(setting, expected):
    with pytest.raises(DefinitionError) as raised:
        gateway(**setting)
    assert raised.value.message == f"setting {next(iter(setting))!r}: expected {expected}"


def test_two_playgrounds_in_one_app_show_their_own_gateway(gw):
    app = Flask("host", static_folder=None)
    gw.init_app(app, "/one", playground=True)
    gateway().init_app(app, "/two/<tenant>", playground=True)
    client = app.test_client()
    shown = [client.get(f"{base}/playground/catalog.json").get_json()["models"] for base in ("/one", "/two/x")]
    assert [list(models) for models in shown] == [["book"], []]


def test_a_catalog_that_cannot_be_made_is_an_envelope():
    def broken():
        raise DefinitionError("there is no such model")

    app = make_app(replace(endpoint(), playground=Playground(broken)))
    assert seen(app.test_client().get("/playground/catalog.json")) == refusal(500, "internal error")

"""create_app: what it reads from the environment, and that two apps share nothing."""

from __future__ import annotations

import ast
import logging
import os
import runpy
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

import mongomock
import pytest
from bson import ObjectId
from flask import Flask

import sample_service
from gatewayfw.environment import judge_memory
from gatewayfw.errors import DefinitionError, Forbidden, Unauthenticated
from sample_service import create_app
from sample_service.app import create_service, options_from
from tests.sample_service.conftest import KEY

FOLDER = Path(sample_service.__file__).parent
ACTS = {
    "user": [
        "login",
        "addUser",
        "updateUser",
        "updateUserRelations",
        "removeUser",
        "getUser",
        "getUsers",
        "getMe",
        "getMyUsers",
        "setUserRoles",
        "setAvatar",
    ],
    "organization": ["addOrganization", "getOrganization", "getOrganizations", "updateOrganization"],
    "unit": ["addUnit", "getUnit", "getUnits", "updateUnit"],
    "file": ["addFile", "getFile", "getFileLink"],
    "country": ["addCountry", "getCountry"],
    "city": ["addCity", "getCity"],
}


@pytest.fixture
def environ(monkeypatch):
    """The environment without any setting of the service."""
    for name in ("MONGODB_URI", "GATEWAYFW_TOKEN_KEY", "GATEWAYFW_ENV", "GATEWAYFW_CORS", "GATEWAYFW_STATIC_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GATEWAYFW_PLAYGROUND", "GATEWAYFW_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def add_country(app, path="/gateway"):
    details = {"set": {"name": "Norway", "population": 1}, "get": {"name": 1, "_id": 0}}
    reply = app.test_client().post(path, json={"model": "country", "act": "addCountry", "details": details})
    return reply.status_code, reply.get_json()


def test_serves_on_the_database_given(environ, database):
    app = create_app(database, KEY)
    assert isinstance(app, Flask)
    assert add_country(app) == (200, {"body": {"name": "Norway"}, "success": True})
    assert database.country.count_documents({}) == 1


def test_each_app_has_a_gateway_of_its_own(environ):
    databases = [mongomock.MongoClient().one, mongomock.MongoClient().two]
    for app in [create_app(database, KEY) for database in databases]:
        assert add_country(app)[0] == 200
    assert [database.country.count_documents({}) for database in databases] == [1, 1]


def test_all_acts_are_registered_one_per_file(service):
    acts = {model: service.gw.acts.get_act_keys(model) for model in service.gw.acts.get_main_acts()}
    assert acts == ACTS
    for model, names in ACTS.items():
        files = {path.stem for path in (FOLDER / model).glob("*.py")} - {"__init__", "model"}
        assert files == {"".join(f"_{c.lower()}" if c.isupper() else c for c in name) for name in names}


def test_every_act_says_what_it_does(service):
    described = [act.description for acts in service.gw.acts.get_main_acts().values() for act in acts.values()]
    assert all(description.endswith(".") for description in described)


def test_definitions_are_sound(service):
    assert service.gw.schemas.problems() == []


def test_without_a_database_the_data_is_in_memory_and_that_is_said(environ, caplog):
    environ.setattr(
        "gatewayfw.odm.database.judge_memory", lambda environ, modules, server: judge_memory(environ, (), server)
    )
    app = create_app(token_key=KEY)
    assert add_country(app)[0] == 200
    assert [message[:23] for message in caplog.messages] == ["the data is in memory: "]


def test_in_production_no_database_is_refused(environ):
    environ.setenv("GATEWAYFW_ENV", "production")
    with pytest.raises(DefinitionError, match="^set_db: data in memory is refused in the environment 'production'"):
        create_app(token_key=KEY)


def test_database_of_the_environment_is_used(environ, caplog):
    environ.setenv("MONGODB_URI", "mongodb://127.0.0.1:1/sample?replicaSet=rs0")
    create_app(token_key=KEY)  # connects at first use
    assert caplog.messages == []


def test_no_start_without_a_token_key(environ):
    with pytest.raises(DefinitionError, match="^no token key: set GATEWAYFW_TOKEN_KEY"):
        create_app(mongomock.MongoClient().one)


def test_a_new_key_ends_neither_tokens_nor_links_while_the_old_one_is_a_fallback(environ):
    def started(key, *fallbacks):
        environ.setenv("GATEWAYFW_TOKEN_KEY", key)
        environ.setenv("GATEWAYFW_TOKEN_KEY_FALLBACKS", ",".join(fallbacks))
        return create_service(mongomock.MongoClient().one)

    old, kept, changed = started(KEY), started("n" * 32, KEY), started("n" * 32)
    token, link = old.auth.tokens.issue({"_id": "1"}), old.gw.files.link(ObjectId())
    path, _, query = link.partition("?")
    judged = []
    for service in (kept, changed):
        with suppress(Unauthenticated):
            judged.append(service.auth.tokens.read(token)["_id"])
        with suppress(Forbidden):
            judged.append(service.gw.files.find_act(path.rpartition("/")[2], dict(parse_qsl(query)))[0].act_name)
    assert judged == ["1", "read"]


def test_no_start_with_a_short_token_key(environ):
    environ.setenv("GATEWAYFW_TOKEN_KEY", "short")
    with pytest.raises(DefinitionError, match="^tokens: the key must have at least 32 bytes, this one has 5$"):
        create_app(mongomock.MongoClient().one)


def test_development_starts_with_a_random_key_and_a_warning(environ, caplog):
    environ.setenv("GATEWAYFW_ENV", "development")
    with caplog.at_level(logging.WARNING):
        create_app(mongomock.MongoClient().one)
    assert [message[:30] for message in caplog.messages] == ["GATEWAYFW_TOKEN_KEY is not set"]


@pytest.mark.parametrize(
    ("environ", "options"),
    [
        ({}, {}),
        ({"GATEWAYFW_CORS": "*"}, {"cors": "*"}),
        (
            {"GATEWAYFW_CORS": "https://a.example, https://b.example,"},
            {"cors": ["https://a.example", "https://b.example"]},
        ),
        ({"GATEWAYFW_CORS": " "}, {}),
        ({"GATEWAYFW_STATIC_PATH": "/a:b:"}, {"static_path": ["/a", "b"]}),
        ({"GATEWAYFW_PLAYGROUND": "true"}, {"playground": True}),
        ({"GATEWAYFW_PLAYGROUND": "0"}, {"playground": False}),
        ({"GATEWAYFW_BASE_URL": "/api"}, {"url_prefix": "/api"}),
    ],
    ids=str,
)
def test_options_come_from_the_environment(environ, options):
    assert options_from(environ) == options


def test_unclear_option_is_a_definition_error():
    with pytest.raises(DefinitionError, match="^GATEWAYFW_PLAYGROUND: expected true or false$"):
        options_from({"GATEWAYFW_PLAYGROUND": "maybe"})


def test_options_given_win_over_the_environment(environ):
    environ.setenv("GATEWAYFW_BASE_URL", "/other")
    app = create_app(mongomock.MongoClient().one, KEY, url_prefix="/api")
    assert (add_country(app, "/api/gateway")[0], add_country(app, "/other/gateway")[0]) == (200, 404)


def test_no_module_makes_a_gateway_when_imported():
    for path in FOLDER.rglob("*.py"):
        calls = [node.value for node in ast.parse(path.read_text("utf-8")).body if isinstance(node, ast.Expr)]
        assert [call for call in calls if isinstance(call, ast.Call)] == []


@pytest.fixture
def gunicorn(environ):
    """The functions of the configuration, and a server that they are told of."""
    environ.setenv("MONGODB_URI", "mongodb://127.0.0.1/shop")
    options = {"timeout": 30, "graceful_timeout": 30, "workers": 2, "preload_app": False}
    server = SimpleNamespace(cfg=SimpleNamespace(**options), reexec_pid=0)
    return runpy.run_path(str(FOLDER / "gunicorn.conf.py")), server


@pytest.mark.parametrize("successor", [0, 4711], ids=["alone", "after SIGUSR2"])
def test_gunicorn_makes_a_folder_for_metrics_and_removes_it(environ, gunicorn, successor):
    pytest.importorskip("prometheus_client")
    environ.setenv("PROMETHEUS_MULTIPROC_DIR", "")
    environ.delenv("PROMETHEUS_MULTIPROC_DIR")
    settings, server = gunicorn
    settings["on_starting"](server)
    assert "PROMETHEUS_MULTIPROC_DIR" not in os.environ  # the port may be taken
    settings["when_ready"](server)
    made = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    assert list(made.iterdir()) == []
    server.reexec_pid = successor
    settings["on_exit"](server)
    assert not made.exists()


def test_gunicorn_leaves_a_folder_for_metrics_that_is_given(environ, gunicorn, tmp_path):
    environ.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    settings, server = gunicorn
    for name in ("on_starting", "when_ready", "on_exit"):
        settings[name](server)
    assert os.environ["PROMETHEUS_MULTIPROC_DIR"] == str(tmp_path)
    assert tmp_path.is_dir()


def test_gunicorn_settings(environ):
    environ.setenv("PORT", "9000")
    environ.setenv("WEB_CONCURRENCY", "3")
    settings = runpy.run_path(str(FOLDER / "gunicorn.conf.py"))
    names = ("wsgi_app", "bind", "worker_class", "workers", "threads", "timeout")
    assert [settings[name] for name in names] == [
        "sample_service:create_app()",
        "127.0.0.1:9000",
        "gthread",
        3,
        8,
        30,
    ]

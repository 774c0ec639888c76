"""What a new project consists of; that its tests pass is in `tests/test_packaging.py`."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import SimpleNamespace

import click
import mongomock
import pytest
import yaml

from gatewayfw import Gateway
from gatewayfw.auth import Pbkdf2Hasher, Tokens
from gatewayfw.cli import gateway_group
from gatewayfw.cli.new import project, write_project
from gatewayfw.errors import DefinitionError
from tests.export.checking import mypy

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def app(tmp_path, monkeypatch):
    """The module of a project that puts its service together."""
    write_project("started", tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "started")
    yield import_module("started.app")
    for name in [name for name in sys.modules if name.partition(".")[0] == "started"]:
        del sys.modules[name]


def test_every_file_has_the_name_of_the_project():
    texts = {str(path): text for path, text in project("library").items()}
    assert {
        "README.md",
        "dev",
        "Dockerfile",
        ".gitignore",
        "library/book/model.py",
        "tests/conftest.py",
    } <= texts.keys()
    assert [path for path, text in texts.items() if "shop" in path or "shop" in text] == []
    assert 'wsgi_app = "library:create_app()"' in texts["gunicorn.conf.py"]


@pytest.mark.parametrize(
    "name",
    ["", "Shop", "my-shop", "1shop", "class", "json", "tests", "gatewayfw", "flask", "gunicorn", "../x", "a" * 41],
)
def test_what_cannot_be_a_package_is_refused(tmp_path, name):
    hides = name in ("json", "tests", "gatewayfw", "flask", "gunicorn")
    why = "is no name of a package: small letters, digits and _, beginning with a letter"
    with pytest.raises(DefinitionError) as raised:
        write_project(name, tmp_path)
    assert raised.value.message == f"{name!r} {'would hide the module of that name' if hides else why}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a" * 40, "a_1", "shops"])
def test_the_project_is_written_into_a_folder_that_is_made(tmp_path, name):
    for folder in (tmp_path / "new" / "one", tmp_path):
        written = write_project(name, folder)
        assert written == [folder / name / path for path in project(name)]
        assert {path: path.read_text("utf-8") for path in written} == {
            folder / name / path: text for path, text in project(name).items()
        }
        assert {path.name for path in written if path.stat().st_mode & 0o777 == 0o755} == {"dev"}


FILES = """
.dockerignore .github/workflows/test.yml .gitignore Dockerfile README.md compose.yaml dev gunicorn.conf.py
pytest.ini requirements-dev.txt requirements.txt shop/__init__.py shop/__main__.py shop/access.py shop/app.py
shop/author/__init__.py shop/author/acts.py shop/author/model.py shop/book/__init__.py shop/book/acts.py
shop/book/model.py shop/service.py shop/user/__init__.py shop/user/acts.py shop/user/model.py
tests/__init__.py tests/conftest.py tests/test_books.py tests/test_users.py
"""


def test_a_project_has_these_files():
    assert [str(path) for path in project("shop")] == FILES.split()


def test_a_folder_that_is_there_is_left_as_it_is(tmp_path):
    (tmp_path / "shop").mkdir()
    with pytest.raises(FileExistsError):
        write_project("shop", tmp_path)
    assert list((tmp_path / "shop").iterdir()) == []


def test_its_server_makes_no_socket_in_the_home_directory(tmp_path):
    write_project("shop", tmp_path)
    assert runpy.run_path(str(tmp_path / "shop" / "gunicorn.conf.py"))["control_socket_disable"] is True


def test_the_project_is_formatted_and_its_program_may_run(tmp_path):
    pytest.importorskip("ruff")  # of the extra `dev`
    written = write_project("shop", tmp_path)
    assert [path.name for path in written if os.access(path, os.X_OK)] == ["dev"]
    for words in (["check", "--select", "E,F,I,B,UP"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--isolated", "--no-cache", "--line-length", "120", "."]
        told = subprocess.run(command, cwd=tmp_path / "shop", capture_output=True, text=True, check=False)
        assert told.returncode == 0, told.stdout


def test_the_names_of_the_roles_are_in_one_file():
    found = [str(path) for path, text in project("shop").items() if re.search("[\"'](Editor|Reader)[\"']", text)]
    assert found == ["shop/access.py"]


def test_its_database_is_that_of_the_command_and_no_part_of_the_repository():
    texts = {str(path): text for path, text in project("library").items()}
    words = re.search(r"^mongod\) shift; exec \.venv/bin/flask gateway (.*) \"\$@\" ;;$", texts["dev"], re.MULTILINE)[1]
    context = gateway_group.commands["mongod"].make_context("mongod", words.split()[1:])
    folder = context.params["data"].parts[0]
    assert context.params["database"] == "library"
    assert f"/{folder}/" in texts[".gitignore"].split()
    assert folder in texts[".dockerignore"].split()


def test_its_compose_file_is_that_of_deploy_without_nginx(tmp_path):
    write_project("shop", tmp_path)
    text = (tmp_path / "shop" / "compose.yaml").read_text("utf-8")
    ours, theirs = yaml.safe_load(text), yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))
    assert (ours["volumes"], ours["services"]["db"]) == (theirs["volumes"], theirs["services"]["db"])
    app, model = ours["services"]["app"], theirs["services"]["app"]
    alike = ("logging", "read_only", "volumes", "cap_drop", "security_opt", "restart", "depends_on")
    assert [app[name] for name in alike] == [model[name] for name in alike]
    names = {"GATEWAYFW_PROXIES", "GATEWAYFW_TOKEN_KEY", "GATEWAYFW_TOKEN_KEY_FALLBACKS", "GATEWAYFW_LINK_KEY"}
    assert app["environment"].keys() == names | {"MONGODB_URI", "GATEWAYFW_RATE_LIMIT_STORAGE"}
    assert app["environment"]["MONGODB_URI"] == model["environment"]["MONGODB_URI"]
    server = runpy.run_path(str(tmp_path / "shop" / "gunicorn.conf.py"))
    assert int(app["stop_grace_period"].removesuffix("s")) > server["graceful_timeout"]


def test_the_key_of_compose_is_no_part_of_the_repository_or_the_image():
    texts = {str(path): text for path, text in project("shop").items()}
    assert ">.env)" in texts["compose.yaml"]
    assert "/.env" in texts[".gitignore"].split()
    assert ".env" in texts[".dockerignore"].split()


def test_its_workflow_runs_the_tests_on_both_databases_and_skips_none():
    job = yaml.safe_load(project("shop")[PurePosixPath(".github/workflows/test.yml")])["jobs"]["test"]
    assert job["strategy"]["matrix"] == {"storage": ["mongomock", "mongo"]}
    assert job["env"] == {"GATEWAYFW_REQUIRE_MONGO": "1"}
    assert job["steps"][-1]["run"] == "./dev test --gateway-storage ${{ matrix.storage }}"


def test_all_variables_that_are_missing_are_named_at_once(app, monkeypatch):
    told = {
        "MONGODB_URI": "  MONGODB_URI names the database, such as mongodb://127.0.0.1:27017/started?replicaSet=rs0\n",
        "GATEWAYFW_TOKEN_KEY": "  GATEWAYFW_TOKEN_KEY is a secret: python3 -c "
        '"import secrets; print(secrets.token_hex(32))"\n',
    }
    for name in (*told, "GATEWAYFW_ENV", "FLASK_ENV"):
        monkeypatch.delenv(name, raising=False)

    def missing():
        with pytest.raises(click.ClickException) as error:
            app.create_app()
        return f"{error.value.message}\n"

    start = "these environment variables are not set:\n"
    assert missing() == start + "".join(told.values())
    monkeypatch.setenv("MONGODB_URI", "mongodb://127.0.0.1/started?replicaSet=rs0")
    assert missing() == start + told["GATEWAYFW_TOKEN_KEY"]
    monkeypatch.delenv("MONGODB_URI")
    monkeypatch.setenv("GATEWAYFW_ENV", "development")  # where a random key will do
    assert missing() == start + told["MONGODB_URI"]


@pytest.fixture
def development(app, monkeypatch):
    """The program for development: ``start``, on a database of the test whatever the URI, and ``users``."""
    program, tokens = import_module("started.__main__"), Tokens("a secret of the tests, 32 bytes or more")
    service = app.create_service(mongomock.MongoClient().test, tokens, Pbkdf2Hasher(iterations=1))
    monkeypatch.setattr(program, "create_service", lambda db: service)
    monkeypatch.setattr(Gateway, "run_server", lambda self, **options: None)
    monkeypatch.setenv("GATEWAYFW_ENV", "")  # so that what the program sets is gone after the test
    monkeypatch.delenv("GATEWAYFW_ENV")

    def start(uri=""):
        monkeypatch.setenv("MONGODB_URI", uri)
        program.main()

    return SimpleNamespace(start=start, users=lambda: [user["email"] for user in service.users.find()])


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "mongodb://127.0.0.1:27017/started?replicaSet=rs0",
        "mongodb://ann:word@localhost/started",
        "mongodb://[::1]:27017/started",
    ],
)
def test_development_has_a_user_to_log_in_as(development, capsys, uri):
    for _ in range(2):
        development.start(uri)
        assert development.users() == ["editor@example.com"]
    line = "http://127.0.0.1:8000/playground  log in as editor@example.com with the password editor\n"
    assert capsys.readouterr().out == line * 2


@pytest.mark.parametrize(
    "uri",
    [
        "mongodb://db.example/started",
        "mongodb://127.0.0.1,db.example/started?replicaSet=rs0",
        "mongodb+srv://localhost.example/started",
    ],
)
def test_a_database_elsewhere_gets_no_user_whose_password_is_known(development, capsys, uri):
    development.start(uri)
    assert development.users() == []
    assert capsys.readouterr().out == "http://127.0.0.1:8000/playground\n"


def test_the_program_for_development_refuses_production_before_it_writes(development, monkeypatch):
    monkeypatch.setenv("GATEWAYFW_ENV", "production")
    with pytest.raises(SystemExit, match="^./dev run is for development; for production, start gunicorn$"):
        development.start()
    assert development.users() == []


def test_mypy_accepts_what_the_tutorial_does_with_a_log_in(app, tmp_path):
    pytest.importorskip("mypy")
    service = app.create_service(mongomock.MongoClient().shop, Tokens("k" * 32), Pbkdf2Hasher(iterations=1))
    service.gw.generate_types(tmp_path, lang="python")
    page = (ROOT / "docs" / "tutorial.md").read_text("utf-8")
    log_in = re.search(r"^(shop = HttpClient\(.*?)\n\n", page, re.MULTILINE | re.DOTALL)[1]
    assert 'reply["user"]["roles"][0]["roleId"]' in log_in
    log_in = log_in.replace("known =", "known: UserLoginSet =")
    source = f"from gateway_types import Client as HttpClient, UserLoginSet\n\n{log_in}\n"
    (tmp_path / "client.py").write_text(source, "utf-8")
    assert mypy(tmp_path, "client.py") == []


@pytest.mark.slow
def test_the_tests_of_the_project_pass_on_both_databases(tmp_path, mongod_uri):
    write_project("shop", tmp_path)
    outcomes = []
    for storage in ("mongomock", "mongo"):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--gateway-storage={storage}"]
        environ = {**os.environ, "PYTHONPATH": str(ROOT), "GATEWAYFW_TEST_MONGO_URI": mongod_uri}
        told = subprocess.run(command, cwd=tmp_path / "shop", env=environ, capture_output=True, text=True, check=False)
        outcomes.append((told.returncode, told.stdout.splitlines()[-1].partition(" in ")[0]))
    assert outcomes == [(0, "9 passed")] * 2


@pytest.mark.slow
def test_its_programs_say_what_is_wrong_without_a_traceback(tmp_path, mongod_uri):
    write_project("shop", tmp_path)
    known = {name: value for name, value in os.environ.items() if not name.startswith("GATEWAYFW_")}
    environ = {**known, "PYTHONPATH": str(ROOT), "GATEWAYFW_TOKEN_KEY": "k" * 32}
    create = ["-m", "flask", "--app", "shop", "create-editor", "--email", "Ann@example.com", "--password", "words"]
    away, here = "mongodb://127.0.0.1:9/shop?replicaSet=rs0", mongod_uri.replace("/?", f"/shop{os.getpid()}?")
    outcomes = []
    for words, uri in ((["-m", "shop"], away), (create, away), (create, here), (create, here), (create, "")):
        told = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path / "shop",
            env={**environ, "MONGODB_URI": uri},
            capture_output=True,
            text=True,
            check=False,
        )
        output = told.stdout + told.stderr
        assert "Traceback" not in output
        outcomes.append((told.returncode, output.splitlines()[-1]))
    assert outcomes == [
        (1, "the database of MONGODB_URI does not answer; without that variable the data is in memory"),
        (1, "Error: service unavailable, try again"),
        (0, "created ann@example.com"),
        (1, "Error: there is a user with this e-mail already"),
        (1, "  MONGODB_URI names the database, such as mongodb://127.0.0.1:27017/shop?replicaSet=rs0"),
    ]

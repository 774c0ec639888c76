"""The package as a user gets it: metadata, entry points, files of sdist and wheel, an install."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from configparser import ConfigParser
from pathlib import Path

import pytest

from gatewayfw import __version__
from tests.readme import CLIENT, EXAMPLE, PRINTED

ROOT = Path(__file__).parent.parent
CLASSIFIER = "Programming Language :: Python :: 3."
#: Without the bytecode of modules that nobody imports here.
INSTALL = ("install", "-q", "--no-compile")


@pytest.fixture(scope="module")
def config():
    parser = ConfigParser()
    parser.read(ROOT / "setup.cfg", "utf-8")
    return parser


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The folder with an sdist and a wheel made from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    return folder


@pytest.fixture(scope="module")
def installed(dist, tmp_path_factory):
    """The Python of an environment that holds the package and its requirements, nothing else.

    The wheel was made from the sdist, so that both are tried.
    """
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder)
    python = folder / "bin" / "python"
    pip(python, *INSTALL, next(dist.glob("*.whl")))
    return python


def pip(python, *words, cwd=None):
    """Let the pip of the tests work on another environment: to install pip into each takes longer than the rest."""
    run(sys.executable, "-m", "pip", "--python", python, *words, cwd=cwd)


def run(*command, cwd=None):
    result = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def lines(config, section, option):
    return [line for line in config[section][option].splitlines() if line]


def test_metadata_is_only_in_setup_cfg(config):
    assert {key: config["metadata"][key] for key in ("name", "version", "license_expression")} == {
        "name": "gatewayfw",
        "version": "0.1.0",
        "license_expression": "MIT",
    }
    assert (ROOT / "pyproject.toml").read_text("utf-8").splitlines()[0] == "[build-system]"
    assert len((ROOT / "pyproject.toml").read_text("utf-8").splitlines()) == 3


def test_change_log_names_the_version(config):
    assert f"\n## {config['metadata']['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_supported_pythons_are_those_tox_runs(config):
    tox = ConfigParser()
    tox.read(ROOT / "tox.ini", "utf-8")
    minors = [line.removeprefix(CLASSIFIER) for line in lines(config, "metadata", "classifiers") if CLASSIFIER in line]
    assert [f"py3{minor}" for minor in minors] == [env for env in tox["tox"]["env_list"].split(", ") if "py" in env[:2]]
    assert config["options"]["python_requires"] == f">=3.{minors[0]}"


def test_the_package_knows_its_version(config):
    assert config["metadata"]["version"] == __version__


def test_requirements_file_installs_every_extra_but_other_frameworks(config):
    (line,) = [line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line.startswith("-e")]
    given = {*line.removeprefix("-e .[").removesuffix("]").split(",")} | optional(config)
    assert given == {*config["options.extras_require"]} - {"bench", "docs", "testing"}


def optional(config):
    """What the extra ``all`` holds."""
    (line,) = lines(config, "options.extras_require", "all")
    return {*line.removeprefix("gatewayfw[").removesuffix("]").split(",")}


def test_the_extra_all_holds_every_feature(config):
    others = {"all", "bench", "dev", "docs", "mongod", "test", "testing"}
    assert optional(config) == {*config["options.extras_require"]} - others


def test_the_site_is_built_with_what_its_reference_imports(config):
    assert "gatewayfw[testing]" in lines(config, "options.extras_require", "docs")


def test_the_readme_shows_every_extra(config):
    table = (ROOT / "docs" / "extras.md").read_text("utf-8")
    shown = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    ours = re.findall(r"`(\w+)`", table.rstrip().splitlines()[-1].partition(" are")[0])
    assert sorted([*shown, *ours]) == sorted(config["options.extras_require"])


@pytest.mark.parametrize("group", ["flask.commands", "pytest11"])
def test_entry_points_name_things_that_exist(config, group):
    for line in lines(config, "options.entry_points", group):
        module, _, name = line.partition(" = ")[2].partition(":")
        place = ROOT.joinpath(*module.split("."))
        source = (place / "__init__.py" if place.is_dir() else place.with_suffix(".py")).read_text("utf-8")
        assert f"def {name}(" in source or f"\n{name} = " in source or not name


def test_the_plugin_imports_no_more_than_it_needs():
    """pytest loads it in every session of an environment that has the package."""
    script = (
        "import sys, pytest; before = set(sys.modules); import gatewayfw.testing.plugin\n"
        "names = set(sys.modules) - before\n"
        "print(*sorted(name for name in names if name.partition('.')[0] not in sys.stdlib_module_names))"
    )
    loaded = run(sys.executable, "-c", script, cwd=ROOT).split()
    assert loaded == ["gatewayfw", "gatewayfw.context_variables", "gatewayfw.testing", "gatewayfw.testing.plugin"]


@pytest.mark.slow
def test_wheel_holds_the_package_and_nothing_else(dist):
    names = zipfile.ZipFile(next(dist.glob("*.whl"))).namelist()
    assert {name.split("/")[0] for name in names} == {"gatewayfw", "gatewayfw-0.1.0.dist-info"}
    assert {"gatewayfw/py.typed", "gatewayfw/export/typescript/template.ts", "gatewayfw/web/reader.py"} <= set(names)
    assert [name for name in names if "__pycache__" in name] == []


@pytest.mark.slow
def test_type_checkers_find_an_editable_install(tmp_path):
    run(sys.executable, "-m", "pip", *INSTALL, "--no-deps", "--target", tmp_path, "-e", ROOT)
    assert {path.name for path in tmp_path.iterdir() if path.suffix in (".pth", ".py")} == {
        "__editable__.gatewayfw-0.1.0.pth"  # no import hook, which they do not run
    }
    assert next(tmp_path.glob("*.pth")).read_text("utf-8").strip() == str(ROOT)


@pytest.mark.slow
def test_the_wheel_holds_the_licences_of_all_that_is_in_it(dist):
    with zipfile.ZipFile(next(dist.glob("*.whl"))) as wheel:
        held = {name: wheel.read(name).decode() for name in wheel.namelist() if "/licenses/" in name}
    assert held == {
        f"gatewayfw-0.1.0.dist-info/licenses/{name}": (ROOT / name).read_text("utf-8")
        for name in ("LICENSE", "THIRD-PARTY-NOTICES.txt")
    }


def test_no_package_of_the_playground_lacks_its_notice():
    lock = json.loads((ROOT / "playground" / "package-lock.json").read_text("utf-8"))["packages"]
    bundled = {
        path.removeprefix("node_modules/"): package["version"]
        for path, package in lock.items()
        if path and (not package.get("dev") or path in ("node_modules/vite", "node_modules/rolldown"))
    }
    text = (ROOT / "THIRD-PARTY-NOTICES.txt").read_text("utf-8")
    parts = re.split(r"^={80}\n(\S+) (\S+)\n={80}\n", text, flags=re.MULTILINE)[1:]
    assert dict(zip(parts[::3], parts[1::3], strict=True)) == bundled
    assert [name for name, licence in zip(parts[::3], parts[2::3], strict=True) if "Permission is" not in licence] == []


@pytest.mark.slow
def test_sdist_leaves_out_the_key_of_compose(tmp_path, monkeypatch):
    (tmp_path / "deploy").mkdir()
    for name in (".env", "compose.yaml"):
        (tmp_path / "deploy" / name).touch()
    monkeypatch.chdir(tmp_path)
    files = pytest.importorskip("setuptools.command.egg_info").FileList()  # Python 3.12 comes without setuptools
    files.findall()
    for line in (ROOT / "MANIFEST.in").read_text("utf-8").splitlines():
        files.process_template_line(line)
    assert files.files == ["deploy/compose.yaml"]


@pytest.mark.slow
def test_sdist_holds_what_a_clone_runs(dist):
    with tarfile.open(next(dist.glob("*.tar.gz"))) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {
        "dev",
        "LICENSE",
        "README.md",
        "CONTRIBUTING.md",
        "requirements.txt",
        "ruff.toml",
        "tox.ini",
        "setup.cfg",
    } <= names
    assert {
        "sample_service/__main__.py",
        "tests/conftest.py",
        "docs/guide/index.md",
        "SECURITY.md",
        "CONTRIBUTING.md",
    } <= names


@pytest.mark.slow
def test_the_readme_example_runs_in_an_empty_environment(installed, tmp_path):
    (tmp_path / "app.py").write_text(EXAMPLE + CLIENT, "utf-8")
    pip(installed, "check")
    served = (
        "import flask, runpy; flask.Flask.run = lambda app, port: None; runpy.run_path('app.py', run_name='__main__')"
    )
    assert run(installed, "-W", "error", "-c", served, cwd=tmp_path) == PRINTED


@pytest.mark.slow
def test_a_new_project_passes_its_own_tests(installed, dist, tmp_path):
    wheel = next(dist.glob("*.whl"))
    pip(installed, *INSTALL, f"{wheel}[testing]")
    run(installed.parent / "flask", "gateway", "new", "library", cwd=tmp_path)
    project = tmp_path / "library"
    (project / ".venv").symlink_to(installed.parent.parent)
    shutil.copy(wheel, project)  # for whom no index has the package
    found = ("install", "-q", "--dry-run", "--ignore-installed", "--no-index", "--no-deps")
    pip(installed, *found, "-r", project / "requirements.txt", cwd=tmp_path)
    shutil.copy(project / "requirements-dev.txt", project / ".venv" / "installed")  # but for the MongoDB server
    assert re.search(r"^9 passed", run(project / "dev", "test", "-q", "-p", "no:cacheprovider"), re.MULTILINE)

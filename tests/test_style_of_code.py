"""Imports point down, and in no circle: who may see whom, read from the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from gatewayfw.odm.hidden import HIDDEN

ROOT = Path(__file__).parent.parent / "gatewayfw"

BOTTOM = {"batches", "carriers", "environment", "errors", "greenlets", "logs", "open_contexts", "settings", "spelling"}
ACTS = BOTTOM | {"schemas", "acts"}
WEB = ACTS | {"storage", "odm", "files", "catalog", "export", "observe.calls", "wire", "web"}
PARTS = WEB | {"limits", "auth", "remote", "client", "observe", "playground"}

#: What each part may import, itself apart; a longer name wins.
MAY_SEE: dict[str, set[str]] = {
    "batches": set(),
    "carriers": {"errors"},
    "environment": set(),
    "errors": set(),
    "greenlets": {"errors"},
    "logs": {"errors"},
    "open_contexts": set(),
    "spelling": set(),
    "settings": {"errors", "logs"},
    "schemas": BOTTOM,
    "storage": BOTTOM,
    "odm": BOTTOM | {"schemas", "storage"},
    "acts": BOTTOM | {"schemas"},
    "limits": ACTS,
    "auth": ACTS,
    "catalog": ACTS,
    "export": ACTS | {"catalog"},
    "files": ACTS | {"storage", "odm"},
    "wire": BOTTOM,
    "remote": ACTS | {"wire"},
    "client": ACTS | {"wire"},
    "observe": ACTS,
    "observe.calls": ACTS,
    "web": WEB,
    "playground": set(),
    "starter": {"errors"},
    "core": PARTS,
    "current": {"core"},
    "__init__": PARTS | {"core", "current"},
    "cli": PARTS | {"core", "starter"},
    "cli.mongod": PARTS | {"cli", "testing"},
    "testing": PARTS | {"core"},
    "testing.mongod": set(),
    "testing.supervisor": set(),
}

#: The imports inside functions: optional extras, what some platforms lack, what would make a plugin slow to load.
LATE = {
    "limits.limits": {"gatewayfw.limits.counters", "gatewayfw.limits.rates"},
    "export.mcp": {
        "anyio",
        "anyio.to_thread",
        "mcp.server",
        "mcp.server.stdio",
        "mcp.shared.exceptions",
        "mcp.types",
    },
    "export.openapi": {"apispec"},
    "observe.metrics": {"prometheus_client", "prometheus_client.exposition", "prometheus_client.multiprocess"},
    "observe.sentry": {"sentry_sdk", "sentry_sdk.integrations.logging"},
    "observe.tracing": {"opentelemetry"},
    "testing.plugin": {"gatewayfw.testing.kit", "gatewayfw.testing.mongod", "mongomock", "pymongo"},
    "web.playground": {"gatewayfw.export.openapi"},
    "web.servers.granian": {"granian", "granian.constants", "granian.http", "granian.server"},
    "web.servers.gunicorn": {"gunicorn.app.base"},
    "web.servers.waitress": {"waitress"},
}

MODULES = sorted(ROOT.rglob("*.py"))


def name_of(path: Path) -> str:
    """Return the dotted name below gatewayfw; a package's own module keeps ``.__init__``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def part_of(module: str) -> str:
    """Return the longest entry of `MAY_SEE` that holds the module."""
    parts = module.split(".")
    return next((name for n in range(len(parts), 0, -1) if (name := ".".join(parts[:n])) in MAY_SEE), parts[0])


def imported(module: str, node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, list[str]]]:
    """Yield each absolute module name that the statement imports, with the names taken from it."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
        return
    above = ["gatewayfw", *module.split(".")][: -node.level] if node.level else []
    yield ".".join([*above, *([node.module] if node.module else [])]), [alias.name for alias in node.names]


def seen(name: str, taken: list[str]) -> Iterator[str]:
    """Yield the modules below gatewayfw that an import reaches; an empty name is the root itself."""
    _, _, below = name.partition(".")
    if below:
        yield below
    elif not taken:
        yield ""
    else:
        yield from (
            one if one in MAY_SEE or (ROOT / one).is_dir() or (ROOT / f"{one}.py").is_file() else "" for one in taken
        )


def violations(module: str, source: str) -> list[str]:
    """Return what is wrong with the imports of one module."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    late = {inner for function in functions for inner in ast.walk(function)}
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name, taken in imported(module, node):
            if "*" in taken:
                found.append(f"{node.lineno}: everything from {name}")
            if node in late and name not in LATE.get(module, ()):
                found.append(f"{node.lineno}: {name} inside a function")
            if name.partition(".")[0] == "gatewayfw":
                found += [f"{node.lineno}: {problem}" for problem in upward(module, name, taken)]
    return found


def upward(module: str, name: str, taken: list[str]) -> Iterator[str]:
    """Yield what an import from gatewayfw reaches and may not."""
    part = part_of(module)
    for below in seen(name, taken):
        if not below:
            yield "the package root"
        elif part != part_of(below) and {part_of(below), part_of(below).partition(".")[0]}.isdisjoint(
            {*MAY_SEE[part], part}
        ):
            yield f"{part} may not see {below}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_of_the_module_point_down(path):
    assert violations(name_of(path), path.read_text("utf-8")) == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_module_has_a_place_among_the_parts(path):
    assert part_of(name_of(path)) in MAY_SEE


@pytest.mark.parametrize("path", [one for one in MODULES if "__all__" in one.read_text("utf-8")], ids=name_of)
def test_the_names_that_a_module_offers_are_there(path):
    module = import_module(f"gatewayfw.{name_of(path)}".removesuffix(".__init__"))
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


STORAGES = [path for path in MODULES if name_of(path).startswith(("storage.", "testing.storage_suite."))]


@pytest.mark.parametrize("path", STORAGES, ids=name_of)
def test_a_storage_does_not_know_the_hidden_field(path):
    assert HIDDEN not in path.read_text("utf-8")


@pytest.mark.parametrize(
    ("module", "source", "problems"),
    [
        ("odm.models", "import gatewayfw.web.app", ["1: odm may not see web.app"]),
        ("acts.registry", "from gatewayfw.storage.base import Storage", ["1: acts may not see storage.base"]),
        ("acts.registry", "from gatewayfw import errors, odm", ["1: acts may not see odm"]),
        ("acts.registry", "from ..odm import models", ["1: acts may not see odm"]),
        ("acts.registry", "from .. import core", ["1: acts may not see core"]),
        ("acts.__init__", "from ..web.reader import parse", ["1: acts may not see web.reader"]),
        (
            "acts.act",
            "if TYPE_CHECKING:\n    from gatewayfw.limits.limits import R",
            ["2: acts may not see limits.limits"],
        ),
        ("client.clients", "from gatewayfw.remote import encode", ["1: client may not see remote"]),
        ("web.endpoint", "from gatewayfw.observe import sentry", ["1: web may not see observe"]),
        ("observe.sentry", "from gatewayfw.web.reply import logger", ["1: observe may not see web.reply"]),
        ("errors", "if TYPE_CHECKING:\n    from gatewayfw.settings import S", ["2: errors may not see settings"]),
        ("testing.mongod", "from gatewayfw.errors import E", ["1: testing.mongod may not see errors"]),
        ("core", "import gatewayfw.cli", ["1: core may not see cli"]),
        ("web.app", "import gatewayfw", ["1: the package root"]),
        ("web.app", "from gatewayfw import gateway", ["1: the package root"]),
        ("web.app", "def f():\n    import json", ["2: json inside a function"]),
        ("testing.plugin", "def f():\n    from pymongo import MongoClient", []),
        ("web.app", "from json import *", ["1: everything from json"]),
        ("odm.models", "from gatewayfw.odm.writing.apply import w\nfrom .snapshots import s\nimport json", []),
    ],
)
def test_the_reader_of_imports_finds(module, source, problems):
    assert violations(module, source) == problems


# -- circles: no module may need itself, whatever the kind of import


def needed(module: str, source: str, known: Set[str]) -> set[str]:
    """Return the known modules that one names: above, inside functions or under ``TYPE_CHECKING``."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    named = {one for node in nodes for name, taken in imported(module, node) for one in reached(name, taken, known)}
    return named & known - {module}


def reached(name: str, taken: list[str], known: Set[str]) -> Iterator[str]:
    """Yield the modules below gatewayfw that an import names: what is taken, where that is one, or else its place."""
    package, _, below = name.partition(".")
    if package != "gatewayfw":
        return
    for one in taken or [""]:
        inside = ".".join(filter(None, [below, one]))
        found = (each for each in (inside, f"{inside}.__init__", below, f"{below}.__init__") if each in known)
        yield next(found, "__init__")


def circle_in(sources: Mapping[str, str]) -> list[str]:
    """Return modules each of which is needed by the next, the first and the last the same; empty without a circle."""
    graph = {name: needed(name, source, sources.keys()) for name, source in sources.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_needs_itself():
    assert circle_in({name_of(path): path.read_text("utf-8") for path in MODULES}) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "import gatewayfw.b", "b": ""}, set()),
        ({"a": "import gatewayfw.b", "b": "from gatewayfw import a"}, {"a", "b"}),
        ({"a": "from . import b", "b": "def f():\n    from gatewayfw.a import g"}, {"a", "b"}),
        ({"a": "if TYPE_CHECKING:\n    from .b import B", "b": "import gatewayfw.a"}, {"a", "b"}),
        ({"a": "from .b import c", "b": "from .c import d", "c": "from .a import c"}, {"a", "b", "c"}),
        ({"p.__init__": "from .q import q", "p.q": "from gatewayfw.p import q"}, set()),
        ({"p.__init__": "from .q import q", "p.q": "from gatewayfw.p import r"}, {"p.__init__", "p.q"}),
        ({"__init__": "from gatewayfw.a import f", "a": "import gatewayfw"}, {"__init__", "a"}),
    ],
)
def test_the_finder_of_circles_finds(sources, expected):
    assert set(circle_in(sources)) == expected

"""The package as its sources show it: imports, docstrings, what they cite, test files, what catches every error."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from gatewayfw.odm.hidden import HIDDEN

TESTS = Path(__file__).parent
ROOT = TESTS.parent / "gatewayfw"

BOTTOM = {
    "context_variables",
    "token_carriers",
    "environment",
    "error_codes",
    "errors",
    "logs",
    "messages",
    "pieces",
    "settings",
    "spelling",
}
ACTS = BOTTOM | {"schemas", "policies", "wire", "acts"}
WEB = ACTS | {"storage", "odm", "files", "catalog", "export", "observe", "wire", "web"}
PARTS = WEB | {"limits", "auth", "client", "observe", "playground"}

#: What each part may import, itself apart; a longer name wins.
MAY_SEE: dict[str, set[str]] = {
    "context_variables": set(),
    "pieces": set(),
    "token_carriers": {"errors"},
    "environment": {"errors"},
    "errors": {"messages"},
    "error_codes": set(),
    "logs": {"errors"},
    "messages": {"error_codes"},
    "spelling": set(),
    "settings": {"errors", "logs"},
    "schemas": BOTTOM,
    "policies": BOTTOM | {"schemas"},
    "storage": BOTTOM,
    "odm": BOTTOM | {"schemas", "policies", "storage"},
    "acts": BOTTOM | {"schemas", "policies", "wire"},
    "limits": ACTS,
    "auth": ACTS,
    "catalog": ACTS | {"policies"},
    "export": ACTS | {"catalog"},
    "files": ACTS | {"storage", "odm"},
    "wire": BOTTOM,
    "client": ACTS,
    "observe": ACTS,
    "observe.calls": ACTS,
    "web": WEB,
    "playground": set(),
    "core": PARTS,
    "current": {"core"},
    "__init__": PARTS | {"core", "current"},
    "cli": PARTS | {"core"},
    "cli.mongod": PARTS | {"cli", "testing"},
    "testing": PARTS | {"core"},
    "testing.mongod": set(),
    "testing.supervisor": set(),
}

#: The imports inside functions: optional extras, what some platforms lack, what would make a plugin slow to load.
LATE = {
    "export.mcp": {
        "anyio",
        "jsonschema",
        "mcp.server",
        "mcp.server.stdio",
        "mcp.shared.exceptions",
        "mcp.types",
    },
    "observe.metrics": {"prometheus_client", "prometheus_client.exposition", "prometheus_client.multiprocess"},
    "observe.sentry": {"sentry_sdk"},
    "observe.tracing": {"opentelemetry"},
    "testing.plugin": {"gatewayfw.testing.kit", "gatewayfw.testing.mongod", "mongomock", "pymongo"},
    "web.playground": {"gatewayfw.export.openapi"},
    "web.servers": {"gunicorn.app.base", "waitress"},
}


def name_of(path: Path) -> str:
    """Return the dotted name below gatewayfw; a package's own module keeps ``.__init__``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


#: The source of each module, by its name.
SOURCES = {name_of(path): path.read_text("utf-8") for path in sorted(ROOT.rglob("*.py"))}


#: The syntax tree of a source, made once for all tests.
parse = cache(ast.parse)


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
    tree = parse(source)
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


def test_imports_point_down():
    found = {name: problems for name, source in SOURCES.items() if (problems := violations(name, source))}
    assert found == {}


def test_each_module_has_a_place_among_the_parts():
    assert [name for name in SOURCES if part_of(name) not in MAY_SEE] == []


def test_no_storage_knows_the_hidden_field():
    storages = {name: text for name, text in SOURCES.items() if name.startswith(("storage.", "testing.storage_suite."))}
    assert [name for name, text in storages.items() if HIDDEN in text] == []


@pytest.mark.parametrize(
    ("module", "source", "problems"),
    [
        ("odm.models", "import gatewayfw.web.mount", ["1: odm may not see web.mount"]),
        ("acts.registry", "from gatewayfw.storage.base import Storage", ["1: acts may not see storage.base"]),
        ("acts.registry", "from .. import core", ["1: acts may not see core"]),
        ("acts.__init__", "from ..web.reader import read_body", ["1: acts may not see web.reader"]),
        (
            "acts.act",
            "if TYPE_CHECKING:\n    from gatewayfw.limits import R",
            ["2: acts may not see limits"],
        ),
        ("web.app", "import gatewayfw", ["1: the package root"]),
        ("web.app", "from gatewayfw import gateway", ["1: the package root"]),
        ("web.app", "def f():\n    import json", ["2: json inside a function"]),
        ("testing.plugin", "def f():\n    from pymongo import MongoClient", []),
        ("web.app", "from json import *", ["1: everything from json"]),
        ("odm.models", "from gatewayfw.odm.writing.plan.steps import w\nfrom .snapshots import s\nimport json", []),
    ],
)
def test_the_reader_of_imports_finds(module, source, problems):
    assert violations(module, source) == problems


# -- circles: no module may need itself, whatever the kind of import


def needed(module: str, source: str, known: Set[str]) -> set[str]:
    """Return the known modules that one names: above, inside functions or under ``TYPE_CHECKING``."""
    nodes = [node for node in ast.walk(parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
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
    assert circle_in(SOURCES) == []


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a": "import gatewayfw.b", "b": ""}, set()),
        ({"a": "import gatewayfw.b", "b": "from gatewayfw import a"}, {"a", "b"}),
        ({"a": "if TYPE_CHECKING:\n    from .b import B", "b": "import gatewayfw.a"}, {"a", "b"}),
        ({"a": "from .b import c", "b": "from .c import d", "c": "from .a import c"}, {"a", "b", "c"}),
        ({"p.__init__": "from .q import q", "p.q": "from gatewayfw.p import q"}, set()),
    ],
)
def test_the_finder_of_circles_finds(sources, expected):
    assert set(circle_in(sources)) == expected


# -- docstrings, and what they cite

DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
SOURCE = re.compile(r"\bSource:\s+(.+?)\.(?=\s|$|\"\"\")", re.DOTALL)
OTHERS = re.compile(r"RFC \d+, (section \d+(\.\d+)*|erratum \d+)|https://\S+|(.+ (is|are) )?our choice")
_SPECIFICATION = (ROOT.parent / "docs" / "specification.md").read_text("utf-8")
NUMBERS = set(re.findall(r"^(?:## (?=\d+\. )|- \*\*(?=\d+\.\d+\*\*))(\d+(?:\.\d+)?)", _SPECIFICATION, re.MULTILINE))


def first_lines(source: str) -> Iterator[str]:
    """Yield the first line of each docstring; a second one that continues it counts."""
    for node in ast.walk(parse(source)):
        text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
        if text:
            yield " ".join(text.partition("\n\n")[0].splitlines())


def test_first_lines_are_short():
    assert [(name, line) for name, text in SOURCES.items() for line in first_lines(text) if len(line) > 80] == []


def sources_in(text: str) -> list[str]:
    """Return the items of every source that a file names, without line breaks and marks of comments."""
    return [re.sub(r"\s+(#: )?", " ", item) for found in SOURCE.findall(text) for item in re.split(r";\s+", found)]


def is_resolved(item: str) -> bool:
    """Tell whether a source is a rule of the specification, a part of an RFC, an address or our choice."""
    kind, _, rest = item.partition(" ")
    return set(rest.split(", ")) <= NUMBERS if kind == "specification" else OTHERS.fullmatch(item) is not None


def test_every_source_is_there():
    files = [path for part in ("gatewayfw", "tests", "sample_service") for path in (ROOT.parent / part).rglob("*.py")]
    texts = {str(path): path.read_text("utf-8") for path in files if path != Path(__file__)}
    assert [(path, item) for path, text in texts.items() for item in sources_in(text) if not is_resolved(item)] == []
    assert [path for path, text in texts.items() if text.count("Source:") != len(SOURCE.findall(text))] == []


# -- `gatewayfw/odm/ids.py` is tested by `tests/odm/test_ids.py`

#: Modules without a test file, and why. What has rules of its own is not among them.
WITHOUT_TESTS = {
    "testing.storage_suite.indexes": "is tests itself",
    "testing.storage_suite.locks": "is tests itself",
    "testing.storage_suite.reads": "is tests itself",
    "testing.storage_suite.topic": "is what those tests share",
    "testing.storage_suite.transactions": "is tests itself",
    "testing.storage_suite.writes": "is tests itself",
}


def test_each_module_has_its_test_file():
    modules = [name for name in SOURCES if not name.rpartition(".")[2].startswith("__")]
    tests = {name: TESTS.joinpath(*name.split(".")[:-1], f"test_{name.rpartition('.')[2]}.py") for name in modules}
    assert sorted(name for name, path in tests.items() if not path.is_file()) == sorted(WITHOUT_TESTS)


#: The functions that catch every error, and why. A handler that ends with a bare `raise` only tidies up.
SEAMS = {
    "web/batch.py:_Running._answer": "the error of an item becomes the item's reply",
    "web/batch.py:_Running.run_together": "the error of an item becomes the reply of the batch",
    "acts/hooks.py:run_error_hooks": "a hook may raise another error in place of the one it got",
    "acts/lifecycle.py:Lifecycle._translating": "every error of an act may become another one",
    "acts/lifecycle.py:Lifecycle.run": "every error of an act may become another one",
    "auth/tokens.py:Tokens.read": "PyJWT lets errors of all kinds through, and each means a wrong token",
    "auth/tokens.py:_checked_key": "cryptography has errors of its own, and their texts describe the key",
    "logs.py:_named": "an author's `__str__` may fail, and the log must not",
    "observe/calls.py:OpenCall.end": "an observer may fail, and the client gets the reply",
    "observe/calls.py:_begun": "an observer may fail, and the act runs",
    "observe/sentry.py:leave_to_signal": "an unknown version of the SDK: two reports are better than none",
    "odm/jobs/background.py:JobWorker._batches": "a job that fails is put back, and the next one is worked on",
    "odm/jobs/background.py:_run": "a dead thread would leave copies stale until the process ends",
    "odm/upkeep/inspection.py:Place.last_id": "bson raises errors of all kinds for a state that somebody edited",
    "odm/writing/plan/attempt.py:with_size_checks": "what was too large begins again, measured; others are raised",
    "odm/reading/rights.py:Rights._call": "a function of a policy may fail, and then shows nothing",
    "cli/doctor_configuration.py:compared_by": "an author's function may fail on a context that is none",
    "policies/policies.py:Policies.after_error": "what tells who calls may be what has failed: then nobody calls",
    "schemas/kinds/foreign.py:_own_default": "an author's default may fail, which the definition is told",
    "schemas/structs.py:FunctionStruct.check": "an author's validator may fail, which is a validation error",
    "storage/commits.py:_call": "what is committed must not look as if it had failed",
    "web/endpoint.py:Endpoint.answer_by": "every error of a request becomes an envelope",
    "web/endpoint.py:send_signal": "a receiver of Flask's signal may fail, and the client gets the envelope",
    "web/failure.py:_text": "an author's `__str__` may fail, and the reply must not",
    "web/failure.py:failure": "an author's error may be broken, and is answered as an internal one",
    "web/flask_bypass.py:FlaskBypass._changed": "errors after the act are Flask's to handle, as without the bypass",
    "web/playground.py:accepts": "a guard may fail, and its own error would reveal the page",
    "web/mount.py:_add_playground.view": "an error of the catalog becomes an envelope",
    "web/multipart.py:_read": "each server raises a class of its own when the client leaves",
    "web/reader.py:_read": "each server raises a class of its own when the client leaves",
}


def is_broad(handler):
    """Whether it catches every error and does not end with a bare `raise`."""
    caught = {"Exception"} if handler.type is None else {getattr(one, "id", "") for one in ast.walk(handler.type)}
    last = handler.body[-1]
    return bool(caught & {"Exception", "BaseException"}) and not (isinstance(last, ast.Raise) and last.exc is None)


def broad_excepts(node, where=""):
    """Yield the name of the function around each broad handler."""
    for child in ast.iter_child_nodes(node):
        named = isinstance(child, ast.FunctionDef | ast.ClassDef)
        if isinstance(child, ast.ExceptHandler) and is_broad(child):
            yield where
        yield from broad_excepts(child, f"{where}.{child.name}".lstrip(".") if named else where)


@pytest.mark.parametrize(
    ("handler", "found"),
    [
        ("except Exception: pass", ["f"]),
        ("except (ValueError, BaseException) as error: g(error)", ["f"]),
        ("except: pass", ["f"]),
        ("except ValueError: pass", []),
        ("except BaseException:\n  g()\n  raise", []),
        ("except Exception as error: raise ValueError from error", ["f"]),
    ],
)
def test_a_handler_is_broad_if_it_catches_everything_and_keeps_it(handler, found):
    source = "def f():\n try:\n  g()\n " + handler.replace("\n", "\n ")
    assert list(broad_excepts(parse(source))) == found


def test_everything_is_caught_only_at_the_seams():
    trees = {path: parse(path.read_text("utf-8")) for path in ROOT.rglob("*.py")}
    found = [
        f"{path.relative_to(ROOT).as_posix()}:{where}" for path, tree in trees.items() for where in broad_excepts(tree)
    ]
    assert sorted(found) == sorted(SEAMS)


def test_no_name_is_that_of_two_classes():
    nodes = (node for source in SOURCES.values() for node in ast.walk(parse(source)))
    count = Counter(node.name for node in nodes if isinstance(node, ast.ClassDef))
    assert [name for name, times in count.items() if times > 1] == []

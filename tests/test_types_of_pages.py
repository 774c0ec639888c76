"""pyright and mypy accept the Python blocks of the README and the docs, as they are: one program for each page."""

from __future__ import annotations

import re
import textwrap

import pytest

from gatewayfw.cli.new import write_project
from tests.export.checking import mypy, pyright
from tests.readme import EXAMPLE
from tests.test_guide import BLOCKS
from tests.test_pages import FRAGMENTS, PAGES
from tests.test_tutorial import BLOCKS as TUTORIAL
from tests.test_tutorial import Reader
from tests.test_upgrading import SECTIONS, new_parts

pytestmark = pytest.mark.slow

#: Not here as one program: types of a client, which are checked with its generated module; files of a project; and old
#: code beside the new one.
ELSEWHERE = {"python-client.md", "tutorial.md", "upgrading.md"}
#: What the new code of the page on upgrading takes for granted.
UPGRADER = """\
from typing import Any

import mongomock
from bson import ObjectId
from marshmallow import fields

from gatewayfw import Conflict, Forbidden, UsageError, gateway, object_id, string
from gatewayfw.odm import Model, Operators


def given(kind: type[Any]) -> Any:
    return kind()


gw = gateway()
acts, odm, context_fns = gw.acts, gw.odm, gw.context_fns
books: Model = given(Model)
users: Model = given(Model)
things: Model = given(Model)
book: dict[str, Any] = {}
reserved: dict[str, Any] = {}
user: dict[str, Any] = {}
id, unit_id, email, hashed, column, count = ObjectId(), ObjectId(), "", "", "", 1
error: Exception = given(Exception)


def send_report() -> None: ...


def skip() -> None: ...


"""
#: What the blocks of some pages take for granted.
READER = "from flask import Flask\n\nfrom gatewayfw import gateway\n\napp, gw = Flask('page'), gateway()\n"
#: A page reads what it has just written, with `find_one(...)["title"]`: for readers' own code these rules are right.
SURE = {"reportOptionalSubscript": False, "reportOptionalMemberAccess": False}
#: The same for mypy. A page is no module: a later block may use a name again, and other libraries say too little.
FLAGS = (
    *("--check-untyped-defs", "--no-strict-optional", "--allow-redefinition"),
    *(f"--disable-error-code={code}" for code in ("import-untyped", "method-assign", "var-annotated")),
)
#: Not of the project: mongomock's client has no types; of its tests only the one that the tutorial adds.
UNTYPED = {"__main__", "conftest", "test_books", "test_users"}
#: Flask knows less of a blueprint than Flask-Limiter wants to be told.
OF_OTHERS = [("page_howto_extensions", 'limiter.exempt(app.blueprints["gateway"])')]
_BLOCK = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def programs():
    """The programs by the names of their modules."""
    found = {"readme": EXAMPLE, "guide": "".join(block[2] for _, block in BLOCKS if block[1] == "python")}
    for page, text in PAGES.items():
        blocks = [textwrap.dedent(block) for block in _BLOCK.findall(text)]
        if blocks and page not in ELSEWHERE and not page.startswith("guide/"):
            assumed = READER if page in (*FRAGMENTS, "operations.md") else ""
            found[page.removesuffix(".md").replace("/", "_").replace("-", "_")] = assumed + "".join(blocks)
    new = [part for title in SECTIONS if title != "Generated Python" for part in new_parts(title)]
    found["upgrading"] = UPGRADER + "\n".join(new)
    return {f"page_{name}": text for name, text in found.items()}


def follow_tutorial(folder):
    """Make the project of the tutorial with its files and changes; return the paths of its code and one test."""
    write_project("shop", folder)
    reader = Reader(folder / "shop", "")
    for kind, text in TUTORIAL:
        if kind == "diff" or (kind == "python" and text.startswith("# ")):
            getattr(reader, kind)(text)
    return [str(path.relative_to(folder)) for path in (folder / "shop").glob("*/**/*.py") if path.stem not in UNTYPED]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the programs, and their paths in it."""
    folder = tmp_path_factory.mktemp("pages")
    for name, text in programs().items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    client = next(text for kind, text in TUTORIAL if kind == "python" and not text.startswith("# "))
    (folder / "page_tutorial.py").write_text(client, "utf-8")
    return folder, sorted([*(path.name for path in folder.glob("*.py")), *follow_tutorial(folder)])


def lines_of(folder, names, found):
    """What stands where something was found."""
    paths = {(folder / name).stem: folder / name for name in names}
    return [(name, paths[name].read_text("utf-8").splitlines()[line - 1]) for name, line, *_ in found]


def test_pyright_accepts_every_page(folder):
    folder, names = folder
    strict = [name for name in names if name.startswith("shop/shop/")]
    assert strict
    assert lines_of(folder, names, pyright(folder, *names, strict=strict, **SURE)) == OF_OTHERS


def test_mypy_accepts_every_page(folder):
    pytest.importorskip("mypy")
    folder, names = folder
    assert lines_of(folder, names, mypy(folder, *names, flags=FLAGS)) == OF_OTHERS

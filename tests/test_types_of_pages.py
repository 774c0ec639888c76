"""pyright and mypy accept the Python blocks of the README and the docs, as they are: one program for each page."""

from __future__ import annotations

import re
import textwrap

import pytest

from tests.export.checking import mypy, pyright
from tests.readme import EXAMPLE
from tests.test_guide import BLOCKS
from tests.test_pages import FRAGMENTS, PAGES

pytestmark = pytest.mark.slow

#: Not here: types of a client, which are checked with its generated module; files of a project, which has its own
#: check; and old code beside the new one.
ELSEWHERE = {"python-client.md", "tutorial.md", "upgrading.md"}
#: What the blocks of some pages take for granted.
READER = "from flask import Flask\n\nfrom gatewayfw import gateway\n\napp, gw = Flask('page'), gateway()\n"
#: A page reads what it has just written, with `find_one(...)["title"]`: for readers' own code these rules are right.
SURE = {"reportOptionalSubscript": False, "reportOptionalMemberAccess": False}
#: The same for mypy. A page is no module: a later block may use a name again, and other libraries say too little.
FLAGS = (
    *("--check-untyped-defs", "--no-strict-optional", "--allow-redefinition"),
    *(f"--disable-error-code={code}" for code in ("import-untyped", "method-assign", "var-annotated")),
)
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
    return {f"page_{name}": text for name, text in found.items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the programs."""
    folder = tmp_path_factory.mktemp("pages")
    for name, text in programs().items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


def lines_of(folder, found):
    """What stands where something was found."""
    return [(name, (folder / f"{name}.py").read_text("utf-8").splitlines()[line - 1]) for name, line, *_ in found]


def test_pyright_accepts_every_page(folder):
    names = sorted(path.name for path in folder.glob("*.py"))
    assert lines_of(folder, pyright(folder, *names, **SURE)) == OF_OTHERS


def test_mypy_accepts_every_page(folder):
    pytest.importorskip("mypy")
    names = sorted(path.name for path in folder.glob("*.py"))
    assert lines_of(folder, mypy(folder, *names, flags=FLAGS)) == OF_OTHERS

"""The client in a generated module: whole, without this package, and beside any names of models."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter

from gatewayfw.export.python.runtime import import_lines, runtime
from gatewayfw.export.python.types import RESERVED
from gatewayfw.schemas import string
from tests.export.generated import make, source
from tests.export.test_typescript_live import served

BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in {"gatewayfw", "flask", "urllib3", "pymongo", "marshmallow"}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
import gateway_types
with gateway_types.Client(sys.argv[1], "a-token") as client:
    print(client.call("city", "tell", set={"name": "Rome"}))
    try:
        client.call("city", "tell", set={"name": 5})
    except gateway_types.CallError as error:
        print(error.status, error.code, list(error.errors))
try:
    gateway_types.Client("ftp://h")
except ValueError as error:
    print(error)
"""


def test_the_module_runs_where_nothing_else_is_installed(tmp_path):
    gw = make()

    @gw.acts.act("city", "tell", set={"name": string()}, public=True)
    def tell(body):
        return [body["details"]["set"]["name"], gw.context_fns.get_context_model().Headers.get("token")]

    (tmp_path / "gateway_types.py").write_text(source(gw), "utf-8")
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{BLOCKED}"]
    with served(gw.create_app()) as url:
        told = subprocess.run([*command, url], capture_output=True, text=True, timeout=60)
    assert (told.stdout, told.stderr) == (
        "['Rome', 'a-token']\n400 validation_error ['set.name']\nthe URL must start with http:// or https://\n",
        "",
    )


def test_nothing_is_defined_twice_and_no_model_takes_a_name_of_it():
    tree = ast.parse(runtime().code)
    defined = Counter(each.name for each in tree.body if isinstance(each, ast.ClassDef | ast.FunctionDef))
    assigned = Counter(each.targets[0].id for each in tree.body if isinstance(each, ast.Assign))
    assert max((defined + assigned).values()) == 1
    assert {"HttpClient", "CallError", "Bounded", "re", "json"} <= runtime().names <= RESERVED


def test_its_files_stand_one_after_another_without_their_imports():
    made = runtime()
    starts = ("class DefinitionError(", "class Bounded(", "\nMAX_VALUES = ", "\nclass HttpClient")
    first = [made.code.index(start) for start in starts]
    assert (first[0], first) == (0, sorted(first))
    assert not re.search(r"^(import|from) |\n{4}|\A\n|\n\n\Z", made.code, re.MULTILINE)
    assert "\n\n\n#: Most values of a reply" in made.code
    assert [module for module, _ in made.imports if module.startswith(("gatewayfw", "_"))] == []
    assert {("json", ""), ("urllib.parse", "urlsplit")} < made.imports
    assert {"MAX_VALUES", "decode", "HttpSender", "urlsplit", "socket"} < made.names


def test_imports_are_sorted_and_each_is_there_once():
    pairs = frozenset({("re", ""), ("os", "PathLike"), ("os", ""), ("os", "fspath")})
    assert import_lines(pairs) == "import os\nimport re\nfrom os import PathLike, fspath\n"

"""The client in every generated module; it needs nothing but Python."""

import ast
from functools import cache
from importlib.resources import files
from typing import NamedTuple, final

#: The files that are copied, those first that others use.
_PARTS = (
    ("gatewayfw", "error_codes.py"),
    ("gatewayfw", "token_carriers.py"),
    ("gatewayfw.wire", "connections.py"),
    ("gatewayfw.wire", "json_text.py"),
    ("gatewayfw.wire", "posting.py"),
    ("gatewayfw.client", "replies.py"),
    ("gatewayfw.client", "clients.py"),
)
#: What stands for the error of this package, which needs the rest of it.
_ERROR = '''\
class DefinitionError(ValueError):
    """An option of the client does not fit."""'''


@final
class Runtime(NamedTuple):
    """The text of the client.

    Attributes:
        imports: the modules and names that it imports from Python's library.
        code: the rest of it.
        names: what it defines and imports.
    """

    imports: frozenset[tuple[str, str]]
    code: str
    names: frozenset[str]


@cache
def runtime() -> Runtime:
    """Return the text of the client, put together from its files."""
    imports: set[tuple[str, str]] = set()
    names = {"DefinitionError"}
    blocks = [_ERROR]
    for package, name in _PARTS:
        source = files(package).joinpath(name).read_text("utf-8")
        statements = ast.parse(source).body[1:]  # the first one is the docstring
        taken = [each for each in statements if isinstance(each, ast.Import | ast.ImportFrom)]
        imports |= {pair for each in taken for pair in _imported(each)}
        own = [each for each in statements if each not in taken]
        names |= {found for each in own for found in _defined(each)}
        blocks.append("\n".join(source.splitlines()[taken[-1].end_lineno :]).strip("\n"))
    imported = {name or module for module, name in imports}
    return Runtime(frozenset(imports), "\n\n\n".join(blocks) + "\n", frozenset(names | imported))


def import_lines(imports: frozenset[tuple[str, str]]) -> str:
    """Return import statements for pairs of a module and a name in it, or none."""
    whole = [f"import {module}\n" for module, name in sorted(imports) if not name]
    modules = dict.fromkeys(module for module, name in sorted(imports) if name)
    named = {of: ", ".join(name for module, name in sorted(imports) if module == of and name) for of in modules}
    return "".join([*whole, *(f"from {module} import {names}\n" for module, names in named.items())])


def _imported(statement: ast.Import | ast.ImportFrom) -> list[tuple[str, str]]:
    if isinstance(statement, ast.Import):
        return [(alias.name, "") for alias in statement.names]
    module = statement.module or ""
    if module == "__future__" or module.partition(".")[0] == "gatewayfw":
        return []
    return [(module, alias.name) for alias in statement.names]


def _defined(statement: ast.stmt) -> list[str]:
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]

"""What a client is told of a refused value or request stands in one file, whoever refuses it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayfw import errors, messages

ROOT = Path(messages.__file__).parent
#: What judges requests and values of clients. The other parts describe them, or are a client.
JUDGES = ("acts", "auth", "files", "limits", "odm", "schemas", "storage", "web", "core.py", "errors.py")
SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for part in JUDGES
    for path in (*ROOT.glob(part), *ROOT.glob(f"{part}/**/*.py"))
    if path.is_file()
}
#: Nobody but a client is told a whole sentence: what is for developers begins with a place or a small letter.
SENTENCE = re.compile(r"[A-Z].* .*\.")
#: Anything but a name or a path.
WORDS = re.compile(r"[a-z]\S* \S|\S .*[a-z]")
#: Of the fields of a listing, for exports.
DESCRIPTIONS = {
    "Order of rows; - in front means descending. Default {}.",
    "Max rows per page. Default {}.",
    "The next of the previous page. Keep filter and sort the same.",
}
#: What developers are told: clients read `internal error`.
UNEXPECTED = {"DefinitionError", "StorageError", "UsageError"}
FAILURES = {
    name
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, errors.GatewayError) and name not in UNEXPECTED
}


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts in a piece of code, docstrings apart; what an f-string fills in is ``{}``."""
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    elif isinstance(node, ast.Constant):
        yield from [node.value] if isinstance(node.value, str) else []
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from texts_in(child)


def sentences_in(source: str) -> list[str]:
    return [text for text in texts_in(ast.parse(source)) if SENTENCE.fullmatch(text) and text not in DESCRIPTIONS]


class Unfilled(ast.NodeTransformer):
    """Leaves out what is filled in, and the paths of errors."""

    def visit_Call(self, node: ast.Call) -> ast.AST:  # noqa: N802  # the names of `ast`
        return self.visit(node.func)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:  # noqa: N802
        return ast.Tuple([self.visit(value) for value in node.values])

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:  # noqa: N802
        return self.visit(node.value)


def told_by(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what becomes the message of a failure: first arguments, and ``message`` in classes."""
    if isinstance(node, ast.Call) and node.args:
        if getattr(node.func, "id", getattr(node.func, "attr", "")) in FAILURES:
            yield node.args[0]
    elif isinstance(node, ast.ClassDef):
        for line in node.body:
            targets = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
            if any(getattr(target, "id", "") == "message" for target in targets):
                yield line.value
            if isinstance(line, ast.FunctionDef) and line.name == "__init__" and node.name in FAILURES:
                yield from (one.args[0] for one in ast.walk(line) if is_super_init(one))


def is_super_init(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "super().__init__" and node.args != []


def failures_in(source: str) -> list[str]:
    nodes = [told for node in ast.walk(ast.parse(source)) for told in told_by(node)]
    return [text for node in nodes for text in texts_in(Unfilled().visit(node)) if WORDS.search(text)]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("raise ValidationError({path: ['Not a thing.']})", ["Not a thing."]),
        ("errors[path] = [f'More than {most} ids.']", ["More than {} ids."]),
        ("def f():\n    return 'Not a thing.'", ["Not a thing."]),
        ("class Some:\n    default_error_messages = {'invalid': 'Not a thing.'}", ["Not a thing."]),
        ("def f():\n    'Return a thing.'", []),
        ("raise DefinitionError(f'{where}: not a thing')", []),
    ],
)
def test_a_sentence_is_found_wherever_it_stands(source, found):
    assert sentences_in(source) == found


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("raise BadRequest('no body')", ["no body"]),
        ("return errors.TooLarge(f'{path}: too large')", ["{}: too large"]),
        ("class Timeout(Error):\n    message = 'too late'", ["too late"]),
        ("class GatewayError(Error):\n    message: str = 'is broken'", ["is broken"]),
        ("class Stale(Error):\n    def __init__(self):\n        super().__init__('is stale')", ["is stale"]),
        ("raise BadRequest('no {}'.format(part))", ["no {}"]),
        ("raise ValidationError({'set.age': ['too old']})", ["too old"]),
        ("raise ValidationError({f'set.{name}': [NO_AGE] for name in names})", []),
        ("raise BadRequest(messages.NO_PART.format(part='body'))", []),
        ("raise Unavailable(reason='the disk is full')", []),
        ("raise UsageError('no such field')", []),
    ],
)
def test_the_message_of_a_failure_is_found(source, found):
    assert failures_in(source) == found


@pytest.mark.parametrize("find", [sentences_in, failures_in])
def test_what_clients_read_stands_in_messages(find):
    assert {path: texts for path, source in SOURCES.items() if (texts := find(source))} == {}

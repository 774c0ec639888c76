"""What a client is told of a refused value stands in one file, whoever refuses it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gatewayfw import messages

ROOT = Path(messages.__file__).parent
#: What judges the values of clients. The other parts only describe them, or are a client.
JUDGES = ("acts", "auth", "files", "limits", "odm", "schemas", "storage", "web", "core.py", "errors.py", "remote.py")
#: Nobody but a client is told a whole sentence: what is for developers begins with a place or a small letter.
SENTENCE = re.compile(r"[A-Z].* .*\.")

#: Of the fields of a listing, for exports.
DESCRIPTIONS = {
    "Order of rows; - in front means descending. Default {}.",
    "Max rows per page. Default {}.",
    "The next of the previous page. Keep filter and sort the same.",
}


def texts_in(node: ast.AST) -> Iterator[str]:
    """Yield the texts in a piece of code, docstrings apart; what an f-string fills in is ``{}``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in child.values)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str):
            yield child.value
        elif not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
            yield from texts_in(child)


def sentences_in(source: str) -> list[str]:
    return [text for text in texts_in(ast.parse(source)) if SENTENCE.fullmatch(text) and text not in DESCRIPTIONS]


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


def test_each_message_about_a_value_stands_in_messages():
    paths = [path for part in JUDGES for path in (*ROOT.glob(part), *ROOT.glob(f"{part}/**/*.py")) if path.is_file()]
    found = {path.relative_to(ROOT).as_posix(): sentences_in(path.read_text("utf-8")) for path in paths}
    assert {path: texts for path, texts in found.items() if texts} == {}

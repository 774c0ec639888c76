"""Mutants of the package: made with the operators of mutmut, drawn evenly.

Only the operators are mutmut's. Its own runs leave out all functions with decorators, that is properties and commands,
and know one test run for all files.
"""

from __future__ import annotations

import ast
import difflib
import functools
import random
from dataclasses import dataclass
from pathlib import Path

import libcst
from mutmut.mutation.mutators import mutation_operators

#: What is tests itself: a mutant of an assertion shows in no test.
LEFT_OUT = "gatewayfw/testing/storage_suite"


@dataclass(frozen=True)
class Mutant:
    """A file of the package with one change."""

    path: str
    #: Which of the mutants of its file it is: with the path, its name for `--again`.
    number: int
    old: str
    new: str

    @property
    def name(self):
        return f"{self.path}:{self.number}"

    @property
    def diff(self):
        """The change as lines, with one line around it."""
        return list(difflib.unified_diff(self.old.splitlines(), self.new.splitlines(), lineterm="", n=1))[2:]

    @property
    def change(self):
        """The path, the lines that went and those that came, for `judged.txt`: no line numbers, which move."""
        return (self.path, *(line[0] + " " + line[1:].strip() for line in self.diff[1:] if line[0] in "+-"))

    @property
    def lines(self):
        """The numbers of the lines of the statement that is changed; of what holds others, of its head."""
        matcher = difflib.SequenceMatcher(None, self.old.splitlines(), self.new.splitlines(), autojunk=False)
        first = next(start + 1 for tag, start, *_ in matcher.get_opcodes() if tag != "equal")
        heads = (head(node) for node in statements(self.old))
        return max((lines for lines in heads if first in lines), key=lambda lines: lines.start)


def statements(source):
    """Give all statements of a file, and what has statements inside one."""
    kinds = (ast.stmt, ast.excepthandler, ast.match_case)
    return (node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))


def head(node):
    """Return the lines of a statement without those of the statements in it."""
    first = node.pattern if isinstance(node, ast.match_case) else next(iter(getattr(node, "decorator_list", ())), node)
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return range(node.lineno, node.end_lineno + 1)
    return range(first.lineno, max(getattr(body[0], "pattern", body[0]).lineno, first.lineno + 1))


class Finder(libcst.CSTVisitor):
    """Collects pairs of a node and what it could be instead; nothing in annotations, which do not run."""

    def __init__(self):
        super().__init__()
        self.pairs = []

    def on_visit(self, node):
        if isinstance(node, libcst.Annotation):
            return False
        for kind, operator in mutation_operators:
            if isinstance(node, kind):
                self.pairs += ((node, mutated) for mutated in operator(node))
        return True


@functools.cache
def pairs_of(path):
    """Return a file's text, parsed, and its pairs of a node and what it could be instead."""
    source, finder = Path(path).read_text("utf-8"), Finder()
    module = libcst.parse_module(source)
    module.visit(finder)
    return source, module, finder.pairs


def mutant(path, number):
    """Return one mutant of a file by its number; None where it is no Python."""
    source, module, pairs = pairs_of(path)
    new = module.deep_replace(*pairs[number]).code
    try:
        compile(new, path, "exec")
    except SyntaxError:
        return None
    return Mutant(path, number, source, new)


def folder_of(path):
    """Return the folder of the package that a file counts to."""
    parts = Path(path).parts
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def sources(paths):
    """Return the files of the package under some paths."""
    found = {file for path in map(Path, paths) for file in ([path] if path.is_file() else path.rglob("*.py"))}
    return sorted(str(file) for file in found if not str(file).startswith(LEFT_OUT))


def shares(sizes, total):
    """Return how much of a total each name gets, in proportion to its size: whole numbers, not above the size."""
    everything = sum(sizes.values())
    total = min(total, everything)
    exact = {name: total * size / everything for name, size in sizes.items()}
    given = {name: int(share) for name, share in exact.items()}
    rest = sorted(exact, key=lambda name: given[name] - exact[name])[: total - sum(given.values())]
    return {name: given[name] + (name in rest) for name in sizes}


def sample(paths, size, seed):
    """Return mutants of the files under some paths, drawn evenly and folder by folder, in an order by chance."""
    by_folder = {}
    for path in sources(paths):
        count = len(pairs_of(path)[-1])
        by_folder.setdefault(folder_of(path), []).extend((path, number) for number in range(count))
    drawn, chance = [], random.Random(seed)
    for folder, share in shares({folder: len(all_) for folder, all_ in by_folder.items()}, size).items():
        possible = (mutant(*one) for one in chance.sample(by_folder[folder], len(by_folder[folder])))
        drawn += [one for one, _ in zip((one for one in possible if one), range(share), strict=False)]
    return chance.sample(drawn, len(drawn))

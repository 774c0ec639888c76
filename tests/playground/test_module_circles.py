"""No module of the playground needs itself, whatever the kind of import: of types and late ones too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import PurePosixPath

import pytest

from tests.playground.front_end import SOURCE

MODULES = {
    path.relative_to(SOURCE / "src").as_posix(): path.read_text("utf-8")
    for path in sorted((SOURCE / "src").rglob("*.ts*"))
}

#: `import x from "./y"`, `import type { X } from "./y"`, `export * from "./y"`, `import "./y"`, `import("./y")`.
IMPORT = re.compile(r"""(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"']*)["']""")


def needed(module: str, source: str, known: Mapping[str, str]) -> set[str]:
    """Return the modules that one imports; what is none, such as a style sheet, is left out."""
    return {found for name in IMPORT.findall(source) if (found := place_of(module, name, known))}


def place_of(module: str, name: str, known: Mapping[str, str]) -> str | None:
    """Return the module that a relative name means in another; None where it is none."""
    parts: list[str] = list(PurePosixPath(module).parent.parts)
    for part in PurePosixPath(name).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    path = "/".join(parts)
    names = [f"{path}.ts", f"{path}.tsx", *("/".join([*parts, index]) for index in ("index.ts", "index.tsx"))]
    return next((one for one in names if one in known), None)


def circle_in(sources: Mapping[str, str]) -> list[str]:
    """Return modules each of which is needed by the next, the first and the last the same; empty without a circle."""
    try:
        TopologicalSorter({name: needed(name, text, sources) for name, text in sources.items()}).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_no_module_needs_itself():
    assert circle_in(MODULES) == []


def test_every_relative_import_is_found():
    lost = {
        (module, name)
        for module, text in MODULES.items()
        for name in IMPORT.findall(text)
        if not name.endswith((".css", ".svg")) and place_of(module, name, MODULES) is None
    }
    assert lost == set()


@pytest.mark.parametrize(
    ("sources", "expected"),
    [
        ({"a.ts": 'import { b } from "./b";', "b.tsx": ""}, set()),
        ({"a.ts": 'import { b } from "./b";', "b.tsx": 'import { a } from "./a";'}, {"a.ts", "b.tsx"}),
        ({"a.ts": 'import type { B } from "./b";', "b.ts": 'import "./a";'}, {"a.ts", "b.ts"}),
        ({"a.ts": 'export * from "./b";', "b.ts": 'const a = () => import("./a");'}, {"a.ts", "b.ts"}),
        ({"a.ts": 'import {\n  b,\n  c,\n} from "./b";', "b.ts": "export { a } from './a';"}, {"a.ts", "b.ts"}),
        ({"f/index.tsx": 'import { a } from "./a";', "f/a.tsx": 'import { f } from ".";'}, {"f/index.tsx", "f/a.tsx"}),
        ({"f/index.ts": 'export * from "./a";', "f/a.ts": 'import "../b";', "b.ts": 'import "./f";'},
         {"f/index.ts", "f/a.ts", "b.ts"}),
        ({"f/a.ts": 'import "../a";', "a.ts": 'import "./b.css"; import { a } from "preact";'}, set()),
    ],
)  # fmt: skip
def test_the_finder_of_circles_finds(sources, expected):
    assert set(circle_in(sources)) == expected

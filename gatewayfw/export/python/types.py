"""Typed dictionaries as Python source: annotations, and the classes they need.

The source runs on Python 3.10 without a dependency: no ``NotRequired``, so keys that may be left out are those of a
class with ``total=False`` that inherits from one with the others. Keys that a class body cannot have (such as ``a-b``,
``class`` or ``list``) need the functional form.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from gatewayfw.export.python.runtime import runtime
from gatewayfw.export.text import printable

#: What the types of the module import, as pairs of a module and a name.
IMPORTS = frozenset(
    {
        *(("collections.abc", name) for name in ("Iterator", "Mapping", "Sequence")),
        ("os", "PathLike"),
        *(("typing", name) for name in ("IO", "TYPE_CHECKING", "Any", "Literal", "Protocol", "TypeAlias", "TypedDict")),
        ("typing", "overload"),
    }
)
#: Names that the module itself uses.
RESERVED = frozenset(
    {
        *(name for _, name in IMPORTS),
        *("AnyClient", "Client", "Date", "File", "Flag", "Id", "Request"),
        *("None", "True", "False"),
        *runtime().names,
    }
)
#: Builtins that annotations use; as keys of a class body they would hide them.
_USED = frozenset({"bool", "dict", "float", "int", "list", "str"})
_WORD = re.compile(r"[A-Za-z0-9]+")

ANY_OBJECT = "dict[str, Any]"
#: What operators of a listing take that take no value of the field.
OPERANDS: Mapping[str, str] = MappingProxyType({"exists": "bool", "prefix": "str", "contains": "str"})


@dataclass(frozen=True)
class Entry:
    """One key of a typed dictionary: annotation, presence, description."""

    name: str
    annotation: str
    required: bool = False
    comment: str = ""


@final
class Types:
    """The typed dictionaries of one module, in the order of first use."""

    def __init__(self) -> None:
        self._names = set(RESERVED)
        self._blocks: list[str] = []
        self._values: dict[tuple[Entry, ...], str] = {}

    def source(self) -> str:
        """Return the classes."""
        return "\n\n".join(self._blocks)

    def fresh(self, wanted: str) -> str:
        """Return a free name for a class, if possible the wanted one."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def add(self, name: str, entries: Sequence[Entry], doc: str = "") -> str:
        """Add a class under a name that is `fresh`, and return the name."""
        needed = [entry for entry in entries if entry.required]
        rest = [entry for entry in entries if not entry.required]
        if not needed or not rest:
            self._blocks.append(_typed_dict(name, "TypedDict", entries, doc, total=bool(needed or not rest)))
            return name
        base = self.fresh(f"_{name}Needed")
        self._blocks.append(_typed_dict(base, "TypedDict", needed, "", total=True))
        if all(map(_is_plain, rest)):
            self._blocks.append(_typed_dict(name, base, rest, doc, total=False))
            return name
        other = self.fresh(f"_{name}Rest")
        self._blocks.append(_typed_dict(other, "TypedDict", rest, "", total=False))
        self._blocks.append(f"class {name}({base}, {other}):\n" + _docstring(doc or "The keys of both.", "    ") + "\n")
        return name

    def value(self, kind: Mapping[str, Any], wanted: str) -> str:
        """Return the annotation of a kind.

        Objects in it become classes named after ``wanted``.

        A selection has no annotation here: see `gatewayfw.export.python.selections`.
        """
        found = ROWS.get(kind["kind"], ROWS["any"])(self, kind, wanted)
        return _or_none(found) if kind.get("nullable") else found

    def entries(self, fields: Mapping[str, Mapping[str, Any]], wanted: str) -> list[Entry]:
        """Return the keys of an object with these fields."""
        return [
            Entry(name, self.value(kind, wanted + camel(name)), kind["presence"] == "required", comment(kind))
            for name, kind in fields.items()
        ]

    def object(self, kind: Mapping[str, Any], wanted: str) -> str:
        """Return the annotation of an object."""
        if kind["fields"] is None or kind.get("open"):
            return ANY_OBJECT  # a typed dictionary takes no other keys
        return self._shared(self.entries(kind["fields"], wanted), wanted)

    def filter(self, kind: Mapping[str, Any], wanted: str) -> str:
        """Return the annotation of what a listing is filtered by."""
        entries = [
            Entry(name, self._filtered(field, wanted + camel(name)), comment=comment(field["value"]))
            for name, field in kind["fields"].items()
        ]
        return self._shared(entries, wanted)

    def _filtered(self, field: Mapping[str, Any], wanted: str) -> str:
        value = self.value(field["value"], wanted)
        found = self._shared([Entry(name, _operand(name, value)) for name in field["operators"]], wanted)
        return f"{_or_none(value)} | {found}" if "eq" in field["operators"] and value != "Any" else found

    def count(self, wanted: str) -> str:
        """Return the annotation of a number that may be bounded."""
        return f"int | {self._shared([Entry('atLeast', 'int', required=True)], wanted)}"

    def _shared(self, entries: Sequence[Entry], wanted: str) -> str:
        """Return the class of an object; equal ones share it."""
        key = tuple(entries)
        if key not in self._values:
            self._values[key] = self.add(self.fresh(wanted), key)
        return self._values[key]


def camel(name: str) -> str:
    """Return what a name adds to a class's: its ASCII words, capitalised."""
    return "".join(word[0].upper() + word[1:] for word in _WORD.findall(name)) or "X"


def class_name(*names: str) -> str:
    """Return the name of a class after others."""
    found = "".join(map(camel, names))
    return f"X{found}" if found[0].isdigit() else found


def quoted(text: str) -> str:
    """Return a string literal."""
    is_simple = text.isprintable() and '"' not in text and "\\" not in text
    return f'"{text}"' if is_simple else ascii(text)


def comment(kind: Mapping[str, Any]) -> str:
    """Return the description of a field in one line."""
    return " ".join(printable(kind.get("description", "")).split())


def docstring(text: str, indent: str) -> str:
    """Return a docstring, or ``...`` for a text without words."""
    return _docstring(text, indent) if text.strip() else f"{indent}..."


def _docstring(text: str, indent: str) -> str:
    lines = [printable(line).rstrip().replace("\\", "\\\\").replace('"', '\\"') for line in text.strip().splitlines()]
    start = "\n".join(f"{indent}{line}" if line else "" for line in lines).strip()
    end = f"\n{indent}" if len(lines) > 1 else ""
    return f'{indent}"""{start}{end}"""'


def _or_none(annotation: str) -> str:
    return annotation if annotation == "Any" else f"{annotation} | None"


def _operand(operator: str, value: str) -> str:
    """Return the annotation of what an operator of a listing takes."""
    if operator in ("in", "nin"):
        return f"list[{_or_none(value)}]"
    return OPERANDS.get(operator) or (_or_none(value) if operator in ("eq", "ne") else value)


def _choices(choices: Sequence[Any]) -> str:
    literals = [quoted(one) if isinstance(one, str) else repr(one) for one in choices if not isinstance(one, float)]
    parts = [f"Literal[{', '.join(dict.fromkeys(literals))}]"] if literals else []
    parts += ["float"] if len(literals) < len(choices) else []
    return " | ".join(parts) or "Any"


def _is_plain(entry: Entry) -> bool:
    """Whether a class body can have the key.

    Capitals are left to classes, two underscores would be mangled.
    """
    name = entry.name
    if not (name.isascii() and name.isidentifier()) or keyword.iskeyword(name):
        return False
    return not (name.startswith("__") or name[0].isupper() or name in _USED)


def _typed_dict(name: str, base: str, entries: Sequence[Entry], doc: str, *, total: bool) -> str:
    if not all(map(_is_plain, entries)):
        return _functional(name, entries, doc, total=total)
    head = f"class {name}({base}{'' if total else ', total=False'}):"
    lines = [line for entry in entries for line in _describe(entry, f"{entry.name}: {entry.annotation}")]
    if doc or not lines:
        said = _docstring(doc or "No keys.", "    ")
        lines = [said, *([""] if lines else []), *lines]
    return "\n".join([head, *lines]) + "\n"


def _functional(name: str, entries: Iterable[Entry], doc: str, *, total: bool) -> str:
    # The annotations are text, so that they can name later classes.
    lines = [
        f"    {line}"
        for entry in entries
        for line in _describe(entry, f"{quoted(entry.name)}: {quoted(entry.annotation)},")
    ]
    above = [f"# {doc}"] if doc else []
    end = ["    },", *([] if total else ["    total=False,"]), ")"]
    return "\n".join([*above, f"{name} = TypedDict(", f"    {quoted(name)},", "    {", *lines, *end]) + "\n"


def _describe(entry: Entry, line: str) -> list[str]:
    return [*([f"    #: {entry.comment}"] if entry.comment else []), f"    {line}"]


#: The annotation of each kind but for None, by its word in the catalog.
ROWS: Mapping[str, Callable[[Types, Mapping[str, Any], str], str]] = MappingProxyType(
    {
        "string": lambda types, kind, wanted: "str",
        "object_id": lambda types, kind, wanted: "Id",
        "email": lambda types, kind, wanted: "str",
        "date": lambda types, kind, wanted: "Date",
        "boolean": lambda types, kind, wanted: "bool",
        "any": lambda types, kind, wanted: "Any",
        "number": lambda types, kind, wanted: "float",
        "integer": lambda types, kind, wanted: "int",
        "decimal": lambda types, kind, wanted: "str | int" if kind.get("whole") else "str",
        "binary": lambda types, kind, wanted: "str",
        "file": lambda types, kind, wanted: "File",
        "enums": lambda types, kind, wanted: _choices(kind["choices"]),
        "array": lambda types, kind, wanted: f"list[{types.value(kind['items'], wanted)}]",
        "mapping": lambda types, kind, wanted: f"dict[str, {types.value(kind['values'], wanted)}]",
        "object": lambda types, kind, wanted: types.object(kind, wanted),
        "selection": lambda types, kind, wanted: "Any",
        "filter": lambda types, kind, wanted: types.filter(kind, wanted),
        "count": lambda types, kind, wanted: types.count(wanted),
    }
)

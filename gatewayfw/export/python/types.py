"""Typed dictionaries as Python source: annotations, and the classes they need.

Keys that a class body cannot have (such as ``a-b``, ``class`` or ``list``) need the functional form, and so do very
many keys.
"""

import json
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from gatewayfw.export import FROZEN, level_of, printable
from gatewayfw.export.python.runtime import runtime
from gatewayfw.schemas.kinds.descriptions import operands_of
from gatewayfw.schemas.relations import REV

#: What the types of the module import, as pairs of a module and a name.
IMPORTS = frozenset(
    {
        *(("collections.abc", name) for name in ("Iterator", "Mapping", "Sequence")),
        ("os", "PathLike"),
        *(("typing", name) for name in ("IO", "TYPE_CHECKING", "Any", "Literal", "NotRequired", "Protocol")),
        *(("typing", name) for name in ("TypeAlias", "TypedDict", "overload")),
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
#: With more keys than this in all, no class has a body: pyright 1.1.414 cannot analyze some 30,000 lines of them.
_MOST_IN_BODIES = 5000
_WORD = re.compile(r"[A-Za-z0-9]+")

Selection = Mapping[str, Any]
#: The hidden names by model; models without any are left out.
Hidden = Mapping[str, frozenset[str]]
ANY_OBJECT = "dict[str, Any]"


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
        self._classes: list[tuple[str, Sequence[Entry], str]] = []
        self._values: dict[tuple[Entry, ...], str] = {}

    def source(self) -> str:
        """Return the classes."""
        is_large = sum(len(entries) for _, entries, _ in self._classes) > _MOST_IN_BODIES
        return "\n\n".join(_typed_dict(*each, plain=not is_large) for each in self._classes)

    def fresh(self, wanted: str) -> str:
        """Return a free name for a class, if possible the wanted one."""
        name, number = wanted, 1
        while name in self._names:
            number += 1
            name = f"{wanted}_{number}"
        self._names.add(name)
        return name

    def add(self, wanted: str, entries: Sequence[Entry], doc: str = "") -> str:
        """Add a class, and return its name, if possible the wanted one."""
        name = self.fresh(wanted)
        self._classes.append((name, entries, doc))
        return name

    def value(self, kind: Mapping[str, Any], wanted: str) -> str:
        """Return the annotation of a kind.

        Objects in it become classes named after ``wanted``.

        A selection has no annotation here: see `Selections`.
        """
        found = ROWS.get(kind["kind"], ROWS["any"])(self, kind, wanted)
        return f"{found} | None" if kind.get("nullable") and found != "Any" else found

    def entries(self, fields: Mapping[str, Mapping[str, Any]], wanted: str) -> list[Entry]:
        return [
            Entry(name, self.value(kind, wanted + camel(name)), kind["presence"] == "required", comment(kind))
            for name, kind in fields.items()
        ]

    def items(self, kind: Mapping[str, Any], wanted: str) -> str:
        """Return the annotation of the elements of a list."""
        return " | ".join(dict.fromkeys(self.value(one, wanted) for one in kind.get("prefixItems", [kind["items"]])))

    def object(self, kind: Mapping[str, Any], wanted: str) -> str:
        if kind["fields"] is None or kind.get("open"):
            return ANY_OBJECT  # a typed dictionary takes no other keys
        return self._shared(self.entries(kind["fields"], wanted), wanted)

    def filter(self, kind: Mapping[str, Any], wanted: str) -> str:
        entries = [
            Entry(name, self._filtered(field, wanted + camel(name)), comment=comment(field["value"]))
            for name, field in kind["fields"].items()
        ]
        return self._shared(entries, wanted)

    def _filtered(self, field: Mapping[str, Any], wanted: str) -> str:
        operands = {name: self.value(operand, wanted) for name, operand in operands_of(field).items()}
        found = self._shared([Entry(name, annotation) for name, annotation in operands.items()], wanted)
        return f"{operands['eq']} | {found}" if operands.get("eq", "Any") != "Any" else found

    def count(self, wanted: str) -> str:
        return f"int | {self._shared([Entry('atLeast', 'int', required=True)], wanted)}"

    def _shared(self, entries: Sequence[Entry], wanted: str) -> str:
        key = tuple(entries)
        if key not in self._values:
            self._values[key] = self.add(wanted, key)
        return self._values[key]


@dataclass(frozen=True)
class Shape:
    """Two classes: what may be asked for, and what is shown."""

    get: str
    document: str


@final
class Selections:
    """The shapes of one module; equal ones are made once.

    One walk generates both. A selection of ``depth`` levels gives ``UserGet1`` and ``User1``, whose links are of depth
    0. Below a link the classes are those of copies (``UserCopyGet0``), which have no revision. Below one that hides
    fields they bear its name (``OrganizationUsersGet0``), because what a link excludes is hidden, of the same model,
    everywhere below it.
    """

    def __init__(self, models: Mapping[str, Any], types: Types) -> None:
        self._models = models
        self._types = types
        self._known: dict[tuple[str, str], Shape] = {}

    def shape(self, selection: Selection, base: str) -> Shape:
        """Return the shape of a selection.

        ``base`` names it where its author chose what it allows. Only here, at the top, is there a revision.
        """
        return self._shape(selection, base, {}, revised=True)

    def _shape(self, selection: Selection, base: str, hidden: Hidden, *, revised: bool = False) -> Shape:
        name, level = base, ""
        if "depth" in selection:
            concerned = self._reachable(selection["model"], selection["depth"])
            hidden = {model: names for model, names in hidden.items() if model in concerned}
            plain = class_name(selection["model"], *([] if revised else ["copy"]))
            name, level = base if hidden else plain, str(selection["depth"])
        parts = ("model", "depth", "fields", "whole", "links")
        allowed = {part: selection[part] for part in parts if part in selection}
        concealed = {model: sorted(names) for model, names in hidden.items()}
        key = (name, json.dumps([allowed, concealed, revised], sort_keys=True))
        if key not in self._known:
            self._known[key] = self._make(selection, (name, level), hidden, revised)
        return self._known[key]

    def _make(self, selection: Selection, named: tuple[str, str], hidden: Hidden, revised: bool) -> Shape:
        base, level = named
        model, found = selection["model"], level_of(self._models, selection)
        names = [name for name in found["fields"] if name not in hidden.get(model, ())]
        asked, shown = [Entry(name, "Flag") for name in names], []
        for name in names:
            kind = self._models[model]["fields"][name]
            annotation, is_sure = self._types.value(kind, class_name(model, name)), kind["presence"] != "optional"
            shown.append(Entry(name, annotation, is_sure, comment(kind)))
        if revised:
            asked.append(Entry(REV, "Flag"))
            shown.append(Entry(REV, "int", required=True))
        for name, below in found["links"].items():
            link = self._models[model]["links"][name]
            within = class_name(model, name) if "depth" in below else class_name(base, name)
            inner = self._shape(below, within, self._below(link, hidden))
            # One of which only some fields may be asked for takes no 1.
            flag = "Flag" if level_of(self._models, below)["whole"] else "Literal[0]"
            asked.append(Entry(name, f"{flag} | {inner.get}"))
            copies = f"list[{inner.document}]" if link["type"] == "multiple" else inner.document
            shown.append(Entry(name, copies, not link["optional"], FROZEN if "frozen" in link else ""))
        types = self._types
        get = types.add(f"{base}Get{level}", asked, f"What a `get` of {_plain(model)} may name.")
        document = f"{base}{level}" if level else f"{base}Document"
        return Shape(get, types.add(document, shown, f"A document of {_plain(model)}; `get` says what it shows."))

    def _below(self, link: Mapping[str, Any], hidden: Hidden) -> Hidden:
        model = link["model"]
        excluded = (self._models[model]["fields"].keys() - link["fields"]) | hidden.get(model, frozenset())
        return {**hidden, model: frozenset(excluded)} if excluded else hidden

    def _reachable(self, model: str, depth: int) -> set[str]:
        found, edge = {model}, {model}
        for _ in range(depth):
            edge = {link["model"] for name in edge for link in self._models[name]["links"].values()} - found
            found |= edge
        return found


def _plain(model: str) -> str:
    return model if model.isprintable() else ascii(model)


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
    if not text.strip():
        return f"{indent}..."
    lines = [printable(line).rstrip().replace("\\", "\\\\").replace('"', '\\"') for line in text.strip().splitlines()]
    start = "\n".join(f"{indent}{line}" if line else "" for line in lines).strip()
    end = f"\n{indent}" if len(lines) > 1 else ""
    return f'{indent}"""{start}{end}"""'


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


def _typed_dict(name: str, entries: Sequence[Entry], doc: str, *, plain: bool) -> str:
    is_total = not entries or any(entry.required for entry in entries)
    if not (plain and all(map(_is_plain, entries))):
        return _functional(name, entries, doc, is_total)
    head = f"class {name}(TypedDict{'' if is_total else ', total=False'}):"
    lines = [line for entry in entries for line in _describe(entry, f"{entry.name}: {_annotated(entry, is_total)}")]
    if doc or not lines:
        said = docstring(doc or "No keys.", "    ")
        lines = [said, *([""] if lines else []), *lines]
    return "\n".join([head, *lines]) + "\n"


def _functional(name: str, entries: Iterable[Entry], doc: str, is_total: bool) -> str:
    # The annotations are no text, as those of a class body: a checker refuses escaped ones.
    lines = [
        f"    {line}"
        for entry in entries
        for line in _describe(entry, f"{quoted(entry.name)}: {_annotated(entry, is_total)},")
    ]
    above = [f"# {doc}"] if doc else []
    end = ["    },", *([] if is_total else ["    total=False,"]), ")"]
    return "\n".join([*above, f"{name} = TypedDict(", f"    {quoted(name)},", "    {", *lines, *end]) + "\n"


def _annotated(entry: Entry, is_total: bool) -> str:
    return f"NotRequired[{entry.annotation}]" if is_total and not entry.required else entry.annotation


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
        "array": lambda types, kind, wanted: f"list[{types.items(kind, wanted)}]",
        "mapping": lambda types, kind, wanted: f"dict[str, {types.value(kind['values'], wanted)}]",
        "object": lambda types, kind, wanted: types.object(kind, wanted),
        "selection": lambda types, kind, wanted: "Any",
        "filter": lambda types, kind, wanted: types.filter(kind, wanted),
        "count": lambda types, kind, wanted: types.count(wanted),
        "bound": lambda types, kind, wanted: "ErrorBound",
    }
)

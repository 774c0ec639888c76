"""Kinds of a catalog as TypeScript: values received, values sent, `get`."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from textwrap import indent
from types import MappingProxyType
from typing import Any, final

from gatewayfw.export import printable
from gatewayfw.schemas.kinds.base import Description
from gatewayfw.schemas.kinds.descriptions import operands_of
from gatewayfw.schemas.relations import REV

#: The fields that links above hide, by model.
Hidden = Mapping[str, frozenset[str]]

#: Levels of links that the type `Get` counts.
DEEPEST = 32
#: What every object inherits, to TypeScript.
_INHERITED = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
)
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
#: The longest object that stands in one line.
_SHORT = 80

#: The words for bounds in the comment of a field.
_NOTES = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "noneOf": "none of",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "places": "decimal places",
    "minBytes": "bytes at least",
    "maxBytes": "bytes at most",
    "minItems": "at least",
    "maxItems": "at most",
    "pattern": "pattern",
    "format": "format",
    "default": "default",
}


@dataclass(frozen=True)
class TypeMember:
    """One key of an object type."""

    name: str
    type: str
    optional: bool = False
    comment: str = ""


def literal(value: object) -> str:
    """Return a literal of a string, number or boolean.

    ``number`` for a number that JSON has no word for.
    """
    if isinstance(value, float) and not math.isfinite(value):
        return "number"
    return json.dumps(value, ensure_ascii=not str(value).isprintable())


def union(literals: Iterable[object]) -> str:
    """Return the union of some literals, each once; ``never`` for none."""
    return " | ".join(dict.fromkeys(map(literal, literals))) or "never"


def block(members: Iterable[TypeMember]) -> str:
    """Return an object type, in one line where it is short and has no comments."""
    listed = list(members)
    if not listed:
        return "{}"
    parts = [f"{key(one.name)}{'?' if one.optional else ''}: {one.type}" for one in listed]
    line = f"{{ {'; '.join(parts)} }}"
    if len(line) <= _SHORT and "\n" not in line and not any(one.comment for one in listed):
        return line
    rows = [f"{comment(one.comment)}{part};\n" for one, part in zip(listed, parts, strict=True)]
    return "{\n" + indent("".join(rows), "  ") + "}"


def key(name: str) -> str:
    """Return a name as the key of an object."""
    return name if _IDENTIFIER.fullmatch(name) else literal(name)


def comment(text: str) -> str:
    """Return text as a JSDoc comment that ends its line; nothing for no text."""
    lines = [printable(line).rstrip() for line in text.strip().replace("*/", "*\\/").splitlines()]
    if len(lines) < 2:
        return f"/** {lines[0]} */\n" if lines else ""
    return "/**\n" + "".join(f" * {line}".rstrip() + "\n" for line in lines) + " */\n"


def noted(kind: Description) -> str:
    """Return what a comment adds: whose id a field is, its bounds and default."""
    items = kind.get("items", {})
    ids = [f"id of {kind['of']}"] if "of" in kind else [f"ids of {items['of']}"] if "of" in items else []
    bounds = [f"{word} {json.dumps(kind[name], ensure_ascii=False)}" for name, word in _NOTES.items() if name in kind]
    whole = ["numbers must be whole"] if kind.get("whole") else []
    types = [" or ".join(kind["types"])] if kind.get("types") else []
    line = ", ".join([*types, *ids, *bounds, *whole])
    return line and f"{line if types else line[0].upper() + line[1:]}."


class Shown:
    """Values in replies: fields with a default are present."""

    def type(self, kind: Description) -> str:
        """Return the type of a kind, its later lines indented as at the left edge."""
        text = self._type(kind)
        return f"{text} | null" if kind.get("nullable") else text

    def members(self, fields: Mapping[str, Description]) -> Iterator[TypeMember]:
        for name, kind in fields.items():
            yield TypeMember(name, self.type(kind), self._may_be_absent(kind), self._comment(kind))

    def _type(self, kind: Description) -> str:
        return ROWS.get(kind["kind"], ROWS["any"])(self, kind)

    def _may_be_absent(self, kind: Description) -> bool:
        return bool(kind["presence"] == "optional")

    def _comment(self, kind: Description) -> str:
        return str(kind.get("description", ""))

    def anything(self) -> str:
        return "Json"

    def array(self, items: Description) -> str:
        return f"({self.type(items)})[]" if _is_open_ended(items) else f"{self.type(items)}[]"

    def tuple(self, items: Iterable[Description]) -> str:
        return f"[{', '.join(map(self.type, items))}]"

    def object(self, kind: Description) -> str:
        if kind["fields"] is None:
            return "{ [key: string]: Json }"
        text = block(self.members(kind["fields"]))
        if kind.get("open"):
            return f"{text} & AnyObject"
        return text if kind["fields"] else "Nothing"

    def selection(self, kind: Description) -> str:
        return "AnyObject"

    def filter(self, kind: Description) -> str:
        fields = kind["fields"].items()
        return block(TypeMember(name, self._filtered(one), True, self._comment(one["value"])) for name, one in fields)

    def _filtered(self, field: Description) -> str:
        operands = operands_of(field)
        text = block(TypeMember(name, self.type(operand), optional=True) for name, operand in operands.items())
        return f"{self.type(operands['eq'])} | {text}" if "eq" in operands else text


class Sent(Shown):
    """Values that clients send.

    Fields with a default may be left out, and a list may be constant.
    """

    def members(self, fields: Mapping[str, Description]) -> Iterator[TypeMember]:
        return map(with_inherited, super().members(fields))

    def _may_be_absent(self, kind: Description) -> bool:
        return bool(kind["presence"] != "required")

    def _comment(self, kind: Description) -> str:
        return "\n".join(filter(None, [super()._comment(kind), noted(kind)]))

    def tuple(self, items: Iterable[Description]) -> str:
        return f"readonly {super().tuple(items)}"

    def array(self, items: Description) -> str:
        is_list = items["kind"] == "array" and not items.get("nullable")
        return f"readonly ({self.type(items)})[]" if is_list else f"readonly {super().array(items)}"


@final
class Asked(Sent):
    """What a ``get`` may say, with so many ``levels`` of objects.

    See `gatewayfw.schemas.get.bounds_problem`.
    """

    def __init__(self, models: Mapping[str, Any], levels: int) -> None:
        self._models = models
        self._levels = levels

    def members(self, fields: Mapping[str, Description]) -> Iterator[TypeMember]:
        return super(Asked, Asked(self._models, self._levels - 1)).members(fields)

    def _type(self, kind: Description) -> str:
        return "Flag" if kind["kind"] == "enums" and kind["choices"] == [0, 1] else super()._type(kind)

    def anything(self) -> str:
        return "unknown"

    def object(self, kind: Description) -> str:
        return "AnyObject" if kind["fields"] is None else super().object(kind)

    def selection(self, kind: Description) -> str:
        if "depth" in kind:
            return f"{self._select(kind, self._levels, {})} & Revised"
        return self._select({**kind, "fields": [*kind["fields"], REV]}, self._levels, {})

    def _select(self, kind: Description, levels: int, hidden: Hidden) -> str:
        """Return the selection of one model; a restricted one is written out."""
        model = kind["model"]
        if "depth" in kind:
            depth = min(kind["depth"], max(levels, 0), DEEPEST)
            gone = [f"{name}.{field}" for name, fields in hidden.items() for field in sorted(fields)]
            return f"Get<{union([model])}, {depth}{f', {union(gone)}' if gone else ''}>"
        fields = [name for name in kind["fields"] if name not in hidden.get(model, ())]
        links = [(name, self._link(model, name, below, levels, hidden)) for name, below in kind["links"].items()]
        asked = [*((name, "Flag") for name in fields), *links]
        return block(with_inherited(TypeMember(name, text, optional=True)) for name, text in asked)

    def _link(self, model: str, name: str, below: Description, levels: int, hidden: Hidden) -> str:
        link = self._models[model]["links"][name]
        target = link["model"]
        fields = self._models[target]["fields"]
        gone = frozenset(fields) - frozenset(link["fields"]) | hidden.get(target, frozenset())
        is_whole = "depth" in below or below["whole"]
        inner = self._select(below, levels - 1, {**hidden, target: gone} if gone else hidden)
        return f"{'Flag' if is_whole else '0'} | {inner}"


def with_inherited(member: TypeMember) -> TypeMember:
    """Return a key that may be left out, also where every object inherits it."""
    if not member.optional or member.name not in _INHERITED:
        return member
    return replace(member, type=f'{member.type} | Object["{member.name}"]')


def _is_open_ended(kind: Description) -> bool:
    """Whether ``[]`` after a kind's type would belong to its last part only."""
    many = kind["kind"] == "enums" and len(kind["choices"]) > 1
    return bool(many or kind.get("nullable") or kind.get("open") or kind.get("whole"))


#: The type of each kind but for null, by its word in the catalog.
ROWS: Mapping[str, Callable[[Shown, Description], str]] = MappingProxyType(
    {
        "string": lambda values, kind: "string",
        "object_id": lambda values, kind: "ObjectId",
        "email": lambda values, kind: "string",
        "date": lambda values, kind: "IsoDate",
        "boolean": lambda values, kind: "boolean",
        "any": lambda values, kind: (
            values.anything() if kind.get("nullable", True) else f"NonNullable<{values.anything()}>"
        ),
        "number": lambda values, kind: "number",
        "integer": lambda values, kind: "number",
        "decimal": lambda values, kind: "string | number" if kind.get("whole") else "string",
        "binary": lambda values, kind: "string",
        "file": lambda values, kind: "Upload",
        "enums": lambda values, kind: union(kind["choices"]),
        "array": lambda values, kind: (
            values.tuple(kind["prefixItems"]) if "prefixItems" in kind else values.array(kind["items"])
        ),
        "mapping": lambda values, kind: f"{{ [key: string]: {values.type(kind['values'])} }}",
        "object": lambda values, kind: values.object(kind),
        "selection": lambda values, kind: values.selection(kind),
        "filter": lambda values, kind: values.filter(kind),
        "count": lambda values, kind: "number | { atLeast: number }",
        "bound": lambda values, kind: "number | string",
    }
)

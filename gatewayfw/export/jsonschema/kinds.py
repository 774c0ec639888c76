"""The kinds of a catalog as JSON Schema: values, selections, documents.

Parts that several acts share are written once, in ``$defs``: ``get.MODEL.DEPTH`` and ``shown.MODEL.DEPTH``, and for
the copies of a link, which have no revision, ``get.MODEL.DEPTH.below`` and ``shown.MODEL.LINK.DEPTH``; a depth is the
number of levels of links below.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, final

from gatewayfw.export import FROZEN, level_of
from gatewayfw.schemas.kinds.base import Description
from gatewayfw.schemas.kinds.descriptions import operands_of
from gatewayfw.schemas.kinds.numbers import MOST_DIGITS
from gatewayfw.schemas.kinds.text import LONGEST_EMAIL
from gatewayfw.schemas.relations import REV
from gatewayfw.schemas.values import HIGHEST, LOWEST

Schema = dict[str, Any]

#: The values of a `get`: leave out, show.
FLAG: Mapping[str, Any] = MappingProxyType({"type": "integer", "enum": [0, 1]})
#: More levels than any `get` has.
ENDLESS = 1_000
_ID: Mapping[str, Any] = MappingProxyType(
    # The length is for readers to whom `$` also means before a last line break, as it does to Python's.
    {"type": "string", "pattern": "^[0-9a-fA-F]{24}$", "maxLength": 24}
)
#: ISO 8601 as requests may have it: a date, or a date and time; without an offset it is UTC.
_DATE = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])?)?$"
)


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_BASE64 = "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"


class Values:
    """Writes the schemas of values that requests hold.

    Attributes:
        models: those of the catalog.
        defs: what is shared, by name; grows while schemas are written.
        prefix: where ``defs`` will stand: ``#/$defs/``.
    """

    #: What is said of an object with any keys: no request may have NUL in one.
    any_keys: Mapping[str, Any] = MappingProxyType({"propertyNames": {"pattern": r"^[^\u0000]*$"}})

    def __init__(self, models: Mapping[str, Any], prefix: str, defs: dict[str, Schema]) -> None:
        self.models = models
        self.prefix = prefix
        self.defs = defs

    def schema(self, kind: Description, levels: int = ENDLESS) -> Schema:
        """Return the schema of a kind; ``levels`` is how deep a `get` may be from here on."""
        written = ROWS[kind["kind"]](self, kind, levels)
        if kind.get("nullable"):
            written = or_null(written)
        if "noneOf" in kind:
            written["not"] = {"enum": kind["noneOf"]}
        return written | _described(kind) | _named(kind, "default")

    def fields(self, fields: Mapping[str, Description], levels: int = ENDLESS) -> Schema:
        """Return ``properties`` and ``required`` of an object, without its files."""
        fields = {name: field for name, field in fields.items() if field["kind"] != "file"}
        required = [name for name, field in fields.items() if field["presence"] == "required"]
        written: Schema = {"properties": {name: self.schema(field, levels) for name, field in fields.items()}}
        return written | ({"required": required} if required else {})

    def date(self) -> Schema:
        return {"type": "string", "pattern": _DATE, "description": "ISO 8601; without an offset it is UTC."}

    def text(self, kind: Description) -> Schema:
        # The format "time" of JSON Schema wants an offset, which marshmallow's times need not have.
        format_ = ("format",) if kind.get("format") != "time" else ()
        written = {"type": "string", **_named(kind, "minLength", "maxLength", *format_)}
        if "pattern" not in kind:
            return written
        pattern = ecma(kind["pattern"])
        if pattern is not None:
            return {**written, "pattern": pattern}
        return {**written, "$comment": f"The whole text has to match, in Python's notation: {kind['pattern']}"}

    def binary(self, kind: Description) -> Schema:
        written: Schema = {"type": "string", "contentEncoding": "base64", "pattern": _BASE64}
        encoded = {"minLength": "minBytes", "maxLength": "maxBytes"}
        return written | {name: -(-kind[key] // 3) * 4 for name, key in encoded.items() if key in kind}

    def list(self, kind: Description, levels: int) -> Schema:
        written: Schema = {"items": self.schema(kind["items"], levels - 1)}
        if "prefixItems" in kind:  # beside `items`, without which some tools take no list
            written["prefixItems"] = [self.schema(one, levels - 1) for one in kind["prefixItems"]]
        return {"type": "array", **written, **_named(kind, "minItems", "maxItems")}

    def mapping(self, kind: Description, levels: int) -> Schema:
        return {"type": "object", **self.any_keys, "additionalProperties": self.schema(kind["values"], levels - 1)}

    def object(self, kind: Description, levels: int) -> Schema:
        if kind["fields"] is None:
            return {"type": "object", **self.any_keys}
        written = {"type": "object", **self.fields(kind["fields"], levels - 1)}
        return {**written, **self.any_keys} if kind.get("open") else {**written, "additionalProperties": False}

    def selection(self, selection: Description, levels: int) -> Schema:
        """Return the schema of a `get` for one model; only here is there a revision."""
        return self._selected(selection, levels, {REV: dict(FLAG)})

    def _selected(self, selection: Description, levels: int, more: Schema) -> Schema:
        if levels < 1:
            return {"type": "object", "maxProperties": 0}
        if "depth" not in selection:
            return self._level(selection, levels, more)
        name = f"get.{selection['model']}.{selection['depth']}"
        name = name if levels > selection["depth"] else f"{name}.{levels}"
        return self.shared(name if more else f"{name}.below", lambda: self._level(selection, levels, more))

    def filter(self, kind: Description) -> Schema:
        fields = kind["fields"].items()
        return object_of({name: self._filtered(one) | _described(one["value"]) for name, one in fields})

    def _filtered(self, field: Description) -> Schema:
        operators = {name: self.schema(operand) for name, operand in operands_of(field).items()}
        written = {**object_of(operators), "minProperties": 1}
        return {"anyOf": [operators["eq"], written]} if "eq" in operators else written

    def shared(self, name: str, make: Callable[[], Schema]) -> Schema:
        """Return a reference to the schema that ``make`` gives; it is made once."""
        if name not in self.defs:
            self.defs[name] = {}  # It comes before the schemas that it refers to.
            self.defs[name] = make()
        return {"$ref": self.prefix + name}

    def _level(self, selection: Description, levels: int, more: Schema) -> Schema:
        found = level_of(self.models, selection)
        links = {name: self._link(below, levels - 1) for name, below in found["links"].items()}
        return object_of({**{name: dict(FLAG) for name in found["fields"]}, **more, **links})

    def _link(self, selection: Description, levels: int) -> Schema:
        flag = dict(FLAG) if level_of(self.models, selection)["whole"] else one_of(0)
        return {"anyOf": [flag, self._selected(selection, levels, {})]}


@final
class ShownValues(Values):
    """Writes the schemas of values in replies, where no field is required."""

    any_keys = MappingProxyType({})

    def date(self) -> Schema:
        return {"type": "string", "format": "date-time"}

    def schema(self, kind: Description, levels: int = ENDLESS) -> Schema:
        """Return the schema of a kind.

        A stored text may be longer than a new one, if the setting was higher.
        """
        unsure = () if kind.get("sized", True) else ("maxLength", "maxBytes")
        return super().schema({name: part for name, part in kind.items() if name not in unsure}, levels)

    def document(self, selection: Description, levels: int, name: str) -> Schema:
        """Return the schema of a document in the shape of a whole selection.

        ``name``: of a selection of an act's own.
        """
        model = selection["model"]
        fields = self.models[model]["fields"]
        if "depth" not in selection:
            return self.shared(name, lambda: _revised(self._restricted(selection, fields, levels)))
        depth = min(selection["depth"], levels)
        return self.shared(f"shown.{model}.{depth}", lambda: _revised(self._document(model, fields, depth)))

    def copies(self, model: str, name: str, depth: int) -> Schema:
        """Return the schema of what a link shows: one copy, or a list of such."""
        link = self.models[model]["links"][name]
        target, fields = link["model"], link["fields"]
        one = self.shared(f"shown.{model}.{name}.{depth}", lambda: self._document(target, fields, depth))
        return _listed(link, one)

    def whole(self, model: str) -> Schema:
        """Return the schema of a document with everything shown."""
        described = self.models[model]
        properties = self._document(model, described["fields"], 1)["properties"]
        fields, links = described["fields"], described["links"]
        required = [name for name, field in fields.items() if field["presence"] == "required"]
        required += [name for name, link in links.items() if not link["optional"]]
        return object_of(properties, required)

    def _document(self, model: str, fields: Any, depth: int) -> Schema:
        described = self.models[model]
        shown = {name: self.schema(described["fields"][name]) for name in fields}
        for schema in shown.values():
            schema.pop("default", None)
        links = {name: self.copies(model, name, depth - 1) for name in (described["links"] if depth else ())}
        return object_of({**shown, **links})

    def _restricted(self, selection: Description, fields: Any, levels: int) -> Schema:
        described = self.models[selection["model"]]
        properties = {name: self.schema(described["fields"][name]) for name in selection["fields"] if name in fields}
        for name, inner in selection["links"].items() if levels > 0 else ():
            link = described["links"][name]
            if "depth" in inner:
                properties[name] = self.copies(selection["model"], name, min(inner["depth"], levels - 1))
            else:
                properties[name] = _listed(link, self._restricted(inner, link["fields"], levels - 1))
        return object_of(properties)


def _revised(document: Schema) -> Schema:
    return {**document, "properties": {**document["properties"], REV: {"type": "integer", "minimum": 0}}}


def object_of(properties: Schema, required: Iterable[str] = ()) -> Schema:
    """Return the schema of an object that has no other keys."""
    needed = list(required)
    written = {"type": "object", "properties": properties, **({"required": needed} if needed else {})}
    return {**written, "additionalProperties": False}


def _listed(link: Description, one: Schema) -> Schema:
    listed = {"type": "array", "items": one} if link["type"] == "multiple" else one
    return {**listed, "description": FROZEN.capitalize()} if "frozen" in link else listed


def _named(kind: Description, *names: str) -> Schema:
    return {name: kind[name] for name in names if name in kind}


def or_null(schema: Schema) -> Schema:
    """Return the schema of null, too."""
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], {"type": "null"}]}
    if schema.keys() & {"$ref", "const", "enum"}:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def _described(kind: Description) -> Schema:
    notes = [f"An _id of the model {kind['of']}."] if "of" in kind else []
    notes += [kind["description"]] if "description" in kind else []
    return {"description": " ".join(notes)} if notes else {}


def _count(most: int) -> Schema:
    beyond = object_of({"atLeast": {"const": most}}, ["atLeast"])
    return {"anyOf": [{"type": "integer", "minimum": 0, "maximum": most}, beyond]}


def one_of(*choices: Any) -> Schema:
    """Return the schema of choices, each type by itself.

    Generators make enums of texts or of integers only, and some but one of both. Some tools know no ``const``.
    """
    names = {str: "string", int: "integer", float: "number", bool: "boolean"}
    listed = next((kind for kind in (str, int) if kind in map(type, choices)), None)
    enum = [one for one in choices if type(one) is listed]
    parts: list[Schema] = [{"type": names[type(one)], "const": one} for one in choices if type(one) is not listed]
    if listed:
        parts = [{"type": names[listed], **({} if enum[1:] else {"const": enum[0]}), "enum": enum}, *parts]
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def _integer(kind: Description) -> Schema:
    least = {} if "exclusiveMinimum" in kind else {"minimum": LOWEST}
    most = {} if "exclusiveMaximum" in kind else {"maximum": HIGHEST}
    return {"type": "integer", **least, **most, **_named(kind, *_BOUNDS)}


def _decimal(kind: Description) -> Schema:
    fraction = rf"(?:\.[0-9]{{1,{kind['places']}}})?" if kind["places"] else ""
    ends = {"minimum": "at least", "maximum": "at most"}
    bounds = [f"{word} {kind[name]}" for name, word in ends.items() if name in kind]
    text: Schema = {"type": "string", "pattern": f"^-?[0-9]{{1,{MOST_DIGITS}}}{fraction}$"}
    written = {"anyOf": [text, {"type": "integer"}]} if kind.get("whole") else text
    return {**written, "$comment": f"A number {' and '.join(bounds)}."} if bounds else written


#: The schema of each kind but for null, by its word in the catalog.
ROWS: Mapping[str, Callable[[Values, Description, int], Schema]] = MappingProxyType(
    {
        "string": lambda values, kind, levels: values.text(kind),
        "object_id": lambda values, kind, levels: dict(_ID),
        "email": lambda values, kind, levels: {"type": "string", "format": "email", "maxLength": LONGEST_EMAIL},
        "date": lambda values, kind, levels: values.date(),
        "boolean": lambda values, kind, levels: {"type": "boolean"},
        "any": lambda values, kind, levels: {} if kind.get("nullable", True) else {"not": {"type": "null"}},
        "number": lambda values, kind, levels: {"type": "number", **_named(kind, *_BOUNDS)},
        "integer": lambda values, kind, levels: _integer(kind),
        "decimal": lambda values, kind, levels: _decimal(kind),
        "binary": lambda values, kind, levels: values.binary(kind),
        "file": lambda values, kind, levels: {"not": {}},
        "enums": lambda values, kind, levels: one_of(*kind["choices"]),
        "array": lambda values, kind, levels: values.list(kind, levels),
        "mapping": lambda values, kind, levels: values.mapping(kind, levels),
        "object": lambda values, kind, levels: values.object(kind, levels),
        "selection": lambda values, kind, levels: values.selection(kind, levels),
        "filter": lambda values, kind, levels: values.filter(kind),
        "count": lambda values, kind, levels: _count(kind["most"]),
        "bound": lambda values, kind, levels: {"anyOf": [{"type": "number"}, {"type": "string"}]},
    }
)


# -- regular expressions, in the notation of ECMA

_ESCAPE = r"\\(?:[\^$\\.*+?()\[\]{}|/nrtfv]|x[0-9a-fA-F]{2}|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})"
# One that starts with a bracket to close it means something else in each.
_SET = rf"\[\^?(?!\])(?:{_ESCAPE}|\\-|[^\\\[\]])+\]"
_GROUP = r"\((?:\?:|\?P<\w+>|(?!\?))"
# A plus behind a repetition would make it possessive.
_REPEAT = r"(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??(?!\+)"
_PART = re.compile(rf"{_ESCAPE}|{_SET}|{_GROUP}|[^\\\[(\]{{}}*+?$]", re.DOTALL)
_SAME = re.compile(rf"(?:(?:{_PART.pattern})(?:{_REPEAT})?)*(\$?)", re.DOTALL)


def ecma(pattern: str) -> str | None:
    r"""Return a pattern in ECMA's notation, anchored at both ends, or None.

    Only syntax with the same meaning in both is taken: no ``\d``, ``\w``, ``\s`` and ``\b`` (Python's know all of
    Unicode), no assertions but ``^`` and a last ``$``, no flags, no back references and no needless backslashes.
    Source: https://tc39.es/ecma262/#sec-patterns; https://docs.python.org/3/library/re.html#regular-expression-syntax.
    """
    same = _SAME.fullmatch(pattern)
    if same is None:
        return None
    body = _PART.sub(_rewrite, pattern[: same.start(1)])
    return f"^(?:{body})$" if "|" in body else f"^{body.removeprefix('^')}$"


def _rewrite(part: re.Match[str]) -> str:
    text = part.group()
    return r"[^\n]" if text == "." else "(?:" if text.startswith("(?P<") else text

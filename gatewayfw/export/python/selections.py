"""Selections as typed dictionaries: what `get` may name and what it shows.

One walk generates both. A selection of ``depth`` levels gives ``UserGet1`` and ``User1``, whose links are of depth 0.
Below a link the classes are those of copies (``UserCopyGet0``), which have no revision. Below one that hides fields
they bear its name (``OrganizationUsersGet0``), because what a link excludes is hidden, of the same model, everywhere
below it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from gatewayfw.export.python.types import Entry, Types, class_name, comment
from gatewayfw.export.text import FROZEN
from gatewayfw.schemas.relations import REV

Selection = Mapping[str, Any]
#: The hidden names by model; models without any are left out.
Hidden = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Shape:
    """Two classes: what may be asked for, and what is shown."""

    get: str
    document: str


@dataclass(frozen=True)
class _Level:
    """What a selection names of its model."""

    fields: Mapping[str, Any]
    links: Mapping[str, Selection]
    is_whole: bool


@final
class Selections:
    """The shapes of one module; equal ones are made once."""

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
        found = self._level(selection, hidden)
        model = selection["model"]
        asked = [Entry(name, "Flag") for name in found.fields]
        shown = [
            Entry(name, self._types.value(kind, class_name(model, name)), comment=comment(kind))
            for name, kind in found.fields.items()
        ]
        if revised:
            asked.append(Entry(REV, "Flag"))
            shown.append(Entry(REV, "int"))
        for name, below in found.links.items():
            link = self._models[model]["links"][name]
            within = class_name(model, name) if "depth" in below else class_name(base, name)
            inner = self._shape(below, within, self._below(link, hidden))
            # One of which only some fields may be asked for takes no 1.
            flag = "Flag" if self._level(below, {}).is_whole else "Literal[0]"
            asked.append(Entry(name, f"{flag} | {inner.get}"))
            copies = f"list[{inner.document}]" if link["type"] == "multiple" else inner.document
            shown.append(Entry(name, copies, comment=FROZEN if "frozen" in link else ""))
        types = self._types
        get = types.add(types.fresh(f"{base}Get{level}"), asked, f"What a `get` of {_plain(model)} may name.")
        document = types.fresh(f"{base}{level}" if level else f"{base}Document")
        return Shape(get, types.add(document, shown, f"A document of {_plain(model)}, as far as `get` asks for it."))

    def _level(self, selection: Selection, hidden: Hidden) -> _Level:
        model = self._models[selection["model"]]
        names = selection.get("fields", model["fields"])
        concealed = hidden.get(selection["model"], frozenset())
        fields = {name: model["fields"][name] for name in names if name not in concealed}
        if "depth" not in selection:
            return _Level(fields, selection["links"], selection["whole"])
        depth = selection["depth"]
        below = {name: {"model": link["model"], "depth": depth - 1} for name, link in model["links"].items()}
        return _Level(fields, below if depth else {}, is_whole=True)

    def _below(self, link: Mapping[str, Any], hidden: Hidden) -> Hidden:
        model = link["model"]
        excluded = (self._models[model]["fields"].keys() - link["fields"]) | hidden.get(model, frozenset())
        return {**hidden, model: frozenset(excluded)} if excluded else hidden

    def _reachable(self, model: str, depth: int) -> set[str]:
        """Return the models that a selection shows."""
        found, edge = {model}, {model}
        for _ in range(depth):
            edge = {link["model"] for name in edge for link in self._models[name]["links"].values()} - found
            found |= edge
        return found


def _plain(model: str) -> str:
    return model if model.isprintable() else ascii(model)

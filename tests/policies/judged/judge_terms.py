"""The few terms in which definitions, filters and orders are judged; all of it plain Python.

A filter is a list of conditions ``(path, "eq" | "in" | "gte", value)``, all of which must hold; None matches nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Link(NamedTuple):
    """A relation or reverse relation: whose copies it holds, how many, and what they lack."""

    source: str
    multiple: bool
    excludes: frozenset[str]
    shared: bool
    sort: str

    def ordered(self, copies, hidden) -> list[dict[str, Any]]:
        """Return copies as they are shown; the order of a hidden field would tell of it, so it is that of ids then."""
        if self.sort.lstrip("-") in hidden:
            return sorted(copies, key=lambda copy: copy["_id"])
        return copies if not self.sort else in_order(copies, self.sort, ties=False)


def links_of(definitions, model) -> dict[str, Link]:
    """Return the relations of a model and the reverse relations that others cause there.

    Those are stored in their order, and relations in the one in which ids were given.
    """
    links = {name: _link(one, one["schemaName"]) for name, one in definitions[model]["relations"].items()}
    for other, definition in definitions.items():
        for relation in definition["relations"].values():
            if relation["schemaName"] == model:
                links |= {name: _link(one, other) for name, one in relation.get("relatedRelations", {}).items()}
    return links


def _link(declared, source) -> Link:
    excludes = frozenset(declared.get("excludes", ()))
    sort = declared.get("sort", {"field": "", "order": "asc"})
    by = "-" * (sort["order"] == "desc") + sort["field"]
    return Link(source, declared["type"] == "multiple", excludes, declared.get("shared", False), by)


def copies_in(document, name) -> list[dict[str, Any]]:
    """Return the copies that a document holds under the name of a link."""
    value = document.get(name) or []
    return value if isinstance(value, list) else [value]


def named_in(conditions) -> list[str]:
    """Return the paths that a filter names."""
    return [path for path, _, _ in conditions]


def values_at(document, path) -> list[Any]:
    """Return the values at a path, which may lead through a copy or a list of copies."""
    found = [document]
    for name in path.split("."):
        inner = [one[name] for one in found if isinstance(one, dict) and name in one]
        found = [value for one in inner for value in (one if isinstance(one, list) else [one])]
    return found


def matches(document, conditions) -> bool:
    """Tell whether a document meets all conditions."""
    return conditions is not None and all(_meets(values_at(document, path), *rest) for path, *rest in conditions)


def _meets(values, operator, wanted) -> bool:
    if operator == "eq":
        return wanted in values
    if operator == "in":
        return any(value in wanted for value in values)
    return any(isinstance(value, int) and value >= wanted for value in values)


def in_order(rows, sort, ties=True):
    """Return rows by a path, descending with ``-``; missing is lowest.

    Ties go by ``_id`` in the same direction, or stay as they are.
    """
    path, down = sort.lstrip("-"), sort.startswith("-")

    def key(row):
        values = values_at(row, path)
        return (bool(values), isinstance(values[0], str), values[0]) if values else (False,)

    by_id = sorted(rows, key=lambda row: row["_id"], reverse=down) if ties else rows
    return sorted(by_id, key=key, reverse=down)

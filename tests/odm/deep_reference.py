"""A naive reader of deep gets, one query for each document, and the judge of what a reader shows."""

from __future__ import annotations

from gatewayfw.schemas import Relation
from gatewayfw.storage.order import order_key


def reference(schemas, storage, model, document, get):
    """What a `get` shows of a stored document."""
    fields = schemas.get_schema(model).copy_fields()
    asked = {"_id": 1, **get}
    own = {name: document[name] for name in ("_id", *fields) if asked.get(name) == 1 and name in document}
    if asked.get("_rev") == 1:
        own["_rev"] = document.get("_gw", {}).get("r", 0)
    return own | _relations(schemas, storage, model, document, get, {})


def _relations(schemas, storage, model, document, get, hidden):
    shown = {}
    for name, link in schemas.links(model).items():
        if get.get(name, 0) == 0:
            continue
        value = document.get(name)
        copies = value if isinstance(value, list) else [value] if value else []
        if isinstance(link, Relation) and link.sort:
            by = link.sort
            copies = sorted(copies, key=lambda one: order_key(one.get(by.field)), reverse=by.order == "desc")  # noqa: B023
        parts = [_part(schemas, storage, link, copy, get[name], hidden) for copy in copies]
        if link.type == "multiple":
            shown[name] = parts
        elif parts:
            shown[name] = parts[0]
    return shown


def _part(schemas, storage, link, copy, get, hidden):
    source = link.schema_name if isinstance(link, Relation) else link.member
    hidden = {**hidden, source: hidden.get(source, frozenset()) | link.excludes}
    fields = ("_id", *schemas.get_schema(source).copy_fields(hidden[source]))
    if get == 1:
        return {name: copy[name] for name in fields if name in copy}
    if not any(value != 0 for value in get.values()) and get.get("_id") != 0:
        get = {"_id": 1}
    shown = {name: copy[name] for name in fields if get.get(name) == 1 and name in copy}
    if not any(name in schemas.links(source) for name, value in get.items() if value != 0):
        return shown
    document = next(storage.find(source, {"_id": copy["_id"]}), {})
    return shown | _relations(schemas, storage, source, document, get, hidden)


def strangers(schemas, model, get, shown, path=""):
    """The paths shown that a `get` does not name, or that the model or a link on the way excludes."""
    own = {name: value for name, value in shown.items() if name != "_rev" or get.get("_rev") != 1}
    return list(_strangers(schemas, model, {"_id": 1, **get}, own, path, {}))


def _strangers(schemas, model, get, shown, path, hidden):
    schema = schemas.get_schema(model)
    links = schemas.links(schema.name)
    fields = ("_id", *schema.copy_fields(hidden.get(model, frozenset())))
    for name, value in shown.items():
        where = f"{path}.{name}"
        if name in links and get.get(name, 0) != 0:
            source = links[name].schema_name if isinstance(links[name], Relation) else links[name].member
            below = {**hidden, source: hidden.get(source, frozenset()) | links[name].excludes}
            copied = dict.fromkeys(["_id", *schemas.get_schema(source).pure], 1)
            asked = copied if get[name] == 1 else get[name] or {"_id": 1}
            asked = {"_id": 1} if all(flag == 0 for flag in asked.values()) and asked.get("_id") != 0 else asked
            for part in value if isinstance(value, list) else [value]:
                yield from _strangers(schemas, source, asked, part, where, below)
        elif name not in fields or get.get(name) != 1:
            yield where

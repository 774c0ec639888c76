"""JSON Schema 2020-12 of a gateway: every request, every reply, the models.

``$defs`` has for each ``SERVICE.MODEL.ACT``: ``.request`` (the whole body), ``.set``, ``.get`` and ``.reply`` (the
``body`` of the reply, whatever ``get`` asks for: no field of a document is required). It also has ``model.NAME`` (a
document with all fields that are ever shown), ``error`` (the ``body`` of an error), ``error.detail`` (of one value) and
``remote.NAME.request`` for each remote service. The rest are parts that these share.

The schema accepts exactly what the validator accepts, except:

- mode ``create`` also accepts values that it converts, such as ``"5"`` for a number;
- these cannot be expressed: the exact rules for dates and e-mail addresses; patterns that mean something else in
  ECMAScript (they are in ``$comment``); checks of the author's own, validator functions and the peculiarities of
  marshmallow's own fields;
- numbers: JSON Schema takes ``1.0`` for 1, the validator does not, and refuses integers beyond 64 bits;
- a ``get`` may name excluded fields, which the schema does not know, and is bounded by ``max_get_leaves``, too;
- the limits of a request's size, depth and texts (see the settings) are not in the schema.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gatewayfw.export import OPENING
from gatewayfw.export.jsonschema.kinds import Schema, ShownValues, Values, object_of, one_of, or_null
from gatewayfw.spelling import MAIN

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_DEFS = "#/$defs/"


@dataclass(frozen=True)
class ActEntry:
    """One act of a catalog and its place."""

    service: str
    model: str
    name: str
    act: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Its name in ``$defs``."""
        return f"{self.service}.{self.model}.{self.name}"

    @property
    def title(self) -> str:
        """Its name for people: the service only where it is not main."""
        return f"{self.model}.{self.name}" if self.service == MAIN else self.key


def json_schema(catalog: Mapping[str, Any]) -> Schema:
    """Return the schema of a request's body, with all ``$defs``.

    See the head of this module.
    """
    defs = definitions(catalog, _DEFS)
    requests = [{"$ref": f"{_DEFS}{name}"} for name in requests_of(catalog)]
    return {
        "$schema": DIALECT,
        "$comment": OPENING,
        "title": "A request to the gateway",
        **({"oneOf": requests} if requests else {"not": {}}),
        "$defs": defs,
    }


def definitions(catalog: Mapping[str, Any], prefix: str) -> dict[str, Schema]:
    """Return all schemas by name; references to them start with ``prefix``."""
    defs: dict[str, Schema] = {}
    for entry in acts_of(catalog):
        defs[f"{entry.key}.request"] = _request(entry, prefix)
    for name, service in catalog["services"].items():
        if service["remote"]:
            defs[f"remote.{name}.request"] = _remote_request(name)
    sent, shown = _writers(catalog, prefix, defs)
    for entry in acts_of(catalog):
        act = entry.act
        defs[f"{entry.key}.set"] = sent.schema(act["set"])
        defs[f"{entry.key}.get"] = sent.schema(act["get"], act["maxGetDepth"])
        defs[f"{entry.key}.reply"] = _reply(shown, act, f"{entry.key}.shown")
    for model in catalog["models"]:
        defs[f"model.{model}"] = shown.whole(model)
    defs["error"] = _error({"$ref": f"{prefix}error.detail"})
    defs["error.detail"] = {"oneOf": list(map(shown.schema, catalog["codes"]))}
    return defs


def details_schema(catalog: Mapping[str, Any], act: Mapping[str, Any]) -> Schema:
    """Return the schema of the details of one act, with ``$defs`` for what it needs.

    A part that takes only ``{}`` is not in it.
    """
    defs: dict[str, Schema] = {}
    sent, _ = _writers(catalog, _DEFS, defs)
    # Some readers look for a type beside a reference, to know whether to send an object or text.
    typed = {"type": "object"}
    parts = {"set": typed | sent.schema(act["set"]), "get": typed | sent.schema(act["get"], act["maxGetDepth"])}
    asked = {name: part for name, part in parts.items() if act[name].get("fields") != {} or "links" in act[name]}
    schema = object_of(asked, asked)
    return schema | ({"$defs": defs} if defs else {})


def result_schema(catalog: Mapping[str, Any], act: Mapping[str, Any]) -> tuple[Schema, dict[str, Schema]]:
    """Return the schema of the result of one act, and the ``$defs`` that it needs."""
    defs: dict[str, Schema] = {}
    return _reply(_writers(catalog, _DEFS, defs)[1], act, "shown"), defs


def requests_of(catalog: Mapping[str, Any]) -> list[str]:
    """Return the names of requests in ``$defs``: acts, then remote services."""
    remote = [name for name, service in catalog["services"].items() if service["remote"]]
    return [f"{entry.key}.request" for entry in acts_of(catalog)] + [f"remote.{name}.request" for name in remote]


def acts_of(catalog: Mapping[str, Any]) -> Iterator[ActEntry]:
    """Yield the acts of all services that are not remote, in the order registered."""
    for service, described in catalog["services"].items():
        for model, acts in described.get("acts", {}).items():
            yield from (ActEntry(service, model, name, act) for name, act in acts.items())


def _writers(catalog: Mapping[str, Any], prefix: str, defs: dict[str, Schema]) -> tuple[Values, ShownValues]:
    models = catalog["models"]
    return Values(models, prefix, defs), ShownValues(models, prefix, defs)


def _error(detail: Schema) -> Schema:
    """Return what an error body may have; most needs the header X-Gateway-Detail."""
    text = {"type": "string"}
    errors = _by_path(text, "By the path of the value: set.name.")
    details = _by_path(detail, "A code for each text of errors.")
    parts = {"message": text, "code": text, "errors": errors, "requestId": text, "details": details}
    return {"type": "object", "properties": parts, "required": ["message"]}


def _by_path(item: Schema, said: str) -> Schema:
    return {"type": "object", "additionalProperties": {"type": "array", "items": item}, "description": said}


def _request(entry: ActEntry, prefix: str) -> Schema:
    service = one_of(entry.service)
    details = {part: {"$ref": f"{prefix}{entry.key}.{part}"} for part in ("set", "get")}
    described = {"description": entry.act["description"]} if entry.act["description"] else {}
    return {
        "title": entry.title,
        **described,
        "type": "object",
        "properties": {
            "service": or_null(service) if entry.service == MAIN else service,
            "model": one_of(entry.model),
            "act": one_of(entry.name),
            "details": object_of(details, details),
        },
        "required": [*([] if entry.service == MAIN else ["service"]), "model", "act", "details"],
    }


def _remote_request(name: str) -> Schema:
    word = {"type": "string", "minLength": 1}
    parts = {"set": {"type": "object"}, "get": {"type": "object"}}
    return {
        "title": f"{name}: a remote service",
        "type": "object",
        "properties": {"service": one_of(name), "model": word, "act": word, "details": object_of(parts, parts)},
        "required": ["service", "model", "act", "details"],
    }


def _reply(shown: ShownValues, act: Mapping[str, Any], own: str) -> Schema:
    """Return the schema of a result: of a value that is optional, or null."""
    written = _result(shown, act, act["returns"], own)
    return written if act["returns"]["presence"] == "required" else {"anyOf": [written, {"type": "null"}]}


def _result(shown: ShownValues, act: Mapping[str, Any], returns: dict[str, Any], own: str) -> Schema:
    if returns["kind"] == "documents":
        return _documents(shown, act, returns, own)
    if returns["kind"] != "object" or returns["fields"] is None:
        return shown.schema(returns)
    properties = {
        name: _documents(shown, act, part, own) if part["kind"] == "documents" else shown.schema(part)
        for name, part in returns["fields"].items()
    }
    required = [
        name for name, part in returns["fields"].items() if part["presence"] == "required" and not part.get("picked")
    ]
    written = {"type": "object", "properties": properties}
    return written | ({"required": required} if required else {})


def _documents(shown: ShownValues, act: Mapping[str, Any], returns: Mapping[str, Any], own: str) -> Schema:
    selection, levels = act["get"], act["maxGetDepth"]
    for name in returns["get"]:
        selection, levels = selection["fields"][name], levels - 1
    one = shown.document(selection, levels, ".".join([own, *returns["get"]]))
    if returns["type"] == "many":
        return {"type": "array", "items": one}
    return {"anyOf": [one, {"type": "null"}]} if returns["type"] == "optional" else one

"""Requests with files in OpenAPI: the JSON and the files are parts of a form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gatewayfw.export.jsonschema.document import ActEntry
from gatewayfw.export.jsonschema.kinds import Schema

#: The media type of such a request.
MEDIA_TYPE = "multipart/form-data"
#: The header that it needs.
HEADER = "X-Gateway"


def files_of(kind: Mapping[str, Any], path: str = "set") -> dict[str, Mapping[str, Any]]:
    """Return the files in a kind by their paths."""
    if kind["kind"] == "file":
        return {path: kind}
    found: dict[str, Mapping[str, Any]] = {}
    for name, inner in (kind.get("fields") or {}).items() if kind["kind"] == "object" else ():
        found |= files_of(inner, f"{path}.{name}")
    return found


def needs_file(act: Mapping[str, Any]) -> bool:
    """Tell whether each request of an act has a file, so that none is plain JSON."""
    return bool(_needed(files_of(act["set"])))


def form_of(entries: Sequence[ActEntry], prefix: str) -> Schema:
    """Return the media type of requests with files; empty if no act takes any."""
    forms = [(entry, files) for entry in entries if (files := files_of(entry.act["set"]))]
    if not forms:
        return {}
    schemas = [_schema(entry, files, prefix) for entry, files in forms]
    types = {path: ", ".join(kind["types"]) or "*/*" for _, files in forms for path, kind in files.items()}
    encoding = {path: {"contentType": type_} for path, type_ in {"gateway-body": "application/json", **types}.items()}
    return {MEDIA_TYPE: {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}, "encoding": encoding}}


def _schema(entry: ActEntry, files: Mapping[str, Any], prefix: str) -> Schema:
    binary = {"type": "string", "format": "binary"}
    return {
        "type": "object",
        "properties": {"gateway-body": {"$ref": f"{prefix}{entry.key}.request"}, **dict.fromkeys(files, binary)},
        "required": ["gateway-body", *_needed(files)],
        "additionalProperties": False,
    }


def _needed(files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [path for path, kind in files.items() if kind["presence"] == "required" and path.count(".") == 1]

"""OpenAPI 3.1 of a gateway: one path, or one *virtual* path for each act.

All requests go to one path, and the body says which act is meant. So the document has one operation, whose body is one
of the requests of `gatewayfw.export.jsonschema.document`; its reply is any of the replies. If the gateway takes
batches, a body may hold several of these requests. For tools that need one operation for each act, ``virtual_paths``
gives each act a path such as ``/gateway#user.addUser``; clients do not send what follows ``#``, so these requests reach
the gateway, too. Requests with files are forms: the JSON and the files are parts of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from gatewayfw.errors import DefinitionError
from gatewayfw.export import OPENING
from gatewayfw.export.jsonschema.document import ActEntry, acts_of, definitions, requests_of
from gatewayfw.export.jsonschema.kinds import Schema, object_of, one_of

VERSION = "3.1.0"
#: The media type of requests with files, and the header that they need.
_FORM, FORM_HEADER = "multipart/form-data", "X-Gateway"
_REF = "#/components/"
_SCHEMAS = f"{_REF}schemas/"
_ABOUT = (
    "One endpoint. The body names model and act; `details.set` is what the act needs, `details.get` what of the "
    "result it shows: 1 for a field, an object for what a relation embeds."
)
#: What each status means; the words are those of the header X-Error-Code.
_ERRORS: Mapping[int, str] = MappingProxyType(
    {
        400: "The request cannot be understood, or was refused: bad_request, validation_error. Nothing was written.",
        401: "The caller could not be identified: unauthenticated.",
        403: "The caller may not do this: forbidden. Or a policy hides a field that it asks for: hidden.",
        404: "There is no such act, or not what was asked for: not_found. Nothing was written.",
        409: "The stored data forbids it: conflict, duplicate_key, still_referenced. Or another act of an atomic batch "
        "failed: not_done. Or a request with the same Idempotency-Key is under way: in_progress. Nothing was written.",
        412: "The document has changed meanwhile: stale. Nothing was written.",
        413: "The request, or what it would make, is too large: too_large. Nothing was written. Or the reply is: "
        "reply_too_large. What was written before stays.",
        415: "The body is not plain application/json, or a file has the content of another type: "
        "unsupported_media_type.",
        422: "The Idempotency-Key came with another body before: key_reused. Nothing was written.",
        429: "The rate limit is used up: rate_limited.",
        500: "An error of the server: internal_error, storage_error, usage_error.",
        502: "A remote service failed: remote_error.",
        503: "The database cannot be reached, or the time is used up: unavailable, timeout, partly_done, "
        "outcome_unknown.",
        504: "A remote service took too long: remote_timeout.",
    }
)
#: How a client makes an idempotent act safe to repeat.
_KEY: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same for each try of one request: it is done once, and answered again as it was.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"},
}
#: What every act may end with.
_ALWAYS = frozenset({400, 404, 413, 415, 500, 503})
#: What an operation says of its access.
_ACCESS: Mapping[str, str] = MappingProxyType(
    {"public": "Needs no token.", "rule": "Needs a token.", "open": "Its hooks decide whether it needs a token."}
)
#: The headers of an error reply besides those of every one.
_MORE_HEADERS: Mapping[int, str] = MappingProxyType(
    {401: "WWW-Authenticate", 409: "Retry-After", 429: "Retry-After", 503: "Retry-After"}
)
_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "X-Request-Id": "The id of the request, as it was sent or a new one.",
        "X-Error-Code": "The error in one word.",
        "WWW-Authenticate": "How a caller says who it is: Token, or Bearer.",
        "Retry-After": "In how many seconds another try may succeed.",
        "Idempotent-Replay": "1: this is the reply that was given to the first request with this Idempotency-Key.",
    }
)
_PARAMETERS: Mapping[str, str] = MappingProxyType(
    {
        "X-Gateway-Detail": "1: the body of an error also has code, errors, details and requestId.",
        "X-Request-Id": "Up to 64 letters, digits, dots, hyphens and underscores; kept as the id of the request.",
    }
)


def openapi(
    catalog: Mapping[str, Any],
    *,
    path: str = "/gateway",
    title: str = "Gateway",
    version: str = "1",
    virtual_paths: bool = False,
    servers: Sequence[str] = ("/",),
) -> dict[str, Any]:
    """Return the document; ``path`` is the gateway's, prefix included.

    Raises:
        DefinitionError: ``path`` does not start with a slash.
    """
    if not path.startswith("/"):
        raise DefinitionError("openapi: path must start with '/'")
    entries = list(acts_of(catalog))
    if virtual_paths:
        operations = {f"{path}#{entry.title}": _operation_of(catalog, entry) for entry in entries}
        operations |= {f"{path}#batch": _operation_of_batch(catalog)} if catalog["maxBatch"] else {}
    else:
        operations = {path: _operation(catalog)}
    tags = dict.fromkeys(tag for operation in operations.values() for tag in operation["tags"])
    paths, components = _joined({path: {"post": operation} for path, operation in operations.items()}, catalog)
    return {
        "openapi": VERSION,
        "x-generated": OPENING,
        "info": {"title": title, "version": version, "description": _ABOUT},
        "servers": [{"url": server} for server in servers],
        **({"tags": [{"name": tag, "description": f"Acts of `{tag}`."} for tag in tags]} if tags else {}),
        "paths": paths,
        "components": components,
    }


def _joined(paths: Schema, catalog: Mapping[str, Any]) -> tuple[Schema, Schema]:
    """Return the paths, and what they need, each part after what it refers to.

    Some generators know no component that comes later, and take dots in names for modules.
    """
    components, needed = _components(catalog), dict[str, Schema]()

    def followed(value: Any) -> Any:
        if isinstance(value, list):
            return [followed(item) for item in value]
        if not isinstance(value, Mapping):
            return value
        if not isinstance(ref := value.get("$ref"), str):
            return {name: followed(item) for name, item in value.items()}
        kind, name = ref.removeprefix(_REF).split("/")
        part, name = components[kind][name], name.replace(".", "-")
        if name not in needed.setdefault(kind, {}):
            needed[kind][name] = followed(part)
        return {**value, "$ref": f"{_REF}{kind}/{name}"}

    schemes = {_key(token): _scheme(token) for token in catalog["tokens"]}
    return followed(paths), {**needed, **({"securitySchemes": schemes} if schemes else {})}


def _components(catalog: Mapping[str, Any]) -> Schema:
    schemas = definitions(catalog, _SCHEMAS) | {"batch": _batch(catalog), "batch.item": _item(catalog)}
    schemas["failure"] = _envelope({"$ref": f"{_SCHEMAS}error"}, one_of(False))
    headers = {
        name: {"description": text, "schema": {"type": "integer" if name == "Retry-After" else "string"}}
        for name, text in _HEADERS.items()
    }
    texts = {name: ("header", name, text) for name, text in _PARAMETERS.items()}
    texts[FORM_HEADER] = ("header", FORM_HEADER, "1: for requests with files.")
    for role in _roles(entry.act for entry in acts_of(catalog)):
        texts[_key(role)] = (role["in"], role["name"], "The id of the role that the caller acts in.")
    parameters = {
        key: {"name": name, "in": place, "description": text, "schema": {"type": "string"}}
        for key, (place, name, text) in texts.items()
    }
    responses = {str(status): _error(text, _MORE_HEADERS.get(status)) for status, text in _ERRORS.items()}
    responses["error"] = _error("Another error that the author of an act chose.")
    return {
        "schemas": schemas,
        "headers": headers,
        "parameters": {**parameters, _KEY["name"]: _KEY},
        "responses": responses,
    }


def _scheme(token: Mapping[str, str]) -> Schema:
    if token["in"] == "bearer":
        return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    return {"type": "apiKey", "in": token["in"], "name": token["name"]}


def _key(carrier: Mapping[str, str]) -> str:
    before = {"header": "", "bearer": "bearer-", "cookie": "cookie-"}[carrier["in"]]
    return before + carrier["name"]


def _roles(acts: Iterable[Mapping[str, Any]]) -> list[Mapping[str, str]]:
    """Return where acts look for a role beside their ``set``, each place once."""
    found = {_key(role): role for act in acts if (role := act["role"]) and role["in"] != "set"}
    return list(found.values())


def _error(text: str, *more: str | None) -> Schema:
    return _response(text, {"$ref": f"{_SCHEMAS}failure"}, ["X-Error-Code", *(name for name in more if name)])


def _response(text: str, schema: Schema, headers: Iterable[str] = ()) -> Schema:
    named = ["X-Request-Id", *headers]
    return {
        "description": text,
        "headers": {name: {"$ref": f"{_REF}headers/{name}"} for name in named},
        "content": {"application/json": {"schema": schema}},
    }


def _operation(catalog: Mapping[str, Any]) -> Schema:
    entries = list(acts_of(catalog))
    asked, envelope = _requests(catalog), _envelope(_replies(catalog))
    statuses = _ALWAYS.union(*(_statuses(entry.act) for entry in entries))
    if _is_partly_remote(catalog):
        statuses = frozenset(_ERRORS)
    if catalog["maxBatch"]:
        asked = {"oneOf": [*asked.get("oneOf", []), {"$ref": f"{_SCHEMAS}batch"}]}
        envelope = {"anyOf": [envelope, _envelope_of_batch()]}
    return {
        "operationId": "gateway",
        "tags": ["gateway"],
        "summary": "Run an act, or several" if catalog["maxBatch"] else "Run an act",
        "description": "The body says which.",
        # Whether a token is needed is the act's matter.
        "security": [{}, *({_key(token): []} for token in catalog["tokens"])],
        **_exchange(asked, envelope, statuses, _roles(entry.act for entry in entries), entries),
    }


def _requests(catalog: Mapping[str, Any]) -> Schema:
    forms = {f"{entry.key}.request" for entry in acts_of(catalog) if needs_file(entry.act)}
    requests = [{"$ref": f"{_SCHEMAS}{name}"} for name in requests_of(catalog) if name not in forms]
    return {"oneOf": requests} if requests else {"not": {}}


def _replies(catalog: Mapping[str, Any]) -> Schema:
    """Return what acts reply: anything if some of them are not known."""
    replies = [{"$ref": f"{_SCHEMAS}{entry.key}.reply"} for entry in acts_of(catalog)]
    return {"anyOf": replies} if replies and not _is_partly_remote(catalog) else {}


def _is_partly_remote(catalog: Mapping[str, Any]) -> bool:
    return any(service["remote"] for service in catalog["services"].values())


def _batch(catalog: Mapping[str, Any]) -> Schema:
    bodies = {"type": "array", "items": _requests(catalog), "minItems": 1, "maxItems": catalog["maxBatch"]}
    atomic = {"type": "boolean", "default": False, "description": "All acts in one transaction, or none."}
    return {"title": "Several acts", **object_of({"batch": bodies, "atomic": atomic}, ["batch"])}


def _item(catalog: Mapping[str, Any]) -> Schema:
    done = {"success": one_of(True), "body": _replies(catalog), "status": {"type": "integer"}}
    failed = {"success": one_of(False), "body": {"$ref": f"{_SCHEMAS}error"}, "status": {"type": "integer"}}
    failed |= {"code": {"type": "string"}, "retryAfter": {"type": "integer"}}
    return {
        "oneOf": [
            {"type": "object", "properties": done, "required": list(done)},
            {"type": "object", "properties": failed, "required": ["success", "body", "status", "code"]},
        ]
    }


def _operation_of_batch(catalog: Mapping[str, Any]) -> Schema:
    roles = _roles(entry.act for entry in acts_of(catalog))
    return {
        "operationId": "batch",
        "tags": ["gateway"],
        "summary": "Run several acts",
        "description": "They run in order; the reply has that of each.",
        "security": [{}, *({_key(token): []} for token in catalog["tokens"])],
        **_exchange({"$ref": f"{_SCHEMAS}batch"}, _envelope_of_batch(), _ALWAYS, roles),
    }


def _operation_of(catalog: Mapping[str, Any], entry: ActEntry) -> Schema:
    first, _, rest = entry.act["description"].partition("\n")
    request, reply = ({"$ref": f"{_SCHEMAS}{entry.key}.{part}"} for part in ("request", "reply"))
    return {
        "operationId": entry.title,
        "tags": [entry.model],
        "summary": first or entry.title,
        "description": f"{rest.strip()}\n\n{_ACCESS[entry.act['access']]}".lstrip(),
        "security": _security(entry.act, catalog["tokens"]),
        **_exchange(request, _envelope(reply), _statuses(entry.act), _roles([entry.act]), [entry]),
    }


def _envelope(reply: Schema, success: Schema | None = None) -> Schema:
    properties = {"success": success or one_of(True), "body": reply}
    return {"type": "object", "properties": properties, "required": list(properties)}


def _envelope_of_batch() -> Schema:
    success = {"type": "boolean", "description": "Whether all of them succeeded."}
    return _envelope({"type": "array", "items": {"$ref": f"{_SCHEMAS}batch.item"}}, success)


def _exchange(
    request: Schema,
    envelope: Schema,
    statuses: frozenset[int],
    roles: Iterable[Mapping[str, str]],
    entries: Sequence[ActEntry] = (),
) -> Schema:
    """Return what is sent and what may come back; ``entries`` may take files and keys."""
    form = form_of(entries)
    takes_key = any(entry.act["idempotent"] for entry in entries)
    more = [*([FORM_HEADER] if form else []), *([_KEY["name"]] if takes_key else [])]
    is_form = form and all(needs_file(entry.act) for entry in entries)
    plain = {} if is_form else {"application/json": {"schema": request}}
    done = _response("What the act returned.", envelope, ["Idempotent-Replay"] if takes_key else [])
    refused = {str(status): {"$ref": f"{_REF}responses/{status}"} for status in sorted(statuses)}
    return {
        "parameters": [{"$ref": f"{_REF}parameters/{key}"} for key in (*_PARAMETERS, *map(_key, roles), *more)],
        "requestBody": {"required": True, "content": {**plain, **form}},
        "responses": {"200": done, **refused, "default": {"$ref": f"{_REF}responses/error"}},
    }


def _security(act: Mapping[str, Any], tokens: Sequence[Mapping[str, str]]) -> list[Schema]:
    """Return who may call.

    With ``open`` nobody but the act's hooks knows whether they want a token.
    """
    if act["access"] == "public":
        return []
    anonymous: list[Schema] = [] if act["access"] == "rule" else [{}]
    return [*anonymous, *({_key(token): []} for token in ([act["token"]] if act["token"] else tokens))]


def _statuses(act: Mapping[str, Any]) -> frozenset[int]:
    ruled = {401, 403} if act["access"] != "public" else set()
    ruled |= {422} if act["idempotent"] else set()
    ruled |= {429} if act["limit"] else set()
    own = {error["status"] for error in act["errors"]}.intersection(_ERRORS)  # others are the default
    return _ALWAYS | {409, 412} | ruled | own


def files_of(kind: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """Return the files of a ``set`` by their paths."""
    fields = (kind.get("fields") or {}).items() if kind["kind"] == "object" else ()
    return {f"set.{name}": inner for name, inner in fields if inner["kind"] == "file"}


def needs_file(act: Mapping[str, Any]) -> bool:
    """Tell whether each request of an act has a file, so that none is plain JSON."""
    return bool(_needed(files_of(act["set"])))


def form_of(entries: Sequence[ActEntry]) -> Schema:
    """Return the media type of requests with files; empty if no act takes any."""
    forms = [(entry, files) for entry in entries if (files := files_of(entry.act["set"]))]
    if not forms:
        return {}
    schemas = [_form(entry, files) for entry, files in forms]
    types = {path: ", ".join(kind["types"]) or "*/*" for _, files in forms for path, kind in files.items()}
    encoding = {path: {"contentType": type_} for path, type_ in {"gateway-body": "application/json", **types}.items()}
    return {_FORM: {"schema": schemas[0] if len(schemas) == 1 else {"oneOf": schemas}, "encoding": encoding}}


def _form(entry: ActEntry, files: Mapping[str, Any]) -> Schema:
    binary = {"type": "string", "format": "binary"}
    parts = {"gateway-body": {"$ref": f"{_SCHEMAS}{entry.key}.request"}, **dict.fromkeys(files, binary)}
    return object_of(parts, ["gateway-body", *_needed(files)])


def _needed(files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [path for path, kind in files.items() if kind["presence"] == "required"]

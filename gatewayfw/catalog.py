"""Builds the catalog of a gateway: JSON throughout, in a fixed order.

Its keys: ``{"format", "tokens", "maxBatch", "codes", "models", "services"}``.

- ``tokens``: where clients put a token: ``[{"in": "header" | "bearer" | "cookie", "name"}]``, never empty.
- ``maxBatch``: most acts that one request may ask for as a batch; 0 for no batches.
- ``codes``: what programs read of a refused value: kinds with the field ``code``, of which it has one, and its bounds.
- ``models``: by name ``{"fields": {name: kind}, "links": {name: link}}``; see
  `gatewayfw.schemas.kinds.descriptions` and `links_of`. Excluded fields do not exist in it. With policies each has
  ``rights``: ``[{"role", "sees", "rows", "writes", "hidden": [names], "own": [names], "fixed": [names]}]``. ``rows``
  says that some documents are not there for the role, ``own`` has the hidden names that its own documents show, the
  role null is nobody signed in. The model of files has ``files``, true, if ``GET {base}/gateway/files/<id>`` opens
  one to whom its hooks admit.
- ``services``: by name; ``{"remote": true}``, or ``{"remote": false, "acts": {model: {act: ...}}}``.

An act has ``description``, ``mode`` (``assert`` or ``create``), ``access`` (``public``, ``rule`` or
``open``, when nothing decides who may call it), ``roles`` (names of which a rule wants one, or null),
``token`` and ``role`` (where its hooks look for them, as in ``tokens``, a role also in ``set``; or null),
``mcp`` (whether it is offered to language models as a tool; or what it does: ``read``, ``add``, ``change``),
``limit`` (texts), ``idempotent`` (seconds that replies are kept for a repeated ``Idempotency-Key``; or
null), ``errors`` (``[{"status", "code", "message"}]``: what exceptions become that its author or the
gateway has given a status), ``hooks`` (``{"preValidation": [names], "preAct": [names]}``), ``maxGetDepth`` and
``maxGetLeaves`` (those in force), ``set``, ``get`` (kinds) and ``returns``: a kind, ``{"kind":
"documents", "model", "type": "one" | "optional" | "many", "get": [path within get]}``, or an object
of such, whose fields are ``picked`` where they are there only when ``get`` asks for them.

The order is that of registration, so equal code gives equal bytes. Source: our choice.
"""

from collections.abc import Iterable, Mapping
from typing import Any, get_args

from marshmallow.fields import Field

from gatewayfw.acts import Act, Acts
from gatewayfw.acts.hooks import find_marks
from gatewayfw.acts.replies import Exceptions, Returns, Selected
from gatewayfw.error_codes import ErrorBound, ErrorDetail
from gatewayfw.policies.declaration import Policy
from gatewayfw.policies.joining import OPEN, hidden_for_somebody, joined, may_lack
from gatewayfw.schemas import ModelSchema, Schemas
from gatewayfw.schemas.kinds.base import Description
from gatewayfw.schemas.kinds.descriptions import describe, describe_all, describe_sent
from gatewayfw.schemas.models import copied_model
from gatewayfw.schemas.relations import RelatedRelation, Relation
from gatewayfw.token_carriers import Carrier

#: Increased when readers of the catalog have to change.
FORMAT = 1

_NEEDED = {"presence": "required"}
_ANYTHING: Description = {"kind": "any", **_NEEDED}
_ANY_OBJECT: Description = {"kind": "object", "fields": None, **_NEEDED}


def build(schemas: Schemas, acts: Acts, roles: Iterable[str] = (), files: str | None = None) -> dict[str, Any]:
    """Return the catalog of what is registered now.

    ``roles`` are all that there are, ``files`` is the model whose files its hooks open.

    Raises:
        DefinitionError: a select struct names what does not exist.
    """
    services = acts.get_acts_with_services()
    return {
        "format": FORMAT,
        "tokens": [_place(carrier) for carrier in acts.token_carriers],
        "maxBatch": schemas.settings.max_batch,
        "codes": _codes(),
        "models": {name: _model(schemas, one, roles, name == files) for name, one in schemas.get_schemas().items()},
        "services": {name: _service(service, acts.exceptions) for name, service in services.items()},
    }


def _codes() -> list[Description]:
    """Return the descriptions of what is said of refused values."""
    words: dict[Any, Description] = {int: {"kind": "integer"}, ErrorBound: {"kind": "bound"}}
    words |= {str | None: {"kind": "string", "nullable": True}, list[Any]: {"kind": "array", "items": {"kind": "any"}}}

    def described(annotation: Any) -> Description:
        return {**(words.get(annotation) or {"kind": "enums", "choices": list(get_args(annotation))}), **_NEEDED}

    rows = [{name: described(one) for name, one in row.__annotations__.items()} for row in get_args(ErrorDetail)]
    return [{"kind": "object", "fields": fields, **_NEEDED} for fields in rows]


def _model(schemas: Schemas, model: ModelSchema, known: Iterable[str], opens_files: bool) -> dict[str, Any]:
    visible = {name: model.pure[name] for name in model.copy_fields()}
    id_ = {"kind": "object_id", **_NEEDED}
    fields, hidden = describe_all(visible), hidden_for_somebody(schemas, model.name)
    fields = {name: {**kind, "presence": "optional"} if name in hidden else kind for name, kind in fields.items()}
    rights = _rights(schemas, model.name, known) if schemas.policies_hold else []
    described = {"fields": {"_id": id_, **fields}, "links": links_of(schemas, model)}
    return {**described, **({"rights": rights} if rights else {}), **({"files": True} if opens_files else {})}


def _rights(schemas: Schemas, model: str, known: Iterable[str]) -> list[dict[str, Any]]:
    """Return what policies say of a model, by role; null is nobody signed in."""
    policies: tuple[Policy, ...] = schemas.policies
    roles = dict.fromkeys([*(role for policy in policies for role in policy.roles or ()), *known, None])
    found = []
    for role in roles:
        rights = joined(schemas, model, role) or OPEN
        own = sorted(name for name, owns in rights.hides.items() if owns)
        sees = {"sees": not rights.is_closed, "rows": rights.has_rows, "writes": rights.writes}
        found.append({"role": role, **sees, "hidden": sorted(rights.hides), "own": own, "fixed": sorted(rights.fixed)})
    return found


def links_of(schemas: Schemas, model: ModelSchema) -> dict[str, dict[str, Any]]:
    """Return the relations of a model and the reverse relations on it, by name.

    Each has ``model`` (whose documents are shown), ``type`` (``single`` or ``multiple``),
    ``optional`` (whether it may be absent, as a `single` one or for a policy), ``fields`` (what the copies show, `_id`
    first), ``limit`` and ``sort`` (``{"field", "order"}`` or null). A relation has ``reverses``, the
    names of the reverse relations it causes on ``model``, and ``frozen``, true, if its copies are frozen. A
    reverse relation has ``of``, the name of the relation of ``model`` that causes it, and ``default``, true,
    if members are listed in it unless the flag says false.
    """
    return {name: _link(schemas, link) for name, link in schemas.links(model.name).items()}


def _link(schemas: Schemas, link: Relation | RelatedRelation) -> dict[str, Any]:
    source = schemas.get_schema(copied_model(link))
    may_be_absent = link.optional if isinstance(link, Relation) else True
    holder = link.model if isinstance(link, Relation) else link.target
    may_be_absent |= schemas.policies_hold and may_lack(schemas, holder, source.name, shared=link.shared)
    is_hidden = link.name in hidden_for_somebody(schemas, holder)
    described: dict[str, Any] = {
        "model": source.name,
        "type": link.type,
        "optional": (link.type == "single" and may_be_absent) or is_hidden,
        "fields": ["_id", *source.copy_fields(link.excludes)],
        "limit": link.limit,
        "sort": None if link.sort is None else {"field": link.sort.field, "order": link.sort.order},
    }
    if isinstance(link, Relation):
        described["reverses"] = list(link.related_relations)
        return {**described, **({"frozen": True} if link.frozen else {})}
    return {**described, "of": link.relation, **({"default": True} if link.default else {})}


def _service(service: Mapping[str, Mapping[str, Act]] | str, shared: Exceptions) -> dict[str, Any]:
    if isinstance(service, str):
        return {"remote": True}
    acts = {model: {name: _act(act, shared) for name, act in by_name.items()} for model, by_name in service.items()}
    return {"remote": False, "acts": acts}


def _act(act: Act, shared: Exceptions) -> dict[str, Any]:
    fields = act.struct.fields or {}
    access, roles = _access(act)
    steps = list(find_marks(act.early_hooks))
    return {
        "description": act.description,
        "mode": act.validation_run_type,
        "access": access,
        "roles": roles,
        "token": _first_place(step.token for step in steps),
        "role": _first_place(step.role for step in steps),
        "mcp": act.mcp,
        "limit": list(act.limit or ()),
        "idempotent": act.once.seconds if act.once else None,
        "errors": _errors({**shared, **act.exceptions}),
        "hooks": {"preValidation": list(map(_name, act.pre_validation)), "preAct": list(map(_name, act.pre_act))},
        "maxGetDepth": act.bounds.max_get_depth,
        "maxGetLeaves": act.bounds.max_get_leaves,
        "set": _part(fields.get("set"), act.validation_run_type),
        "get": _part(fields.get("get"), act.validation_run_type),
        "returns": _returns(act.result, fields.get("get")),
    }


def _errors(exceptions: Exceptions) -> list[dict[str, Any]]:
    return [
        {"status": status, "code": code, "message": message}
        for status, code, message in dict.fromkeys(exceptions.values())
    ]


def _access(act: Act) -> tuple[str, list[str] | None]:
    if act.public:
        return "public", None
    rules = act.access_rules
    named = [role for hook in rules for rule in getattr(hook, "rules", ()) for role in rule.roles]
    return ("rule" if rules else "open"), (list(dict.fromkeys(named)) or None)


def _place(carrier: Carrier) -> dict[str, str]:
    return {"in": carrier.place, "name": carrier.name}


def _first_place(carriers: Iterable[Carrier | None]) -> dict[str, str] | None:
    return next((_place(carrier) for carrier in carriers if carrier is not None), None)


def _name(hook: Any) -> str:
    """Return the name of a hook; for a partial, that of its function."""
    function = getattr(hook, "func", hook)
    return str(getattr(function, "__name__", type(function).__name__))


def _part(field: Field[Any] | None, mode: str) -> Description:
    """Return the description of ``set`` or ``get``; any object for a function."""
    if field is None:
        return dict(_ANY_OBJECT)
    return describe_sent(field, mode)


def _returns(result: Returns, get: Field[Any] | None) -> Description:
    if result is None:
        return dict(_ANYTHING)
    if not isinstance(result, Mapping):
        return _returned(result)
    asked: Mapping[str, Any] = getattr(get, "fields", None) or {}
    fields = {name: {**_returned(part), "picked": name in asked} for name, part in result.items()}
    return {"kind": "object", "fields": fields, "presence": "required"}


def _returned(part: Selected | Field[Any]) -> Description:
    if isinstance(part, Selected):
        documents = {"kind": "documents", "model": part.select.model, "type": part.word}
        return {**documents, "get": list(part.path), "presence": "required"}
    return describe(part)

"""The TypeScript of a gateway: types and a client in one module.

A reply's type is inferred from the literal `get` of the call, key by key, as `gatewayfw.odm.reading.projection`
decides what is shown. The module is TypeScript 5.4 and later, in strict mode, and runs where there is
a ``fetch``: browsers, Node 18 and later, Deno, Bun.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from typing import Any, get_args

from gatewayfw.error_codes import GatewayCode
from gatewayfw.export import FROZEN, OPENING
from gatewayfw.export.typescript.kinds import DEEPEST, Asked, Sent, Shown, TypeMember, block, key, union
from gatewayfw.schemas.kinds.base import Description

#: What only a gateway that takes batches has, in `template.ts`.
_BATCH = re.compile(r"/\* batch \*/\n?(.*?)/\* end \*/\n?", re.DOTALL)

#: Linters advise against what types of any `get` and a client of any JSON need.
_HEAD = f"""// {OPENING}
/* eslint-disable -- types of any `get` and a client of any JSON */
// biome-ignore-all lint: types of any `get` and a client of any JSON
"""


def typescript(catalog: Mapping[str, Any]) -> str:
    """Return the source of the module for a catalog; equal catalogs give equal text."""
    models: Mapping[str, Any] = catalog["models"]
    described = block(TypeMember(name, _model(models, model)) for name, model in models.items())
    services = block(TypeMember(name, _service(models, service)) for name, service in catalog["services"].items())
    head = [_HEAD, f"export interface Models {described}\n", f"export interface Services {services}\n"]
    return "\n".join([*head, _rest(catalog)])


def _rest(catalog: Mapping[str, Any]) -> str:
    text = files("gatewayfw.export.typescript").joinpath("template.ts").read_text("utf-8")
    below = ", ".join(str(max(level - 1, 0)) for level in range(DEEPEST + 1))
    text = text.replace("/* levels below */", below).replace("{ token: client.token }", _token(catalog["tokens"]))
    text = text.replace("/* most */", str(catalog["maxBatch"]))
    text = text.replace("/* codes */", union(get_args(GatewayCode)))
    text = text.replace("/* details */", " | ".join(map(Shown().type, catalog["codes"])))
    return _BATCH.sub(r"\1" if catalog["maxBatch"] else "", text)


def _token(carriers: Iterable[Mapping[str, str]]) -> str:
    """Return the headers that carry the token; a browser sends a cookie of its own."""
    sent: dict[str, str] = {}
    for carrier in carriers:
        name, value = carrier["name"], "client.token"
        if carrier["in"] == "bearer":
            name, value = "Authorization", "`Bearer ${client.token}`"
        elif carrier["in"] == "cookie":
            before = f"{sent['Cookie'][1:-1]}; " if "Cookie" in sent else ""
            name, value = "Cookie", f"`{before}{carrier['name']}=${{client.token}}`"
        sent[name] = value
    return f"{{ {', '.join(f'{key(name)}: {value}' for name, value in sent.items())} }}"


def _model(models: Mapping[str, Any], model: Mapping[str, Any]) -> str:
    links = block(_link(models, name, link) for name, link in model["links"].items())
    return block([TypeMember("fields", block(Shown().members(model["fields"]))), TypeMember("links", links)])


def _link(models: Mapping[str, Any], name: str, link: Mapping[str, Any]) -> TypeMember:
    target = link["model"]
    hidden = [f"{target}.{field}" for field in models[target]["fields"] if field not in link["fields"]]
    word = "Many" if link["type"] == "multiple" else "One"
    text = f"{word}<{union([target])}{f', {union(hidden)}' if hidden else ''}>"
    return TypeMember(name, text, link["optional"], said_of(link))


def _service(models: Mapping[str, Any], service: Mapping[str, Any]) -> str:
    if service["remote"]:
        return "Remote"
    described = {
        model: block(TypeMember(name, _act(models, act), comment=comment_on(act)) for name, act in acts.items())
        for model, acts in service["acts"].items()
    }
    return block(TypeMember(model, text) for model, text in described.items())


def _act(models: Mapping[str, Any], act: Mapping[str, Any]) -> str:
    members = [_set(act["set"]), TypeMember("get", _get(models, act)), TypeMember("body", _body(act["returns"]))]
    return block([*members, *([TypeMember("idempotent", "true")] if act["idempotent"] else [])])


def _set(kind: Description) -> TypeMember:
    if kind["kind"] != "object" or kind["fields"] is None:
        return TypeMember("set", "object")
    needed = any(field["presence"] == "required" for field in kind["fields"].values())
    return TypeMember("set", Sent().type(kind), optional=not needed)


def _get(models: Mapping[str, Any], act: Mapping[str, Any]) -> str:
    known = act["get"]["kind"] in ("object", "selection")
    return Asked(models, act["maxGetDepth"]).type(act["get"]) if known else "AnyObject"


def _body(kind: Description) -> str:
    """Return what stands for an act's result; the module's `Body` makes its type."""
    if kind["kind"] == "documents":
        return _documents(kind)
    if kind["kind"] != "object" or not any("picked" in part for part in (kind["fields"] or {}).values()):
        return Shown().type(kind if kind["presence"] == "required" else {**kind, "nullable": True})
    always, asked = (list(_parts(kind, picked=picked)) for picked in (False, True))
    return f"Parts<{block(always)}, {block(asked)}>"


def _parts(kind: Description, *, picked: bool) -> Iterator[TypeMember]:
    for name, part in kind["fields"].items():
        if part["picked"] is picked:
            yield TypeMember(name, _body({**part, "presence": "required"}), part["presence"] == "optional")


def _documents(kind: Description) -> str:
    path = f", [{', '.join(union([name]) for name in kind['get'])}]" if kind["get"] else ""
    end = {"one": "", "optional": " | null", "many": "[]"}[kind["type"]]
    return f"Doc<{union([kind['model']])}{path}>{end}"


def said_of(link: Mapping[str, Any]) -> str:
    """Return the comment of a link: what it is the reverse of, its limit and order."""
    sort = link["sort"]
    of = f"reverse of {link['model']}.{link['of']}" if "of" in link else ""
    frozen = FROZEN if "frozen" in link else ""
    most = "" if link["limit"] is None else f"at most {link['limit']}"
    order = "" if sort is None else f"by {sort['field']} {sort['order']}ending"
    listed = "listed by default" if "default" in link else ""
    line = ", ".join(filter(None, [of, frozen, most, order, listed]))
    return line and f"{line[0].upper()}{line[1:]}."


def comment_on(act: Mapping[str, Any]) -> str:
    """Return the comment of an act: what it does, for whom, and its errors."""
    access = "For anyone." if act["access"] == "public" else ""
    roles = f"For the roles {', '.join(act['roles'])}." if act["roles"] else ""
    limit = f"At most {' and '.join(act['limit'])}." if act["limit"] else ""
    again = "May be repeated with a key." if act["idempotent"] else ""
    named = [f"{error['status']} {error['code']}" for error in act["errors"]]
    errors = f"Errors of its own: {', '.join(named)}." if named else ""
    last = " ".join(filter(None, [access, roles, limit, again, errors]))
    return "\n\n".join(filter(None, [act["description"], last]))

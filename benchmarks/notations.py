"""How services of each kind are asked: a work's details as a request, and a reply as the body it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from benchmarks.by_hand.reads import projection
from benchmarks.by_hand.writes import shaped
from benchmarks.load import Request
from benchmarks.works import Details, Work


@dataclass(frozen=True)
class Notation:
    """One kind of request.

    Attributes:
        request: makes the request of a work from its details.
        body: takes what the reply's JSON says, and gives what the works' own notation has as ``body``: the
            documents in the shape that ``get`` names, None when the reply is a refusal.
    """

    request: Callable[[Work, Details], Request]
    body: Callable[[Work, Details, Any], Any]


def _enveloped(work: Work, details: Details, reply: Any) -> Any:
    return reply["body"] if reply["success"] else None


def _routed(work: Work, details: Details) -> Request:
    return Request(f"/api/{work.act}", json.dumps(details).encode())


def _through_a_gateway(work: Work, details: Details) -> Request:
    named = {"model": work.model, "act": work.act, "details": details}
    return Request("/api/gateway", json.dumps(named).encode())


def _in_graphql(work: Work, details: Details) -> Request:
    kind = "mutation" if work.writes else "query"
    selection = f" {_selected(details['get'])}" if details["get"] else ""
    if not details["set"]:
        query = f"{kind} {{ {work.act}{selection} }}"
    else:
        type_ = work.act[0].upper() + work.act[1:] + "Set"
        query = f"{kind}($set: {type_}!) {{ {work.act}(set: $set){selection} }}"
    return Request("/api/graphql", json.dumps({"query": query, "variables": {"set": details["set"]}}).encode())


def _selected(get: Mapping[str, Any]) -> str:
    names = (f"{name} {_selected(value)}" if isinstance(value, dict) else name for name, value in get.items() if value)
    return "{ " + " ".join(names) + " }"


def _from_graphql(work: Work, details: Details, reply: Any) -> Any:
    return None if reply.get("errors") else reply["data"][work.act]


def _in_rest(work: Work, details: Details) -> Request:
    """The notation of Eve: a path for each document, and a query for what is asked for of it."""
    set_ = {name: value for name, value in details["set"].items() if name != "_id"}
    get = json.dumps(projection(details["get"]))
    path = f"/api/{work.model}"
    if work.name == "ping":
        return Request("/api/ping", b"", "GET")
    if work.name == "getUsers":
        where = json.dumps({"_id": {"$gt": set_["after"]}})
        asked = {"where": where, "sort": "_id", "max_results": set_["limit"], "projection": get}
        return Request(f"{path}?{urlencode(asked)}", b"", "GET")
    if work.adds:
        country = {"country": {"_id": set_["country"]}} if "country" in set_ else {}
        return Request(path, json.dumps(set_ | country).encode())
    one = f"{path}/{details['set']['_id']}"
    if work.writes:
        return Request(one, json.dumps(set_).encode(), "PATCH")
    return Request(f"{one}?{urlencode({'projection': get})}", b"", "GET")


def _from_rest(work: Work, details: Details, reply: Any) -> Any:
    """Eve gives fields of its own, and after a write the whole document."""
    if not isinstance(reply, dict):
        return reply
    if reply.get("_status") == "ERR":
        return None
    get = {"_id": 1, **details["get"]}
    if work.name == "getUsers":
        return [_shaped(one, get) for one in reply["_items"]]
    return _shaped(reply, get)


def _shaped(document: Mapping[str, Any], get: Mapping[str, Any]) -> dict[str, Any]:
    lists = {name: value for name, value in get.items() if isinstance(document.get(name), list)}
    one = shaped(dict(document), {name: value for name, value in get.items() if name not in lists})
    return one | {name: [shaped(item, value) for item in document[name]] for name, value in lists.items()}


#: A path for each work, the details as the body; replies in an envelope.
ROUTES = Notation(_routed, _enveloped)
#: One path, and a body that names model and act.
GATEWAY = Notation(_through_a_gateway, _enveloped)
GRAPHQL = Notation(_in_graphql, _from_graphql)
REST = Notation(_in_rest, _from_rest)

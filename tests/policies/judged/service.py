"""A gateway made of drawn definitions and policies, and a client that asks it what the judge judges."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from bson import ObjectId

from gatewayfw import any_, defaulted, gateway, integer, optional, string
from gatewayfw.errors import StillReferenced

#: In a drawn filter: the caller's own key.
ME = "me"
KINDS = {
    **{name: lambda: optional(string(size=(0, 40))) for name in ("a", "b", "c", "owner")},
    "d": lambda: defaulted(string(size=(0, 40)), "default"),
    "rank": lambda: optional(integer()),
}
OPERATORS = {"eq": "$eq", "in": "$in", "gte": "$gte"}


def as_filter(conditions) -> dict[str, Any] | None:
    """Return a filter of the database for a list of conditions."""
    if conditions is None:
        return None
    joined: dict[str, Any] = {}
    for path, operator, value in conditions:
        joined.setdefault(path, {})[OPERATORS[operator]] = value
    return joined


def as_json(value) -> Any:
    """Return a value as JSON has it: ids as text."""
    if isinstance(value, Mapping):
        return {name: as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return str(value) if isinstance(value, ObjectId) else value


class Service:
    """Models, policies and one act for each model, which does what ``set`` says in the caller's name."""

    def __init__(self, database, world) -> None:
        self.database, self.world = database, world
        self.ids: dict[str, list[ObjectId]] = {model: [] for model in world["definitions"]}
        self.gw = gateway(roles=["A", "B", "C"], max_batch=20, deadline=60)
        self.gw.odm.set_db(database)
        self.models = {name: self._model(name, one) for name, one in world["definitions"].items()}
        self.listings = {name: self._listing(name) for name in self.models}
        for policy in world["policies"]:
            self._declare(policy)
        for name in self.models:
            self._act(name)
        self.client = self.gw.create_app().test_client()

    def _model(self, name, definition):
        pure = {field: KINDS[field]() for field in definition["pure"]}
        return self.gw.odm.new_model(name, pure, definition["relations"], {"excludes": definition["excludes"]})

    def _listing(self, name):
        definition = self.world["definitions"][name]
        shown = [field for field in ("a", "b", "rank") if field not in definition["excludes"]]
        filters = {field: ["gte"] if field == "rank" else ["in"] for field in shown}
        filters |= {f"{relation}._id": ["in"] for relation in definition["relations"]}
        sort, default = [field for field in shown if field != "b"], definition["default_sort"]
        return self.models[name].listing(filter=filters, sort=sort, default_sort=default, most=2, count=True)

    def _declare(self, policy):
        keys = {key: value for key, value in policy.items() if key not in ("models", "own")}
        for key in ("rows", "write", "check"):
            if key in keys and not isinstance(keys[key], bool):
                keys[key] = self._function(keys[key])
        if "own" in policy:
            keys["own"] = lambda _context: self.resolved(policy, {})["own"]
        self.gw.policy(policy["models"], **keys)

    def _function(self, drawn):
        return lambda context: as_filter(self.conditions(drawn, context.get("user") or {}))

    def conditions(self, drawn, user):
        """Put the caller's key and the ids of documents into a drawn filter."""
        if drawn is None:
            return None
        return [(path, operator, self._value(value, user)) for path, operator, value in drawn]

    def _value(self, value, user):
        if isinstance(value, tuple):
            model, number = value
            return self.ids[model][number % len(self.ids[model])]
        if isinstance(value, list):
            return [self._value(one, user) for one in value]
        return user.get("key", "nobody") if value == ME else value

    def placed(self, ids):
        """Return the ids of documents that are drawn by model and number."""
        return self._value(list(ids), {})

    def resolved(self, policy, user) -> dict[str, Any]:
        """Return a policy as the judge takes it, for one user."""
        changed = {key: self.conditions(policy[key], user) for key in ("rows", "check") if key in policy}
        if not isinstance(policy.get("write", True), bool):
            changed["write"] = self.conditions(policy["write"], user)
        if "own" in policy:
            changed["own"] = [self._value(one, user) for one in policy["own"]]
        return {**policy, **changed}

    def _act(self, name):
        sent = {"caller": any_(), "do": any_()}
        self.gw.acts.act(name, "do", set=sent, get=3, pre_act=[self._sign_in])(
            lambda body: Doing(self, name, body["details"]["get"]).do(body["details"]["set"]["do"])
        )
        listing = self.listings[name]
        sent = {**listing.set, "caller": any_()}
        self.gw.acts.act(
            name, "page", set=sent, get=3, mode="create", pre_act=[self._sign_in], returns=listing.returns
        )(lambda body: listing.page(body["details"]))

    def _sign_in(self, body):
        caller = body["details"]["set"]["caller"]
        role = caller["role"] and {"name": caller["role"]}
        self.gw.context_fns.add_context({"user": caller["user"], "active_role": role})

    def fill(self):
        """Insert the drawn documents, then change and delete some, so that frozen copies differ."""
        for model, fields, relations in self.world["documents"]:
            links = self.links(model, {name: [self._value(one, {}) for one in ids] for name, ids in relations.items()})
            self.ids[model].append(self.models[model].insert_one(fields, relations=links, projection={})["_id"])
        for model, number, fields in self.world["later"]:
            wanted = {"_id": self.ids[model][number]}
            if fields is not None:
                self.models[model].find_one_and_update(wanted, {"$set": fields})
                continue
            try:
                self.models[model].delete_one(wanted)
            except StillReferenced:
                continue

    def links(self, model, relations):
        """Return what a write takes for ids by relation."""
        declared = self.world["definitions"][model]["relations"]
        single = {name for name, one in declared.items() if one["type"] == "single"}
        return {name: {"_ids": ids[0] if name in single else ids} for name, ids in relations.items()}

    def raw(self) -> dict[str, dict[Any, Any]]:
        """Return all documents, by model and id, without what the framework keeps for itself."""
        found = {}
        for model in self.models:
            documents = self.database[model].find({})
            found[model] = {one["_id"]: {k: v for k, v in one.items() if k != "_gw"} for one in documents}
        return found

    def body(self, request, caller) -> dict[str, Any]:
        """Return the body that asks for one thing in a caller's name."""
        sent = {"caller": caller, "do": as_json(request)}
        if request["op"] == "page":
            filters = {path: {operator: value} for path, operator, value in as_json(request["filter"])}
            sent = {"caller": caller, "filter": filters}
            sent |= {name: request[name] for name in ("sort", "limit", "after") if request.get(name)}
        details = {"set": sent, "get": request.get("get", {})}
        act = "page" if request["op"] == "page" else "do"
        return {"model": request["model"], "act": act, "details": details}

    def ask(self, body):
        """Send a body; return the status, the JSON, and every byte of the answer with its tokens opened."""
        reply = self.client.post("/gateway", json=body)
        text = reply.get_data(as_text=True) + str(reply.headers)
        return reply.status_code, reply.get_json(), text + opened(reply.get_json())


def opened(value) -> str:
    """Return what the tokens of listings in a reply hold."""
    if isinstance(value, Mapping):
        token = value.get("next")
        own = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)) if isinstance(token, str) else b""
        return own.decode("latin-1") + own.hex() + "".join(map(opened, value.values()))
    return "".join(map(opened, value)) if isinstance(value, list) else ""


class Doing:
    """One thing that an act does in the caller's name."""

    def __init__(self, service, model, get) -> None:
        self._service, self._model, self._get = service, service.models[model], get

    def do(self, request):
        """Do it, with the client's `get`."""
        return getattr(self, f"_{request['op']}")(request)

    def _find(self, request):
        rows = self._model.find(as_filter(request["filter"]), projection=request.get("projection", self._get))
        path, down = request["sort"].lstrip("-"), request["sort"].startswith("-")
        return rows.sort(path, "desc" if down else "asc").skip(request["skip"]).limit(request["limit"])

    def _find_one(self, request):
        return self._model.find_one(as_filter(request["filter"]), projection=request.get("projection", self._get))

    def _count(self, request):
        return self._model.count(as_filter(request["filter"]))

    def _exists(self, request):
        return self._model.exists(as_filter(request["filter"]))

    def _distinct(self, request):
        return [as_json(one) for one in self._model.distinct(request["path"], as_filter(request["filter"]))]

    def _links(self, request):
        return self._service.links(request["model"], request.get("relations", {}))

    def _insert(self, request):
        return self._model.insert_one(request["set"], relations=self._links(request), projection=self._get)

    def _update_of(self, request):
        update = {"$set": request.get("set"), "$inc": request.get("inc")}
        update["$unset"] = dict.fromkeys(request.get("unset", ()), "")
        return {operator: names for operator, names in update.items() if names}

    def _wanted(self, request):
        return {"_id": {"$in": request["ids"]}, **as_filter(request.get("filter", []))}

    def _update(self, request):
        return self._model.find_one_and_update(self._wanted(request), self._update_of(request), projection=self._get)

    def _upsert(self, request):
        wanted, update = {"_id": request["ids"][0]}, self._update_of(request)
        return self._model.find_one_and_update(wanted, update, upsert=True, projection=self._get)

    def _add(self, request):
        links, replace = self._links(request), request["replace"]
        return self._model.add_relation(self._wanted(request), relations=links, replace=replace, projection=self._get)

    def _remove(self, request):
        links = self._links(request)
        return self._model.remove_relation(self._wanted(request), relations=links, projection=self._get)

    def _delete(self, request):
        return self._model.delete_one(self._wanted(request), hard_cascade=request["cascade"])

    def _update_many(self, request):
        return self._model.update_many(self._wanted(request), self._update_of(request))

    def _delete_many(self, request):
        return self._model.delete_many(self._wanted(request), hard_cascade=request["cascade"])

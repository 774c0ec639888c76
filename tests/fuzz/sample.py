"""The sample service in memory with its demo data, as the fuzzers see it: requests, data, what a reply may show."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import mongomock
from hypothesis import strategies as st

from gatewayfw.acts import Act
from sample_service.app import create_service
from sample_service.demo import seed
from tests.fuzz.field_values import IDS
from tests.fuzz.hostile import good_bodies, hostile_bodies

HIDDEN = frozenset({"password", "_gw"})


class Sample:
    """One service with a Manager who sends every request; `restore` undoes what was written."""

    def __init__(self) -> None:
        self.database = mongomock.MongoClient().fuzz
        self.service = create_service(self.database, "k" * 32)
        seed(self.service)
        self.gw = self.service.gw
        self.client = self.gw.create_app().test_client()
        manager = self.service.users.find_one(filters={"email": "manager@example.com"})
        assert manager is not None
        self.role = str(manager["roles"][0]["roleId"])
        self.headers = {
            "Content-Type": "application/json",
            "token": self.service.auth.tokens.issue({"_id": str(manager["_id"])}),
        }
        self.start = self.data()
        self.acts: dict[str, Act] = {
            f"{model}.{name}": act for model, acts in self.gw.acts.get_main_acts().items() for name, act in acts.items()
        }

    def good(self, name: str, model: str | None = None) -> st.SearchStrategy[Any]:
        """Return a strategy of good bodies of an act, with ids of the model or of all, and the Manager's role."""
        chosen = self.start if model is None else {model: self.start[model]}
        found = sorted(str(one["_id"]) for documents in chosen.values() for one in documents)
        return good_bodies(self.gw, self.acts[name], ids=st.sampled_from(found) | IDS).map(self._with_role)

    def hostile(self, name: str) -> st.SearchStrategy[Any]:
        """Return a strategy of hostile bodies of an act, with the Manager's role where it stood before."""
        return hostile_bodies(self.gw, self.acts[name], details=self.good(name).map(lambda body: body["details"]))

    def post(self, body: Any) -> tuple[int, Any]:
        """Send a body; return status and envelope."""
        reply = self.client.post("/gateway", data=json.dumps(body).encode(), headers=self.headers)
        return reply.status_code, json.loads(reply.get_data())

    def data(self) -> dict[str, list[Any]]:
        """Return everything stored, by collection; one is made, empty, when it is first asked for something."""
        found = {name: list(self.database[name].find(sort=[("_id", 1)])) for name in self.collections()}
        return {name: documents for name, documents in found.items() if documents}

    def collections(self) -> list[str]:
        """Return the names of all collections."""
        return sorted(self.database.list_collection_names())

    def restore(self) -> None:
        """Bring the data back to the demo data."""
        for name in self.collections():
            self.database[name].delete_many({})
        for name, documents in self.start.items():
            self.database[name].insert_many(documents)

    def _with_role(self, body: Any) -> Any:
        fields = self.acts[f"{body['model']}.{body['act']}"].struct.fields
        if fields is not None and "activeRoleId" in (getattr(fields["set"], "fields", None) or {}):
            body["details"]["set"]["activeRoleId"] = self.role
        return body


def hidden_in(value: Any) -> set[str]:
    """Return the keys inside a reply that no reply may have."""
    if isinstance(value, list):
        return set().union(*map(hidden_in, value))
    if isinstance(value, dict):
        return (HIDDEN & value.keys()).union(*map(hidden_in, value.values()))
    return set()


def within(get: Mapping[str, Any], value: Any) -> bool:
    """Tell whether a reply has no key that its ``get`` does not ask for; ``_id`` comes unasked."""
    if isinstance(value, list):
        return all(within(get, item) for item in value)
    if not isinstance(value, dict):
        return True
    asked = {"_id": 1, **get}
    return all(
        asked.get(key, 0) != 0 and (not isinstance(asked[key], dict) or within(asked[key], item))
        for key, item in value.items()
    )

"""Fixtures of the tests of policies: a shop that rents items to its customers."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway, optional, string
from gatewayfw.context_variables import Caller, calling

ROLES = ["Clerk", "Customer", "Auditor"]


def define(gw):
    """Define the models of a shop: rentals of an item to a customer, which the customer lists."""
    many = {"rentals": {"type": "multiple", "limit": 3, "sort": {"field": "_id", "order": "asc"}}}
    gw.odm.new_model("tenant", {"name": string(size=(0, 50))})
    gw.odm.new_model("customer", {"name": string(size=(0, 50)), "email": optional(string(size=(0, 50)))})
    gw.odm.new_model("item", {"name": string(size=(0, 50)), "price": optional(string(size=(0, 50)))})
    links = {
        "customer": {"schemaName": "customer", "type": "single", "relatedRelations": many},
        "item": {"schemaName": "item", "type": "single", "optional": True},
    }
    gw.odm.new_model("rental", {"day": string(size=(0, 50)), "deposit": optional(string(size=(0, 50)))}, links)
    return gw


@pytest.fixture
def gw():
    """A gateway with the models of a shop, in memory."""
    gw = define(gateway(roles=ROLES))
    gw.odm.set_db(mongomock.MongoClient().test)
    return gw


class Shop:
    """A gateway with the models of a shop on some database, its documents, and a caller to try out.

    Ann has two rentals, of a lamp and of a rope; Bob has one, of the lamp.
    """

    def __init__(self, gw):
        self.gw = gw
        self.customers, self.items, self.rentals = map(gw.odm.model, ("customer", "item", "rental"))
        insert = self.customers.insert_one
        self.ann, self.bob = (insert({"name": name, "email": f"{name}@b.c"})["_id"] for name in ("ann", "bob"))
        insert = self.items.insert_one
        self.lamp, self.rope = (insert({"name": name, "price": f"{name} 9"})["_id"] for name in ("lamp", "rope"))
        self.first, self.second, self.third = (
            self.rent(*one)
            for one in [("mon", self.ann, self.lamp), ("tue", self.ann, self.rope), ("wed", self.bob, self.lamp)]
        )

    def rent(self, day, customer, item):
        """Insert a rental, which its customer lists; return its id."""
        links = {"customer": {"_ids": customer, "relatedRelations": {"rentals": True}}, "item": {"_ids": item}}
        return self.rentals.insert_one({"day": day, "deposit": f"{day} 5"}, relations=links)["_id"]

    def calls(self, role, **context):
        """Let a role call in a block."""
        return calling(self.gw.schemas, Caller(role, {"me": self.ann, **context}))

    def own_rentals(self):
        """Let customers see their own rentals, and clerks all."""
        self.gw.policy("rental", roles=["Customer"], rows=lambda context: {"customer._id": context["me"]})
        self.gw.policy("rental", roles=["Clerk"])


@pytest.fixture
def calls():
    """A function that lets a role call in a block."""
    return lambda gw, role, **context: calling(gw.schemas, Caller(role, context))


@pytest.fixture
def shop(database):
    """A `Shop` on an empty database."""
    gw = define(gateway(roles=ROLES))
    gw.odm.set_db(database)
    return Shop(gw)


@pytest.fixture
def sign_in(gw):
    """A hook: the user is whoever the header names, the role that of the header, too."""

    def sign_in():
        context = gw.context_fns.get_context_model()
        if "x-user" in context.Headers:
            user = {"_id": context.Headers["x-user"], "isGhost": context.Headers["x-user"] == "ghost"}
            gw.context_fns.add_context({"user": user})
        if "x-role" in context.Headers:
            gw.context_fns.add_context({"active_role": {"name": context.Headers["x-role"]}})

    return sign_in


@pytest.fixture
def serve(gw, sign_in):
    """A function that serves the gateway; what it returns calls an act as a role, and gives status, body and code."""
    gw.acts.use(pre_act=[sign_in])

    def start():
        client = gw.create_app().test_client()

        def call(role, model, act, set=None, get=None, *, user="ann", headers=()):
            sent = {"x-user": user, **({"x-role": role} if role else {}), **dict(headers)}
            if role is None:
                del sent["x-user"]
            body = {"model": model, "act": act, "details": {"set": set or {}, "get": get or {}}}
            reply = client.post("/gateway", json=body, headers=sent)
            return reply.status_code, reply.json["body"], reply.headers.get("X-Error-Code")

        call.client = client
        return call

    return start

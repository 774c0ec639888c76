"""Fixtures of the tests of policies: a shop that rents items to its customers."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import gateway, optional, string

ROLES = ["Clerk", "Customer", "Auditor"]


def define(gw):
    """Define the models of a shop: rentals of an item to a customer, which the customer lists."""
    many = {"rentals": {"type": "multiple", "limit": 3, "sort": {"field": "_id", "order": "asc"}}}
    gw.odm.new_model("tenant", {"name": string})
    gw.odm.new_model("customer", {"name": string, "email": optional(string)})
    gw.odm.new_model("item", {"name": string, "price": optional(string)})
    links = {
        "customer": {"schemaName": "customer", "type": "single", "relatedRelations": many},
        "item": {"schemaName": "item", "type": "single", "optional": True},
    }
    gw.odm.new_model("rental", {"day": string, "deposit": optional(string)}, links)
    return gw


@pytest.fixture
def gw():
    """A gateway with the models of a shop, in memory."""
    gw = define(gateway(roles=ROLES))
    gw.odm.set_db(mongomock.MongoClient().test)
    return gw


@pytest.fixture
def serve(gw):
    """A function that serves the gateway; what it returns calls an act as a role, and gives status, body and code.

    The user is whoever the header names; the role is that of the header, too.
    """

    def sign_in():
        context = gw.context_fns.get_context_model()
        if "x-user" in context.Headers:
            user = {"_id": context.Headers["x-user"], "isGhost": context.Headers["x-user"] == "ghost"}
            gw.context_fns.add_context({"user": user})
        if "x-role" in context.Headers:
            gw.context_fns.add_context({"active_role": {"name": context.Headers["x-role"]}})

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

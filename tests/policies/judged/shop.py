"""A small shop with customers, items and rentals, for tests of one rule each."""

from __future__ import annotations

from gatewayfw import any_, defaulted, gateway, integer, optional, string
from gatewayfw.odm import Odm

ROLES = ("Clerk", "Customer", "Auditor")
#: The number that each person's rental has, and that person's price.
ANN, BOB = "Ann", "Bob"


class Shop:
    """A gateway; policies are declared by tests, and each `ask` runs a function as an act in somebody's name.

    Ann and Bob have a rental each, `r-Ann` and `r-Bob`, of one lamp, which has both in its list.
    """

    def __init__(self, database, shared=(), **settings):
        for name in database.list_collection_names():
            database[name].delete_many({})
        self.gw = gw = gateway(**{"roles": [*ROLES], "max_batch": 5, **settings})
        gw.odm.set_db(database)
        self.policy, self.hooks, self.client = gw.policy, [], None
        self.work = lambda body: None
        self._models(gw.odm, {name: {"shared": True} for name in shared})
        self.listing = self.rentals.listing(
            filter={"number": ["eq"], "price": ["gte"], "customer.name": ["eq"], "customer": ["eq"]},
            sort=["number", "price", "customer.name"],
            count=True,
        )
        self._acts(gw.acts)
        self._fill()

    def _models(self, odm: Odm, shared):
        self.items = odm.new_model("item", {"name": string(), "price": optional(integer())})
        self.customers = odm.new_model("customer", {"name": string(size=(0, 20)), "phone": optional(string())})
        listed = {"type": "multiple", "default": True}
        customer = {"schemaName": "customer", "type": "single", "optional": False}
        customer |= {"relatedRelations": {"rentals": listed | shared.get("rentals", {})}, **shared.get("customer", {})}
        items = {"schemaName": "item", "type": "multiple", "optional": True}
        items |= {"relatedRelations": {"rentedIn": listed | shared.get("rentedIn", {})}, **shared.get("items", {})}
        pure = {"number": string(size=(0, 20)), "price": optional(integer()), "note": defaulted(string(), "none")}
        pure["secret"] = optional(string())
        by_number = {"indexSpec": {"number": 1}, "options": {"unique": True}}
        options = {"excludes": ["secret"], "createIndex": by_number}
        self.rentals = odm.new_model("rental", pure, {"customer": customer, "items": items}, options)

    def _acts(self, acts):
        for model in ("rental", "customer", "item"):
            acts.act(model, "do", set={"role": any_, "user": any_}, get=3, pre_act=[self.sign_in, self.hook])(
                lambda body: self.work(body)
            )
        acts.act(
            "rental", "list", set={**self.listing.set, "role": any_, "user": any_}, get=3, mode="create",
            pre_act=[self.sign_in], returns=self.listing.returns,
        )(lambda body: self.listing.page(body["details"]))  # fmt: skip

    def _fill(self):
        self.lamp = self.items.insert_one({"name": "lamp", "price": 7})["_id"]
        self.of, self.rented = {}, {}
        for number, name in enumerate((ANN, BOB)):
            id_ = self.of[name] = self.customers.insert_one({"name": name, "phone": f"phone of {name}"})["_id"]
            fields = {"number": f"r-{name}", "price": 10 + number, "secret": f"secret of {name}"}
            self.rented[name] = self.add(fields, id_)

    def add(self, fields, customer):
        """Insert a rental of the lamp; return its id."""
        links = {"customer": {"_ids": customer}, "items": {"_ids": [self.lamp]}}
        return self.rentals.insert_one(fields, relations=links, projection={})["_id"]

    def sign_in(self, body):
        """Put the caller into the context, as hooks of a service do; the user has the customer's id."""
        sent = body["details"]["set"]
        user = sent["user"] and {"_id": str(self.of[sent["user"]]), "isGhost": sent["role"] == "ghost"}
        role = sent["role"] if sent["role"] in ROLES else None
        self.gw.context_fns.add_context({"user": user, "active_role": role and {"name": role}})

    def hook(self, body):
        """Run the hooks of a test after the sign-in."""
        for hook in self.hooks:
            hook(body)

    def body(self, role, get=None, user=ANN, model="rental", act="do", **set_):
        """Return the body of a request in somebody's name; None as the user is nobody."""
        return {"model": model, "act": act, "details": {"set": {"role": role, "user": user, **set_}, "get": get or {}}}

    def send(self, body, **headers):
        """Send a body and return the reply."""
        self.client = self.client or self.gw.create_app().test_client()
        return self.client.post("/gateway", json=body, headers=headers)

    def ask(self, role, work, get=None, **named):
        """Run a function as an act, and return the body of the reply, or its status if it is refused."""
        self.work = lambda body: work()
        reply = self.send(self.body(role, get, **named))
        return reply.json["body"] if reply.status_code == 200 else reply.status_code

    def show(self, role, get, **named):
        """Return what a `get` shows of all documents of a model, in the order of `_id`."""
        models = {"rental": self.rentals, "customer": self.customers, "item": self.items}
        model = models[named.get("model", "rental")]
        self.work = lambda body: model.find(projection=body["details"]["get"]).sort("_id")
        reply = self.send(self.body(role, {"_id": 0, **get}, **named))
        return reply.json["body"] if reply.status_code == 200 else reply.status_code

    def page(self, role, get=None, **asked):
        """Return a page of the listing, or the status of its refusal."""
        reply = self.send(self.body(role, {"_id": 0, **(get or {})}, act="list", **asked))
        return reply.json["body"] if reply.status_code == 200 else reply.status_code

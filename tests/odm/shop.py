"""A shop whose orders hold frozen copies: what was sold, as it was on that day."""

from __future__ import annotations

from bson import ObjectId

from gatewayfw.schemas import integer, optional, string
from tests.odm.oracle import check

#: On a product: its orders, and the order that was made last.
REVERSES = {
    "orders": {"type": "multiple", "limit": 2, "sort": {"field": "number", "order": "desc"}, "default": True},
    "last": {"type": "single", "default": True},
}


def define_shop(odm, frozen=True, hidden=(), left_out=()):
    """Define makers, products and orders; ``hidden`` fields of products are excluded, or only from copies."""
    odm.new_model("maker", {"name": string()})
    maker = {"schemaName": "maker", "type": "single", "optional": True}
    pure = {"name": string(), "price": optional(integer()), "cost": optional(integer())}
    odm.new_model("product", pure, {"maker": maker}, {"excludes": list(hidden)})
    product = {"schemaName": "product", "type": "single", "frozen": frozen, "excludes": list(left_out)}
    gifts = {**product, "type": "multiple", "optional": True}
    odm.new_model(
        "order",
        {"number": integer()},
        {
            "product": {**product, "relatedRelations": REVERSES},
            "gifts": {**gifts, "relatedRelations": {"given": {"type": "multiple"}}},
        },
    )
    odm.new_model("receipt", {"text": string()}, {"order": {"schemaName": "order", "type": "single"}})
    return odm


class Shop:
    """The models, and what tests do with them."""

    def __init__(self, odm):
        self.odm = odm
        self.products, self.orders = odm.model("product"), odm.model("order")

    def add(self, name, price, **fields):
        return self.products.insert_one(doc={"name": name, "price": price, **fields})["_id"]

    def sell(self, number, product, *gifts, **flags):
        relations = {"product": {"_ids": product, "relatedRelations": flags}}
        if gifts:
            relations["gifts"] = {"_ids": list(gifts), "relatedRelations": {"given": True}}
        return self.orders.insert_one(doc={"number": number}, relations=relations)["_id"]

    def relate(self, order, name, ids, replace=False, **flags):
        related = {name: {"_ids": ids, "relatedRelations": flags}}
        return self.orders.add_relation(filters={"_id": order}, relations=related, replace=replace)

    def change(self, product, **fields):
        self.products.find_one_and_update(filter={"_id": product}, update={"$set": fields})

    def stored(self, model, id_):
        return next(self.odm.storage.find(model, {"_id": id_}), None)

    def sold(self, order):
        """The copies in an order: of its product, and of its gifts."""
        stored = self.stored("order", order)
        return [stored["product"], *stored.get("gifts", ())]

    def listed(self, product):
        """The numbers of the orders that a product lists, and of the last one."""
        stored = self.stored("product", product)
        return [one["number"] for one in stored.get("orders", ())], stored.get("last", {}).get("number")

    def problems(self):
        """What the judge of the tests says, and the integrity check."""
        return check(self.odm.schemas, self.odm.storage), list(self.odm.integrity.check())


def new_id():
    return ObjectId()

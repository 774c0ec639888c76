"""A gateway of two related models, and how tests run commands."""

from __future__ import annotations

import inspect

from click.testing import CliRunner
from flask import Flask

from gatewayfw import schemas
from gatewayfw.auth import access_rule
from gatewayfw.cli import gateway_group
from gatewayfw.core import gateway
from gatewayfw.schemas import number, string


def shop(database, optional=True, memory=False, **settings):
    """A gateway with two related models and an act of each kind."""
    gw = gateway(**settings)
    gw.odm.set_db(database, memory=memory)
    gw.odm.new_model("shop", {"name": string(), "secret": schemas.optional(string())}, options={"excludes": ["secret"]})
    reverse = {"items": {"type": "multiple", "limit": 5}, "first": {"type": "single"}}
    items = gw.odm.new_model(
        "item",
        {"name": string(), "price": number()},
        {"shop": {"schemaName": "shop", "type": "single", "optional": optional, "relatedRelations": reverse}},
    )

    @gw.acts.act("item", "addItem", set={"name": string(), "price": number()}, get=1, mode="create", public=True)
    def add_item(body):
        """Add an item.

        More about it.
        """
        return items.insert_one(doc=body["details"]["set"], projection=body["details"]["get"])

    @gw.acts.act("item", "whoAmI", public=True)
    def who_am_i(body):
        return gw.context_fns.get_context_model().Headers.get("token")

    gw.acts.set_service("far", "http://127.0.0.1:1", pre_act=[access_rule(lambda body: None)])
    return gw


def make_app(*, check=True, **gateways):
    """An app with each gateway under its name, in testing; its definitions are checked, or left to ``doctor``."""
    app = Flask("host")
    app.testing = True
    for name, gw in gateways.items():
        app.register_blueprint(gw.blueprint(name, check=check), url_prefix=f"/{name}")
    return app


#: For `CliRunner`: click before 8.2 puts both outputs into one, unless it is told not to.
APART = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}


def runner(app):
    """A function that runs a command of an app: exit status and output."""

    def run(*words):
        result = app.test_cli_runner().invoke(gateway_group, list(words))
        return result.exit_code, result.output

    return run


def stock(gw, items=1):
    """Add a shop with some items in its lists; return the shop's id and theirs."""
    relation = {"relatedRelations": {"items": True, "first": True}}
    shop_id = gw.odm.model("shop").insert_one(doc={"name": "corner"})["_id"]
    relations = {"shop": {"_ids": shop_id, **relation}}
    add = gw.odm.model("item").insert_one
    return shop_id, [add(doc={"name": str(n), "price": n}, relations=relations)["_id"] for n in range(items)]

"""What other people's tools are pointed at: the sample service, one with awkward kinds, and some only to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mongomock
import pytest

from gatewayfw.auth import Auth, Rule, Tokens, header
from gatewayfw.core import Gateway
from gatewayfw.errors import Unauthenticated
from gatewayfw.schemas import object_, string
from sample_service import demo
from sample_service.app import create_service
from tests.export.every_field import Service, every_row, make_service
from tests.export.market import market
from tests.export.village import village
from tests.fuzz.zoo import make_zoo
from tests.playground.service import TOKEN_KEY

KEEPER = {"_id": "0" * 24, "isGhost": True, "name": "Ann"}


def sample() -> Gateway:
    """The sample service with its demo data; it takes batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATEWAYFW_MAX_BATCH", "5")
        service = create_service(mongomock.MongoClient().sample, TOKEN_KEY)
    demo.seed(service)
    return service.gw


def things() -> Service:
    """A service with fields of every kind and a keeper who logs in; it takes batches."""
    # JSON.stringify writes a number such as 1e20 as an integer, which does not fit 64 bits. Generators make classes of
    # names: of `Boolean` and `boolean` the same.
    rows = {name.lower(): (name, row) for name, row in every_row().items() if not name.startswith("large_")}
    service = make_service(dict(rows.values()), max_batch=5)
    _keeper(service.gw)
    return service


def _keeper(gw: Gateway) -> None:
    tokens = Tokens(TOKEN_KEY)
    auth = Auth(gw.context_fns, tokens, lambda id_: KEEPER, role_from=header("role"))
    hooks = [auth.read_token, auth.load_user, auth.grant(Rule(roles=()))]
    named = object_({"name": string()})

    @gw.acts.act(
        "keeper", "login", set={"password": string()}, public=True, mcp="read", returns=object_({"token": string()})
    )
    def login(body: Any) -> Any:
        """Return a token."""
        if body["details"]["set"]["password"] != "secret words":
            raise Unauthenticated("wrong password")
        return {"token": tokens.issue({"_id": KEEPER["_id"]})}

    @gw.acts.act("keeper", "me", pre_act=hooks, mcp="read", returns=named)
    def me(body: Any) -> Any:
        """Return the keeper's name."""
        return {"name": KEEPER["name"]}


#: Gateways by name.
GATEWAYS: Mapping[str, Callable[[], Gateway]] = {
    "sample": sample,
    "awkward": lambda: things().gw,
    "village": village,
    "market": market,
    "zoo": make_zoo,
}
#: Documents by name: whose they are, and whether each act has a path of its own there.
DOCUMENTS = {
    **{name: (name, True) for name in GATEWAYS},
    "sample_in_one": ("sample", False),
    "market_in_one": ("market", False),
}

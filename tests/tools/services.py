"""What other people's tools are pointed at: the sample service, one with awkward kinds, and some only to be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import mongomock
import pytest

from gatewayfw.core import Gateway
from sample_service import demo
from sample_service.app import create_service
from tests.export.every_field import Service, every_row, make_service
from tests.export.market import market
from tests.export.village import village
from tests.fuzz.zoo import make_zoo
from tests.playground.service import TOKEN_KEY


def sample() -> Gateway:
    """The sample service with its demo data; it takes batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATEWAYFW_MAX_BATCH", "5")
        service = create_service(mongomock.MongoClient().sample, TOKEN_KEY)
    demo.seed(service)
    return service.gw


def things() -> Service:
    """A service with fields of every kind; it takes batches."""
    # JSON.stringify writes a number such as 1e20 as an integer, which does not fit 64 bits. Generators make classes of
    # names: of `Boolean` and `boolean` the same.
    rows = {name.lower(): (name, row) for name, row in every_row().items() if not name.startswith("large_")}
    return make_service(dict(rows.values()), max_batch=5)


#: Gateways by name.
GATEWAYS: Mapping[str, Callable[[], Gateway]] = {
    "sample": sample,
    "awkward": lambda: things().gw,
    "village": village,
    "market": market,
    "zoo": make_zoo,
}
#: Those of which tools read the document, and whether each act has a path of its own there.
DOCUMENTS = [("sample", False), ("market", False), *((name, True) for name in GATEWAYS)]

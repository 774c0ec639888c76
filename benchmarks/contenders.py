"""Who is measured: one table, to which a contender is added with one line."""

from __future__ import annotations

import importlib
import importlib.util
from dataclasses import dataclass
from typing import Any, Literal

from benchmarks.load import Request
from benchmarks.notations import GATEWAY, GRAPHQL, REST, ROUTES, Notation
from benchmarks.works import WORKS, Details, Work

#: The contender that all others are compared with, and the same again: the noise.
REFERENCE, TWIN = "reference", "reference again"
#: The reference for writes that promise as much as gatewayfw's.
PROTECTED = "in a transaction"


@dataclass(frozen=True)
class Contender:
    """A service: a function that makes its application, and the server that runs it.

    Attributes:
        make: ``module:function``, called with the database or its URI, for measurements in process.
        app: the name in the same module, called without arguments by the server.
        notation: how it is asked.
        needs: a module without which it is left out.
        only_writes: whether its reads are those of another contender.
    """

    name: str
    make: str
    app: str
    about: str
    server: Literal["gunicorn", "granian", "uvicorn"] = "gunicorn"
    notation: Notation = ROUTES
    needs: str | None = None
    only_writes: bool = False

    @property
    def target(self) -> str:
        """What the server loads: ``module:function``."""
        return f"{self.make.partition(':')[0]}:{self.app}"

    def works(self) -> list[Work]:
        """Return the works it is measured with."""
        return [work for work in WORKS.values() if work.writes or not self.only_writes]

    @property
    def gateway(self) -> bool:
        """Whether it is a gateway of gatewayfw."""
        return self.notation is GATEWAY

    @property
    def installed(self) -> bool:
        """Whether it can run here."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None

    def request(self, work: Work, details: Details) -> Request:
        """Return the request of a work."""
        return self.notation.request(work, details)

    def application(self, database: Any) -> Any:
        """Return the WSGI application, in this process."""
        module, _, name = self.make.partition(":")
        return getattr(importlib.import_module(module), name)(database)


_HAND = "benchmarks.by_hand.flask_app"
_OTHERS = "benchmarks.others"
ALL = (
    Contender(REFERENCE, f"{_HAND}:with_orjson", "orjson_app", "Flask by hand, marshmallow, orjson"),
    Contender(TWIN, f"{_HAND}:with_orjson", "orjson_app", "the same once more: the noise"),
    Contender(
        PROTECTED,
        f"{_HAND}:with_transactions",
        "transaction_app",
        "the same, writes in a transaction",
        only_writes=True,
    ),
    Contender(
        "blueprint", "benchmarks.service:in_flask", "blueprint_app", "gatewayfw in a Flask app", notation=GATEWAY
    ),
    Contender(
        "lane", "benchmarks.service:standalone", "lane_app", "gatewayfw's `create_app` on gunicorn", notation=GATEWAY
    ),
    Contender(
        "lane hiding",
        "benchmarks.service:hiding",
        "hiding_app",
        "the same with policies that hide a field",
        notation=GATEWAY,
    ),
    Contender(
        "lane observed",
        "benchmarks.service:observed",
        "observed_app",
        "the same with all observers of calls",
        notation=GATEWAY,
        needs="sentry_sdk",
    ),
    Contender(
        "lane on granian",
        "benchmarks.service:standalone",
        "lane_app",
        "gatewayfw's `create_app` on granian",
        "granian",
        notation=GATEWAY,
        needs="granian",
    ),
    Contender("stdlib json", f"{_HAND}:with_json", "json_app", "Flask by hand, marshmallow, Flask's own JSON"),
    Contender("lean", "benchmarks.by_hand.lean:make_app", "lean_app", "Flask by hand, plain checks, orjson"),
    Contender("bare", "benchmarks.by_hand.bare:make_app", "bare_app", "a WSGI function by hand, orjson"),
    Contender(
        "bare on granian",
        "benchmarks.by_hand.bare:make_app",
        "bare_app",
        "the same on granian",
        "granian",
        needs="granian",
    ),
    Contender(
        "fastapi",
        f"{_OTHERS}.fastapi_app:in_process",
        "fastapi_app",
        "FastAPI, PyMongo's asynchronous client, on uvicorn",
        "uvicorn",
        needs="fastapi",
    ),
    Contender("eve", f"{_OTHERS}.eve_app:make_app", "eve_app", "Eve", notation=REST, needs="eve"),
    Contender(
        "strawberry",
        f"{_OTHERS}.strawberry_app:make_app",
        "strawberry_app",
        "Strawberry GraphQL on Flask",
        notation=GRAPHQL,
        needs="strawberry",
    ),
)
#: Every contender that can run here, by name.
CONTENDERS = {one.name: one for one in ALL if one.installed}

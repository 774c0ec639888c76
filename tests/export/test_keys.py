"""What the generated clients do with idempotent acts: keys, retries, statuses and headers."""

from __future__ import annotations

import mongomock
import pytest

from gatewayfw import HttpError, Reply, gateway, integer
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from tests.export.checking import assert_told
from tests.export.compiling import COMPILERS
from tests.export.test_typescript_live import run

RIGHT = """\
from gateway_types import AnyClient
from gatewayfw.client import HttpClient

client: AnyClient = HttpClient("https://example.com")
n: int = client.call("thing", "add", set={"n": 1}, retries=3)
client.call("thing", "add", set={"n": 1}, key="order 17")
client.call("thing", "plain")
client.call("any", "act", service="far", retries=1)
"""

WRONG = """\
from gateway_types import AnyClient


def run(client: AnyClient) -> None:
    client.call("thing", "plain", retries=3)  #! call-overload
    client.call("thing", "add", set={"n": 1}, key=17)  #! call-overload
"""


def keyed():
    """A gateway whose idempotent act fails at its first try, and then counts its tries."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().keyed)
    tries = []

    @gw.acts.act(
        "thing",
        "add",
        set={"n": integer()},
        public=True,
        returns=integer(),
        idempotent="1h",
        idempotent_by=lambda body: "all",
    )
    def add(body):
        tries.append(body["details"]["set"]["n"])
        if len(tries) == 1:
            raise HttpError("busy", 503)
        return Reply(len(tries), 201, {"Location": f"/things/{tries[-1]}"})

    gw.acts.act("thing", "plain", public=True)(lambda body: None)
    gw.acts.set_service("far", "http://127.0.0.1:1")
    return gw


@pytest.mark.parametrize("compiler", COMPILERS)
def test_keys_compile_for_idempotent_acts_only(compiler, project):
    project("keyed_ok", "keyed_wrong", gateway=typescript(keyed().catalog())).compiles(compiler, "--noEmit")


def test_a_program_repeats_calls_with_one_key(project):
    assert run(project, keyed(), "keyed_live") == "once\n"


@pytest.mark.slow
def test_type_checkers_accept_keys_for_idempotent_acts_only(tmp_path):
    assert_told(tmp_path, python(keyed().catalog()), RIGHT, WRONG)

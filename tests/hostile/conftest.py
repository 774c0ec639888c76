"""Fixtures of the hostile requests: the service on waitress, behind each kind of gunicorn worker, and behind nginx."""

from __future__ import annotations

import os
import re

import pytest

from tests.faults.nginx import require_nginx
from tests.hostile.case import request_of
from tests.hostile.serving import serving
from tests.sample_service.serving import WORKER_CLASS, Gunicorn, Waitress

_ONE = ("--keep-alive", "60", "--workers", "1", "--worker-class")
#: One process of each kind. A sync worker has one thread: with more gunicorn makes it a `gthread` one.
SERVERS = {
    "sync": (Gunicorn, *_ONE, "sync", "--threads", "1"),
    WORKER_CLASS: (Gunicorn, *_ONE, WORKER_CLASS, "--threads", "4"),
    "waitress": (Waitress,),
    "nginx and gthread": (Gunicorn, "-c", "sample_service/gunicorn.conf.py", "--workers", "1"),
}
#: What gunicorn says of its worker.
WORKERS = {"sync": ["sync"], WORKER_CLASS: [WORKER_CLASS], "nginx and gthread": ["gthread"]}


@pytest.fixture(scope="module", params=[pytest.param(name, marks=pytest.mark.mongo) for name in SERVERS])
def served(request, mongod_uri, tmp_path_factory):
    """The service with the people of `people.py`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GATEWAYFW_FAN_OUT_THREAD", "false")  # of the service in this process, which only seeds
        folder, has_proxy = tmp_path_factory.mktemp("hostile"), request.param.startswith("nginx")
        if has_proxy:
            require_nginx()
        with serving(mongod_uri, folder, *SERVERS[request.param], has_proxy=has_proxy) as served:
            assert served.send(request_of({"method": "OPTIONS"}, served.key)).status == 204
            assert re.findall("Using worker: (.*)\n", served.logged()) == WORKERS.get(request.param, [])
            yield served
            print("{}: the slowest reply took {:.3f} s: {}".format(request.param, *served.slowest))


@pytest.fixture(scope="session")
def most_seconds():
    """How long a reply may take: 1 s with GATEWAYFW_TEST_FAULTS=1, on a quiet machine; else one for loaded ones."""
    return 1.0 if os.environ.get("GATEWAYFW_TEST_FAULTS") == "1" else 5.0

"""Time and CPU of 20 calls of `getUser`: as requests one after the other, as a batch, and as an atomic batch.

``python -m benchmarks.batch`` starts a database and a gunicorn worker, and ends them. Linux only.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flask import Flask
from pymongo import MongoClient
from urllib3 import PoolManager

from benchmarks import dataset, report
from benchmarks.dataset import Size, user_id
from benchmarks.replies import running
from benchmarks.service import make_gateway
from gatewayfw.testing.mongod import LocalMongod

CALLS, ROUNDS, TIMES = 20, 60, 5
_SIZE = Size(20, 400)
_GET = {"first_name": 1, "email": 1, "country": {"name": 1}}


def served() -> Flask:
    """Return the app that gunicorn loads."""
    return make_gateway(os.environ["BENCH_URI"], max_batch=CALLS).create_app()


def requests_of(number: int) -> list[dict[str, Any]]:
    """Return the requests of one round."""
    ids = [str(user_id((number * CALLS + one) % _SIZE.users)) for one in range(CALLS)]
    return [{"model": "user", "act": "getUser", "details": {"set": {"_id": id_}, "get": _GET}} for id_ in ids]


def _cpu(pid: int) -> float:
    """Return the seconds of CPU that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print a table of the three ways, whose rounds alternate."""
    with LocalMongod() as mongod:
        uri = mongod.uri.replace("/?", "/batch?")
        with MongoClient[dict[str, Any]](uri) as client:
            dataset.seed(client.get_default_database(), _SIZE)
        with running(uri, "benchmarks.batch:served()") as (url, pid), PoolManager(maxsize=1, retries=False) as pool:

            def post(body: Any) -> bool:
                assert pool.request("POST", url, json=body).json()["success"] is True
                return True

            ways: dict[str, Callable[[list[dict[str, Any]]], object]] = {
                f"{CALLS} requests": lambda bodies: [post(body) for body in bodies],
                "a batch": lambda bodies: post({"batch": bodies}),
                "an atomic batch": lambda bodies: post({"batch": bodies, "atomic": True}),
            }
            times: dict[str, list[float]] = {name: [] for name in ways}
            cpu = dict.fromkeys(ways, 0.0)
            for number in range(-1, ROUNDS):  # the first does not count
                for name, way in ways.items():
                    before, start = _cpu(pid), time.perf_counter()
                    for _ in range(TIMES):
                        way(requests_of(number))
                    if number >= 0:
                        times[name].append((time.perf_counter() - start) / TIMES * 1000)
                        cpu[name] += (_cpu(pid) - before) / TIMES / ROUNDS * 1000
    rows = [[name, *(f"{x:.1f}" for x in (min(of), statistics.median(of), cpu[name]))] for name, of in times.items()]
    print(report.table(["", "ms, least", "ms, median", "ms of the worker's CPU"], rows))


if __name__ == "__main__":
    main()

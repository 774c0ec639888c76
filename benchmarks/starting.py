"""What a start costs: definitions, and the first write on an empty and on a prepared database.

Each row is measured in processes of its own: ``python -m benchmarks.starting URI MODELS ACTS``.
"""

from __future__ import annotations

import json
import subprocess
import sys
import uuid
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

from pymongo import MongoClient
from pymongo.monitoring import CommandListener

from benchmarks import report
from gatewayfw import Gateway, string


class Counter(CommandListener):
    """Counts the commands of a client."""

    def __init__(self) -> None:
        self.count = 0

    def started(self, event: Any) -> None:
        """Count one."""
        self.count += 1

    def succeeded(self, event: Any) -> None:
        """Do nothing."""

    def failed(self, event: Any) -> None:
        """Do nothing."""


class Sizes(NamedTuple):
    """Numbers of models, each of which embeds the one before, and of acts, evenly on them."""

    rows: Sequence[tuple[int, int]] = ((1, 10), (50, 250), (500, 2500), (1, 5000))

    @classmethod
    def small(cls) -> Sizes:
        """Return sizes for orientation."""
        return cls(((1, 2), (3, 6)))


def define(models: int, acts: int) -> Gateway:
    """Return a gateway of so many models and acts."""
    gw = Gateway()
    for number in range(models):
        before = f"m{number - 1}"
        reverse = {"items": {"type": "multiple", "limit": 5}}
        link = {before: {"schemaName": before, "type": "single", "optional": True, "relatedRelations": reverse}}
        gw.odm.new_model(f"m{number}", {"name": string()}, link if number else {})
    for number in range(acts):
        model = f"m{number % models}"
        gw.acts.act(model, f"act{number}", set={"name": string()}, get=1, public=True)(lambda body: body)
    return gw


def first_write(uri: str, name: str, models: int, acts: int) -> dict[str, float]:
    """Define a gateway, and write its first document; return seconds, bytes and commands."""
    before, begun = _memory(), process_time()
    gw = define(models, acts)
    found = {"cpu": process_time() - begun, "memory": _memory() - before}
    counter = Counter()
    with MongoClient[dict[str, Any]](uri, event_listeners=[counter]) as client:
        client.admin.command("ping")
        gw.odm.set_db(client[name])
        counter.count, begun = 0, perf_counter()
        gw.odm.model("m0").insert_one({"name": "first"})
        found |= {"write": perf_counter() - begun, "commands": counter.count}
        begun = perf_counter()
        gw.odm.ready()
    return {**found, "ready": perf_counter() - begun}


def measured(uri: str, sizes: Sizes) -> tuple[str, dict[str, Any]]:
    """Measure each row on an empty, then on the prepared database; return Markdown and plain data."""
    found: list[tuple[int, int, dict[str, float], dict[str, float]]] = []
    for row in sizes.rows:
        name = f"bench_{uuid.uuid4().hex}"
        found.append((*row, _in_process(uri, name, *row), _in_process(uri, name, *row)))
        with MongoClient[dict[str, Any]](uri) as client:
            client.drop_database(name)
    head = ["models", "acts", "CPU, s", "memory, MB", "first write, empty", "all prepared, s", "first write, prepared"]
    rows = [
        [
            *(f"{models:,}", f"{acts:,}", f"{new['cpu']:.2f}", f"{new['memory'] / 1e6:.0f}"),
            *(_told(new), f"{new['ready']:.1f}", _told(old)),
        ]
        for models, acts, new, old in found
    ]
    return f"### A start, by models and acts\n\n{report.table(head, rows)}\n", {"rows": found}


def _told(found: dict[str, float]) -> str:
    return f"{found['write'] * 1000:.0f} ms, {found['commands']:.0f} commands"


def _in_process(uri: str, name: str, models: int, acts: int) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.starting", uri, name, str(models), str(acts)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _memory() -> int:
    """Return the bytes of memory that this process has to itself."""
    lines = Path("/proc/self/smaps_rollup").read_text("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) * 1024


if __name__ == "__main__":
    print(json.dumps(first_write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))))

"""Memory of one gunicorn worker while 8 requests at once ask for far too much, and just for what a reply may hold.

``python -m benchmarks.replies`` starts a database and a worker for each kind of row, and ends them. Linux only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bson import ObjectId, encode
from flask import Flask
from pymongo import MongoClient
from urllib3 import PoolManager

from benchmarks import report
from gatewayfw import any_, gateway, string
from gatewayfw.settings import Settings
from gatewayfw.testing.mongod import LocalMongod

AT_ONCE = 8
_ROOT = Path(__file__).parent.parent
_LISTENING = re.compile(r"Listening at: http://127\.0\.0\.1:(\d+)")
_BOOTED = re.compile(r"Booting worker with pid: (\d+)")
_BOOKS = {"author": {"books": {"author": {"books": {"text": 1}}}}}
_IDS = {"author": {"books": {"author": {"books": {"_id": 1}}}}}


@dataclass(frozen=True)
class Work:
    """What each book has, how many there are, and what is asked for by which act."""

    book: dict[str, Any]
    count: int
    get: dict[str, Any]
    act: str


def _text(size: int) -> dict[str, Any]:
    return {"text": "x" * size}


def _nested(count: int) -> dict[str, Any]:
    """Return objects in objects, 20 deep: nothing takes so much more memory in Python than in the database."""
    one: dict[str, Any] = {}
    for _ in range(20):
        one = {"a": one}
    return {"more": [one] * count}


WORKS = {
    "300 books of 5 kB, squared": Work(_text(5_000), 300, _BOOKS, "one"),
    "900 books of 20 bytes, squared": Work(_text(20), 900, _BOOKS, "one"),
    "520 books of 20 bytes, squared: about the bound": Work(_text(20), 520, _BOOKS, "one"),
    "690 ids, squared: about the bound": Work(_text(20), 690, _IDS, "one"),
    "900 books of 2 kB, squared": Work(_text(2_000), 900, _BOOKS, "one"),
    "85 books of 2 kB, squared: about the bound": Work(_text(2_000), 85, _BOOKS, "one"),
    "900 books of 20 bytes, of each of them": Work(_text(20), 900, {"author": {"books": {"text": 1}}}, "all"),
    "900 books of 20 kB": Work(_text(20_000), 900, {"text": 1}, "all"),
    "80 books of 1 MB": Work(_text(1_000_000), 80, {"text": 1}, "all"),
    "600,000 books of nothing but an id": Work({}, 600_000, {"_id": 1}, "all"),
    "95 books of 165 kB of nested objects, limit(1000)": Work(_nested(975), 95, {"more": 1}, "page"),
    "95 books of 165 kB of nested objects": Work(_nested(975), 95, {"more": 1}, "all"),
}


def served() -> Flask:
    """Return the app that gunicorn loads."""
    gw = gateway(fan_out_thread=False, max_body_text=2**20)
    gw.odm.set_db(os.environ["BENCH_URI"])
    gw.odm.new_model("author", {"name": string()})
    books = gw.odm.new_model(
        "book",
        {"text": string(size=(0, 2**20)), "more": any_},
        {"author": {"schemaName": "author", "type": "single", "relatedRelations": {"books": {"type": "multiple"}}}},
    )
    gw.acts.act("book", "one", get=8)(lambda body: books.find_one(projection=body["details"]["get"]))
    gw.acts.act("book", "all", get=8)(lambda body: books.find(projection=body["details"]["get"]))
    gw.acts.act("book", "page", get=8)(lambda body: books.find(projection=body["details"]["get"]).limit(1000))
    return gw.create_app()


@contextmanager
def running(uri: str, app: str = "benchmarks.replies:served()") -> Iterator[tuple[str, int]]:
    """Run an app in one worker of 8 threads; gives its URL and pid."""
    command = [sys.executable, "-m", "gunicorn", app, "--bind", "127.0.0.1:0"]
    command += ["--worker-class", "gthread", "--threads", str(AT_ONCE), "--no-control-socket"]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command, cwd=_ROOT, env={**os.environ, "BENCH_URI": uri}, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            for _ in range(600):
                log.seek(0)
                text = log.read()
                if (port := _LISTENING.search(text)) and (pid := _BOOTED.search(text)):
                    break
                time.sleep(0.1)
            else:
                raise RuntimeError(f"gunicorn does not start: {text}")
            yield f"http://127.0.0.1:{port[1]}/gateway", int(pid[1])
        finally:
            process.terminate()
            process.wait(60)


def seed(uri: str, work: Work) -> None:
    """Store an author with a work's books, as the models would."""
    with MongoClient[dict[str, Any]](uri) as client:
        database = client.get_default_database()
        client.drop_database(database.name)
        books = [{"_id": ObjectId(), **work.book} for _ in range(work.count)]
        author = {"_id": ObjectId(), "name": "Ann"}
        window = books if len(encode({"books": books})) < 15_000_000 else []
        database.author.insert_one({**author, "books": window})
        database.book.insert_many([{**book, "author": author} for book in books])


def measured(uri: str, work: Work) -> tuple[list[int], float, float, float]:
    """Return statuses and slowest seconds of requests at once, and MB at rest and at the peak."""
    warming = {"_id": 1, "author": {"books": {"author": 1}}} if work.act == "one" else {"_id": 1}
    with running(uri) as (url, pid), PoolManager(maxsize=AT_ONCE, timeout=60, retries=False) as pool:

        def ask(act: str, get: Any) -> tuple[int, float]:
            start = time.monotonic()
            body = {"model": "book", "act": act, "details": {"set": {}, "get": get}}
            reply = pool.request("POST", url, json=body)
            return reply.status, time.monotonic() - start

        for _ in range(AT_ONCE):
            ask("one", warming)
        rest, alone = _memory(pid, "VmRSS"), ask(work.act, work.get)[1]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            seen = list(threads.map(lambda _: ask(work.act, work.get), range(AT_ONCE)))
        return sorted({status for status, _ in seen}), alone, rest, _memory(pid, "VmHWM")


def _memory(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def main(*names: str) -> None:
    """Print a table of these works, or of all."""
    rows = []
    with LocalMongod() as mongod:
        uri = mongod.uri.replace("/?", "/replies?")
        for name in names or WORKS:
            seed(uri, WORKS[name])
            statuses, alone, rest, peak = measured(uri, WORKS[name])
            times = (peak - rest) * 1e6 / Settings.load(os.environ).max_reply_bytes
            cells = [name, json.dumps(statuses), f"{alone:.2f}", f"{rest:.0f}", f"{peak:.0f}", f"{times:.1f}"]
            rows.append(cells)
            print(*cells, sep=" | ", flush=True)
    head = ["", "statuses", "seconds alone", "MB at rest", f"MB at the peak of {AT_ONCE}", "above it, in bounds"]
    print(report.table(head, rows))


if __name__ == "__main__":
    main(*sys.argv[1:])

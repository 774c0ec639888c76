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
from pathlib import Path
from typing import Any

from bson import ObjectId
from flask import Flask
from pymongo import MongoClient
from urllib3 import PoolManager

from benchmarks import report
from gatewayfw import gateway, string
from gatewayfw.settings import Settings
from gatewayfw.testing.mongod import local_mongod

AT_ONCE = 8
_ROOT = Path(__file__).parent.parent
_LISTENING = re.compile(r"Listening at: http://127\.0\.0\.1:(\d+)")
_BOOTED = re.compile(r"Booting worker with pid: (\d+)")
_BOOKS = {"author": {"books": {"author": {"books": {"text": 1}}}}}
_IDS = {"author": {"books": {"author": {"books": {"_id": 1}}}}}
#: Characters of each book, how many there are, what is asked for, and of how many.
WORKS: dict[str, tuple[int, int, Any, int]] = {
    "300 books of 5 kB, squared": (5_000, 300, _BOOKS, 1),
    "900 books of 20 bytes, squared": (20, 900, _BOOKS, 1),
    "520 books of 20 bytes, squared: about the bound": (20, 520, _BOOKS, 1),
    "690 ids, squared: about the bound": (20, 690, _IDS, 1),
    "900 books of 2 kB, squared": (2_000, 900, _BOOKS, 1),
    "85 books of 2 kB, squared: about the bound": (2_000, 85, _BOOKS, 1),
    "900 books of 20 bytes, of each of them": (20, 900, {"author": {"books": {"text": 1}}}, 0),
    "900 books of 20 kB": (20_000, 900, {"text": 1}, 0),
    "80 books of 1 MB": (1_000_000, 80, {"text": 1}, 0),
}


def served() -> Flask:
    """Return the app that gunicorn loads."""
    gw = gateway(fan_out_thread=False, max_body_text=2**20)
    gw.odm.set_db(os.environ["BENCH_URI"])
    gw.odm.new_model("author", {"name": string()})
    books = gw.odm.new_model(
        "book",
        {"text": string(size=(0, 2**20))},
        {"author": {"schemaName": "author", "type": "single", "relatedRelations": {"books": {"type": "multiple"}}}},
    )
    gw.acts.act("book", "one", get=8)(lambda body: books.find_one(projection=body["details"]["get"]))
    gw.acts.act("book", "all", get=8)(lambda body: books.find(projection=body["details"]["get"]))
    return gw.create_app()


@contextmanager
def running(uri: str) -> Iterator[tuple[str, int]]:
    """Run one worker of 8 threads; gives its URL and pid."""
    command = [sys.executable, "-m", "gunicorn", "benchmarks.replies:served()", "--bind", "127.0.0.1:0"]
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


def seed(uri: str, size: int, count: int) -> None:
    """Store an author with so many books of so many characters, as the models would."""
    with MongoClient[dict[str, Any]](uri) as client:
        database = client.get_default_database()
        client.drop_database(database.name)
        books = [{"_id": ObjectId(), "text": "x" * size} for _ in range(count)]
        author = {"_id": ObjectId(), "name": "Ann"}
        window = books if size * count < 15_000_000 else []
        database.author.insert_one({**author, "books": window})
        database.book.insert_many([{**book, "author": author} for book in books])


def measured(uri: str, act: str, get: Any) -> tuple[list[int], float, float, float]:
    """Return statuses and slowest seconds of requests at once, and MB at rest and at the peak."""
    body = {"model": "book", "act": act, "details": {"set": {}, "get": get}}
    with running(uri) as (url, pid), PoolManager(maxsize=AT_ONCE, timeout=60, retries=False) as pool:

        def ask(details: Any) -> tuple[int, float]:
            start = time.monotonic()
            reply = pool.request("POST", url, json={**body, "details": details})
            return reply.status, time.monotonic() - start

        for _ in range(AT_ONCE):
            ask({"set": {}, "get": {"_id": 1, "author": {"books": {"author": 1}}} if act == "one" else {"_id": 1}})
        rest, alone = _memory(pid, "VmRSS"), ask(body["details"])[1]
        with ThreadPoolExecutor(AT_ONCE) as threads:
            seen = list(threads.map(lambda _: ask(body["details"]), range(AT_ONCE)))
        return sorted({status for status, _ in seen}), alone, rest, _memory(pid, "VmHWM")


def _memory(pid: int, name: str) -> float:
    found = re.search(rf"{name}:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def main() -> None:
    """Print a table of all works."""
    rows = []
    with local_mongod() as mongod:
        uri = mongod.uri.replace("/?", "/replies?")
        for name, (size, count, get, one) in WORKS.items():
            seed(uri, size, count)
            statuses, alone, rest, peak = measured(uri, "one" if one else "all", get)
            times = (peak - rest) * 1e6 / Settings.load(os.environ).max_reply_bytes
            cells = [name, json.dumps(statuses), f"{alone:.2f}", f"{rest:.0f}", f"{peak:.0f}", f"{times:.1f}"]
            rows.append(cells)
            print(*cells, sep=" | ", flush=True)
    head = ["", "statuses", "seconds alone", "MB at rest", f"MB at the peak of {AT_ONCE}", "above it, in bounds"]
    print(report.table(head, rows))


if __name__ == "__main__":
    main()

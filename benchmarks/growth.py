"""How cost grows: with rows, windows, copies, models, leaves of `get` and bytes of the body.

All in one process, through the WSGI application: the CPU time of the calling thread, and wall time
where it is the database that works. The least of some repeats counts.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from bson import ObjectId
from flask import Flask
from pymongo import MongoClient
from pymongo.database import Database

from benchmarks import chart, dataset, migrating, report
from benchmarks.canned import CannedStorage
from benchmarks.contenders import CONTENDERS, REFERENCE
from benchmarks.counting import call
from benchmarks.dataset import Size, country_id, new_user, user_id
from benchmarks.load import Request
from benchmarks.service import make_gateway
from benchmarks.works import WORKS
from gatewayfw import array, gateway, integer, object_id, string
from gatewayfw.core import Gateway
from gatewayfw.odm import Odm

Document = dict[str, Any]
_PATH = "/api/gateway"
#: Seconds that the copies of a large fan-out may take.
_LONGEST = 120.0
#: Calls that are timed together where one is short.
_CALLS = 50


@dataclass
class Growth:
    """Figures of one thing that grows: by series, the value at each size."""

    title: str
    of: str
    unit: str
    series: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def add(self, name: str, size: float, value: float) -> None:
        """Note one figure."""
        self.series.setdefault(name, []).append((size, value))

    def markdown(self) -> str:
        """Return a table: a row for each size."""
        sizes = sorted({x for line in self.series.values() for x, _ in line})
        known = {name: dict(line) for name, line in self.series.items()}
        rows = [
            [f"{size:,.0f}", *(_figure(line[size]) if size in line else "-" for line in known.values())]
            for size in sizes
        ]
        return f"**{self.title}**, {self.unit}\n\n" + report.table([self.of, *self.series], rows)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


@dataclass(frozen=True)
class Sizes:
    """Which sizes are measured."""

    rows: tuple[int, ...] = (1, 10, 100, 1_000, 10_000)
    windows: tuple[int, ...] = (10, 100, 1_000)
    members: int = 2_000
    copies: tuple[int, ...] = (1, 10, 100, 1_000, 10_000, 100_000)
    models: tuple[int, ...] = (10, 50, 100, 250, 500)
    leaves: tuple[int, ...] = (1, 10, 100, 500)
    kilobytes: tuple[int, ...] = (1, 10, 100, 1_000)
    migrated: tuple[int, ...] = (1_000, 10_000, 100_000)
    searched: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    repeats: int = 20

    @classmethod
    def small(cls) -> Sizes:
        """Return what takes some seconds."""
        return cls((1, 100), (10, 50), 100, (1, 500), (2, 4), (1, 10), (1, 10), (100,), (100,), 2)


def in_flask(gw: Gateway) -> Flask:
    """Return an app with the gateway."""
    app = Flask(__name__)
    app.register_blueprint(gw.blueprint(), url_prefix="/api")
    return app


def asked(model: str, act: str, set_: Mapping[str, Any], get: Mapping[str, Any]) -> Request:
    """Return a request to a gateway."""
    return Request(_PATH, json.dumps({"model": model, "act": act, "details": {"set": set_, "get": get}}).encode())


def least(fn: Callable[[], object], repeats: int, clock: Callable[[], float] = time.thread_time) -> float:
    """Return the least seconds of some repeats, after one that does not count."""
    fn()
    times = []
    for _ in range(max(1, repeats)):
        start = clock()
        fn()
        times.append(clock() - start)
    return min(times)


def lists(database: Database[Document], sizes: Sizes) -> Growth:
    """Read lists of users."""
    growth = Growth("Lists: getUsers", "rows", "us CPU per request")
    dataset.seed(database, Size(200, max(sizes.rows) + 2))
    get = {"_id": 1, "first_name": 1, "last_name": 1, "email": 1, "country": {"_id": 1, "name": 1}}
    for name in (REFERENCE, "blueprint"):
        contender = CONTENDERS[name]
        app = contender.application(database)
        for rows in sizes.rows:
            details = {"set": {"after": str(user_id(0)), "limit": rows}, "get": get}
            request = contender.request(WORKS["getUsers"], details)
            growth.add(name, rows, least(partial(call, app, request), sizes.repeats) * 1e6)
    return growth


def windows(database: Database[Document], sizes: Sizes) -> Growth:
    """Add users to a country whose window is full."""
    growth = Growth("Windows: addUser to a full one", "limit", "us per request")
    for limit in sizes.windows:
        _one_country(database, limit + 5)
        app = in_flask(make_gateway(database, window=limit, fan_out_thread=False))
        set_ = {**new_user(1), "country": str(country_id(0))}
        request = asked("user", "addUser", set_, {"_id": 1})
        growth.add("CPU", limit, least(partial(call, app, request), sizes.repeats) * 1e6)
        wall = least(partial(call, app, request), sizes.repeats, time.perf_counter)
        growth.add("until the reply", limit, wall * 1e6)
    return growth


def many(database: Database[Document], sizes: Sizes) -> Growth:
    """Change the field that sorts a window, and then delete the members, by the many-forms."""
    growth = Growth("Many: members of one window", "limit", "documents per second")
    for limit in sizes.windows:
        _one_country(database, sizes.members)
        users = make_gateway(database, window=limit, sort="age", fan_out_thread=False).odm.model("user")
        works: dict[str, Callable[..., object]] = {
            "update_many of the sort field": partial(users.update_many, update={"$inc": {"age": 1}}),
            "delete_many": users.delete_many,
        }
        for name, work in works.items():
            start = time.perf_counter()
            work({"country._id": country_id(0)})
            growth.add(name, limit, sizes.members / (time.perf_counter() - start))
    return growth


def fan_out(database: Database[Document], sizes: Sizes) -> Growth:
    """Rename a country that many users embed; above the setting `inline_limit` a job writes the copies."""
    growth = Growth("Fan-out: rename with copies", "copies", "ms, wall")
    for copies in sizes.copies:
        _one_country(database, copies)
        app = in_flask(make_gateway(database))
        repeats = sizes.repeats if copies <= 1_000 else 2
        replies, done = [], []
        for number in range(repeats + 1):
            name = f"Country {number}"
            start = time.perf_counter()
            call(app, asked("country", "rename", {"_id": str(country_id(0)), "name": name}, {"_id": 1}))
            replies.append(time.perf_counter() - start)
            _until_all_are_called(database, name, start)
            done.append(time.perf_counter() - start)
        growth.add("until the reply", copies, min(replies[1:]) * 1e3)
        growth.add("until every copy is right", copies, min(done[1:]) * 1e3)
    return growth


def _until_all_are_called(database: Database[Document], name: str, start: float) -> None:
    stale = {"country._id": country_id(0), "country.name": {"$ne": name}}
    while database.user.find_one(stale, {"_id": 1}) or database["_gw_jobs"].find_one({}):
        if time.perf_counter() - start > _LONGEST:
            raise RuntimeError(f"copies are still stale after {_LONGEST:.0f} s")
        time.sleep(0.002)


def checks(database: Database[Document], sizes: Sizes) -> Growth:
    """Check the copies of one country: all of them right, and all of them left to a job."""
    growth = Growth("Check: copies of one country", "copies", "ms, wall")
    for copies in sizes.copies:
        _one_country(database, copies)
        odm = make_gateway(database, fan_out_thread=False).odm

        def check(odm: Odm = odm) -> float:
            return least(lambda: list(odm.integrity.check()), 2, time.perf_counter) * 1e3

        growth.add("all are right", copies, check())
        with odm.leave_to_jobs():
            odm.model("country").find_one_and_update({"_id": country_id(0)}, {"$set": {"name": "new"}})
            growth.add("a job is pending", copies, check())
    return growth


def _one_country(database: Database[Document], users: int) -> None:
    """Fill the database with one country and its users."""
    for name in ("user", "country", "_gw_jobs"):
        database[name].delete_many({})
    dataset.seed(database, Size(1, users))


def migrations(database: Database[Document], sizes: Sizes) -> Growth:
    """Migrate documents without copies and with ten: what the plan says, and what it takes."""
    growth = Growth("Migrations of documents: as planned, and as it took", "documents", "s, wall")
    for copies, number in product((0, 10), sizes.migrated):
        for name, planned, taken in migrating.plan_and_run(database, number, copies):
            growth.add(f"{name}, {copies} copies: plan", number, planned)
            growth.add(f"{name}, {copies} copies", number, taken)
    return growth


def searches(uri: str, database: Database[Document], sizes: Sizes) -> Growth:
    """Search for misfits among documents of six fields."""
    growth = Growth("Check --fit: documents of six fields", "documents", "s CPU, and MB of memory at most")
    for number in sizes.searched:
        found = migrating.search(uri, database, number)
        growth.add("seconds", number, found["seconds"])
        growth.add("MB", number, found["memory"])
    return growth


def leaves(database: Database[Document], sizes: Sizes) -> Growth:
    """Read a document of 500 fields, some of them selected."""
    growth = Growth("Leaves of get: findOne", "leaves", "us CPU per request")
    names = [f"field_{number:03}" for number in range(max(sizes.leaves))]
    gw = gateway(fan_out_thread=False)
    gw.odm.set_db(database)
    wide = gw.odm.new_model("wide", {name: string() for name in names})
    database.wide.insert_one({"_id": ObjectId(f"{1:024x}"), **dict.fromkeys(names, "some text")})

    @gw.acts.act("wide", "getWide", set={"_id": object_id()}, get=1)
    def get_wide(body: Document) -> Any:
        details = body["details"]
        return wide.find_one(filters={"_id": details["set"]["_id"]}, projection=details["get"])

    app = in_flask(gw)
    for count in sizes.leaves:
        request = asked("wide", "getWide", {"_id": f"{1:024x}"}, dict.fromkeys(names[:count], 1))
        growth.add("blueprint", count, least(partial(call, app, request), sizes.repeats) * 1e6)
    return growth


def bodies(sizes: Sizes) -> Growth:
    """Send bodies of some size: a list of texts of 64 characters."""
    growth = Growth("Bodies: a list of texts", "kB", "us CPU per request")
    gw = gateway()

    @gw.acts.act("main", "take", set={"texts": array(string())})
    def take(body: Document) -> int:
        return len(body["details"]["set"]["texts"])

    app = in_flask(gw)
    for kilobytes in sizes.kilobytes:
        texts = ["x" * 64] * (kilobytes * 1000 // 68)
        request = asked("main", "take", {"texts": texts}, {})
        growth.add("blueprint", kilobytes, least(partial(call, app, request), sizes.repeats) * 1e6)
    return growth


def models(sizes: Sizes) -> list[Growth]:
    """Start gateways with many models of ten acts each, each in a process of its own."""
    start = Growth("Models with 10 acts each: start-up", "models", "ms CPU")
    memory = Growth("Models with 10 acts each: memory above none", "models", "MB, resident")
    request = Growth("Models with 10 acts each: one request", "models", "us CPU")
    for count in sizes.models:
        words = [sys.executable, "-m", "benchmarks.growth", str(count), str(sizes.repeats)]
        root = Path(__file__).parent.parent
        done = subprocess.run(words, cwd=root, capture_output=True, text=True, timeout=_LONGEST, check=True)
        figures = json.loads(done.stdout)
        start.add("models and acts", count, figures["start"] * 1e3)
        memory.add("resident", count, figures["memory"] / 1e6)
        request.add("first", count, figures["first"] * 1e6)
        request.add("later, no database", count, figures["ping"] * 1e6)
        request.add("later, getOne", count, figures["get"] * 1e6)
    return [start, memory, request]


def many_models(count: int, repeats: int) -> dict[str, float]:
    """Make a gateway with so many models, and ask the last one; seconds and bytes."""
    before, start = _resident(), time.thread_time()
    gw = gateway()
    gw.odm.set_db(CannedStorage(), memory=True)
    for number in range(count):
        _model(gw, f"model_{number}")
    app = in_flask(gw)
    started, memory = time.thread_time() - start, _resident() - before
    last = f"model_{count - 1}"
    get = asked(last, "act_0", {"_id": f"{1:024x}", "age": 1}, {"_id": 1, "name": 1})
    ping = asked(last, "act_1", {"_id": f"{1:024x}", "age": 1}, {"_id": 1, "name": 1})
    start = time.thread_time()
    call(app, get)
    first = time.thread_time() - start
    later = {"get": partial(_calls, app, get), "ping": partial(_calls, app, ping)}
    many = {name: least(one, repeats) / _CALLS for name, one in later.items()}
    return {"start": started, "memory": float(memory), "first": first, **many}


def _calls(app: Flask, request: Request) -> None:
    for _ in range(_CALLS):
        call(app, request)


def _model(gw: Gateway, name: str) -> None:
    fields = {"name": string(), "title": string(), "age": integer(), "note": string(), "population": integer()}
    model = gw.odm.new_model(name, fields)
    set_ = {"_id": object_id(), "age": integer()}

    def get_one(body: Document) -> Any:
        return model.find_one(filters={"_id": body["details"]["set"]["_id"]}, projection=body["details"]["get"])

    gw.acts.act(name, "act_0", set=set_, get=1)(get_one)
    for number in range(1, 10):
        gw.acts.act(name, f"act_{number}", set=set_, get=1)(lambda body: "pong")


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def measured(uri: str, sizes: Sizes, log: Callable[[str], None] = print) -> tuple[str, dict[str, Any], str]:
    """Measure all growth; return Markdown, plain data and a chart."""
    found: list[Growth] = []
    # One client, closed last: gateways look for jobs of theirs from a thread as long as there is one.
    with MongoClient[Document](uri, w="majority") as client:
        for one in (lists, windows, fan_out, many, checks, leaves, migrations, partial(searches, uri)):
            name = f"bench_{random.randrange(16**8):08x}"
            try:
                found.append(one(client[name], sizes))
            finally:
                client.drop_database(name)
            log(found[-1].markdown() + "\n")
    for growth in (bodies(sizes), *models(sizes)):
        found.append(growth)
        log(growth.markdown() + "\n")
    charts = [chart.lines(one.title, one.unit, one.series) for one in found]
    return "\n\n".join(_texts(found)) + "\n", {"growth": [vars(one) for one in found]}, chart.stacked(charts)


def _texts(found: Sequence[Growth]) -> Iterable[str]:
    yield "### Growth"
    yield by_size(*found[:3])
    yield from (one.markdown() for one in found)


def by_size(lists: Growth, windows: Growth, copies: Growth) -> str:
    """Return one table of reads and writes: a row for each size, all in ms."""
    together = Growth("By size", "size", "ms: CPU of a read of so many rows, wall time of the others")
    columns = [
        (f"rows read, {REFERENCE}", lists.series[REFERENCE], 1e-3),
        ("rows read, blueprint", lists.series["blueprint"], 1e-3),
        ("add to a full window of that size", windows.series["until the reply"], 1e-3),
        ("rename with so many copies", copies.series["until the reply"], 1.0),
        ("until every copy is right", copies.series["until every copy is right"], 1.0),
    ]
    for name, line, factor in columns:
        for size, value in line:
            together.add(name, size, value * factor)
    return together.markdown()


if __name__ == "__main__":
    print(json.dumps(many_models(int(sys.argv[1]), int(sys.argv[2]))))

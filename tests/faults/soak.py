"""What a soak does and watches: clients that remember what they were told, faults, samples, and what grows.

A series of samples is flat when a line through it rises little. The line's slope is the median of the slopes between
all pairs of samples (Theil and Sen), so that neither one moment nor the saws of caches and expiring records decide.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import os
import random
import signal
import time
from collections import Counter, deque
from contextlib import suppress
from pathlib import Path
from statistics import median

import urllib3
from pymongo.errors import PyMongoError
from urllib3.exceptions import HTTPError

from gatewayfw.client import CallError, HttpClient
from gatewayfw.client.replies import may_pass

#: Seconds within which each call must be done, through a failover.
PATIENCE = 60.0
#: Cities and files that each client keeps; those beyond are removed, oldest first.
CITIES, FILES = 60, 5
#: The share of its level that a series may rise by while it is judged: of memory, of counts.
MEMORY, COUNTS = 0.06, 0.25
#: What each may rise by anyway.
LEAST = 3.0
#: How many calls were done in a second.
PACE = "pace"
#: What the members of the replica set are told: to expire and forget every second or few.
PARAMETERS = {"ttlMonitorSleepSecs": 1, "logicalSessionRefreshMillis": 5000}


def slope(times, values):
    """Return the median of the slopes between all pairs of samples."""
    pairs = itertools.combinations(zip(times, values, strict=True), 2)
    return median((second - first) / (after - before) for (before, first), (after, second) in pairs)


def growing(times, series):
    """Return by how much the line through each series rises that is not flat.

    What is kept for some seconds is as much more as there are more calls in a second, the series `PACE`.
    """
    rises = {name: slope(times, values) * (times[-1] - times[0]) for name, values in series.items()}
    quicker = max(0.0, rises.pop(PACE, 0.0)) / median(series.get(PACE, [1]))
    shares = {name: MEMORY if name.endswith("MB") else COUNTS + quicker for name in rises}
    return {name: rise for name, rise in rises.items() if rise > max(LEAST, shares[name] * median(series[name]))}


class SoakClient:
    """A client that knows what there must be: all its calls are repeated until they are acknowledged."""

    def __init__(self, url, number, land, name):
        self._http = HttpClient(url, timeout=30, connections=1)
        self._files = urllib3.PoolManager(retries=False, timeout=30)
        self._url, self._number, self._land = url, number, land
        self._chance = random.Random(number)
        self._names = (f"city {number} {n}" for n in itertools.count())
        self.cities, self.files, self.name, self.told = deque(), {}, name, Counter()
        steps = {self.add: 4, self.add_batch: 1, self.rename: 1, self.read: 6, self.keep: 2, self.lose: 0.1}
        self._steps, self._weights = list(steps), list(steps.values())

    def step(self):
        """Do something at random."""
        self._chance.choices(self._steps, self._weights)[0]()

    def close(self):
        self._http.close()
        self._files.clear()

    def add(self):
        name = next(self._names)
        self._call("city", "addOnce", name=name, land=self._land)
        self._note(name)

    def add_batch(self):
        names = [next(self._names) for _ in range(3)]
        given = [{"model": "city", "act": "add", "set": {"name": name, "land": self._land}} for name in names]

        def send():
            failed = [one for one in self._http.batch(given, atomic=True) if isinstance(one, CallError)]
            # The one because of which the others are not done.
            if failed:
                raise next((one for one in failed if one.code != "not_done"), failed[0])

        # After an unknown outcome the names may be taken by this batch itself.
        self._until_done(send, taken=True)
        for name in names:
            self._note(name)

    def rename(self):
        name = f"land {self._number} {self._chance.random()}"
        self._call("land", "rename", _id=self._land, name=name)
        self.name = name

    def read(self):
        act = self._chance.choice(["all", "some"])
        self._until_done(lambda: self._http.call("city", act, get={"name": 1, "land": {"name": 1}}))
        for id_ in self._chance.sample(sorted(self.files), min(1, len(self.files))):
            assert self._until_done(lambda id_=id_: self._fetch(id_)) == self.files[id_]

    def keep(self):
        content = self._chance.randbytes(self._chance.choice([100, 10_000, 300_000]))
        id_ = self._call("file", "add", get={"_id": 1}, file=lambda: io.BytesIO(content))["_id"]
        self.files[id_] = hashlib.sha256(content).hexdigest()
        if len(self.files) > FILES:
            oldest = next(iter(self.files))
            self._call("file", "remove", _id=oldest)
            del self.files[oldest]

    def lose(self):
        """Store bytes that no document names."""
        with suppress(CallError):
            self._http.call("file", "lose", set={"file": io.BytesIO(b"lost")})

    def _note(self, name):
        self.cities.append(name)
        if len(self.cities) > CITIES:
            self._call("city", "remove", name=self.cities[0])
            self.cities.popleft()

    def _fetch(self, id_):
        reply = self._files.request("GET", f"{self._url}/gateway/files/{id_}")
        if reply.status != 200:
            raise CallError("no file", reply.status)
        return hashlib.sha256(reply.data).hexdigest()

    def _call(self, model, act, get=None, **given):
        """Call an idempotent act; functions in ``given`` make their values anew for each try."""
        key = f"{self._number} {self._chance.getrandbits(64):x}"

        def send():
            fresh = {name: value() if callable(value) else value for name, value in given.items()}
            return self._http.call(model, act, set=fresh, get=get, key=key)

        return self._until_done(send)

    def _until_done(self, send, taken=False):
        end = time.monotonic() + PATIENCE
        tries = 0
        while True:
            try:
                result = send()
            except (CallError, HTTPError) as error:
                code = getattr(error, "code", type(error).__name__)
                self.told[code] += 1
                if taken and tries and code == "duplicate_key":
                    return None
                if (isinstance(error, CallError) and not may_pass(error)) or time.monotonic() > end:
                    raise
                tries += 1
                time.sleep(0.1)
            else:
                self.told["ok"] += 1
                return result


class Faults:
    """What happens to a server and the replica set; the oldest worker is spared, so that one sees it age."""

    def __init__(self, server, replica_set):
        self._server, self._set = server, replica_set
        self.done = Counter()

    def kill_worker(self):
        """SIGKILL the youngest worker."""
        if len(workers := self._server.workers()) > 1:
            os.kill(workers[-1], signal.SIGKILL)
            self.done["killed"] += 1

    def fail_over(self):
        """Let the primary step down, or kill it and start it again, by turns."""
        member = self._set.wait_for_primary()
        if self.done["lost"] < self.done["stepped down"]:
            member.kill()
            self.done["lost"] += 1
            self._set.wait_for_primary()
            member.start()
            return
        with suppress(PyMongoError):  # nobody has caught up in time
            member.command({"replSetStepDown": 5, "secondaryCatchUpPeriodSecs": 3})
            self.done["stepped down"] += 1


def follow(works, seconds):
    """Do works for so many seconds, each again after a time of its own: pairs of a function and seconds."""
    now = time.monotonic()
    end = now + seconds
    due = [now + every for _, every in works]
    while (first := min(due)) < end:
        time.sleep(max(0.0, first - time.monotonic()))
        work, every = works[due.index(first)]
        due[due.index(first)] = max(first, time.monotonic()) + every
        work()


class Watch:
    """Samples of a server's master and oldest worker, of the replica set, and of the collections of the service."""

    def __init__(self, server, replica_set, database, count_calls):
        self._server, self._set, self._database, self._count_calls = server, replica_set, database, count_calls
        self.worker = server.workers()[0]
        self._begun, self._last = time.monotonic(), (0.0, count_calls())
        self.times, self.series = [], {}

    def sample(self):
        """Take a sample, unless a member of the set is away."""
        try:
            found = {**self._of_processes(), **self._of_members(), **self._of_collections()}
        except (PyMongoError, OSError):
            return
        now, calls = time.monotonic() - self._begun, self._count_calls()
        found[PACE] = (calls - self._last[1]) / (now - self._last[0])
        self._last = now, calls
        self.times.append(now)
        for name, value in found.items():
            self.series.setdefault(name, []).append(value)

    def after(self, seconds):
        """Return the times and series of the samples after so many seconds."""
        first = sum(at < seconds for at in self.times)
        return self.times[first:], {name: values[first:] for name, values in self.series.items()}

    def _of_processes(self):
        pids = {"worker": self.worker, "master": self._server.pid}
        return {f"{who} {name}": value for who, pid in pids.items() for name, value in usage(pid).items()}

    def _of_members(self):
        found = [member.command("serverStatus") for member in self._set.members if member.runs()]
        assert len(found) == len(self._set.members)
        return {
            "sessions": sum(one["logicalSessionRecordCache"]["activeSessionsCount"] for one in found),
            "open transactions": sum(one["transactions"]["currentOpen"] for one in found),
            "open cursors": sum(one["metrics"]["cursor"]["open"]["total"] for one in found),
            "connections": sum(one["connections"]["current"] for one in found),
        }

    def _of_collections(self):
        names = ["_gw_jobs", "_gw_replies", "_gw_state", "city", "file", "fs.files", "fs.chunks"]
        return {name: self._database[name].estimated_document_count() for name in names}


def usage(pid):
    """Return what a process has: MB in memory, threads, open descriptors."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {
        "MB": int(status["VmRSS"].split()[0]) / 1024,
        "threads": int(status["Threads"]),
        "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
    }

"""Clients of the sample service, and a ledger of what they sent and what they were told."""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from urllib3.exceptions import HTTPError

#: Error codes of replies that leave open whether anything was written.
UNCERTAIN = ("outcome_unknown", "partly_done")
_PASSWORD = "correct horse battery staple"
_HASH = hashlib.sha256(_PASSWORD.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back: ``status`` None means that the connection broke. Times are in seconds."""

    status: int | None
    code: str
    envelope: Any
    took: float
    arrived: float

    @property
    def is_uncertain(self):
        """Whether it leaves open that something was written."""
        return self.status is None or self.code in UNCERTAIN

    @property
    def is_clean(self):
        """Whether it is an envelope: of a success, or with nothing but a message."""
        if not isinstance(self.envelope, dict) or set(self.envelope) != {"body", "success"}:
            return False
        return self.envelope["success"] if self.status == 200 else set(self.envelope["body"]) == {"message"}


class Sender:
    """Sends requests as a caller who may do everything."""

    def __init__(self, pool, token):
        self._pool = pool
        self._headers = {"Content-Type": "application/json", "Connection": "close", "token": token}

    def send(self, model, act, set_, get=None):
        """Send one request; never raises for what the network or server does."""
        details = {"set": set_, "get": {"_id": 1} if get is None else get}
        body = json.dumps({"model": model, "act": act, "details": details}).encode()
        start = time.monotonic()
        try:
            reply = self._pool.request("POST", "/gateway", body=body, headers=self._headers)
        except HTTPError as error:
            now = time.monotonic()
            return Reply(None, type(error).__name__, None, now - start, now)
        now = time.monotonic()
        return Reply(reply.status, reply.headers.get("X-Error-Code", ""), _parsed(reply.data), now - start, now)


def _parsed(data):
    try:
        return json.loads(data)
    except ValueError:
        return None


@dataclass(frozen=True)
class Write:
    """A new document: what is sent, and what is stored then; ``key`` names a field no other write shares."""

    model: str
    act: str
    set: Mapping[str, Any]
    key: str
    stored: Mapping[str, Any]
    related: Mapping[str, list[str]]

    @property
    def filter(self):
        """Finds what it stored."""
        return {self.key: self.stored[self.key]}


def new_user(email, organizations, first_name="New"):
    """Return the write of a user with organizations."""
    names = {"first_name": first_name, "last_name": "Example", "email": email}
    set_ = {**names, "password": _PASSWORD, "organizations": organizations}
    stored = {**names, "password": _HASH, "isActive": True}
    return Write("user", "addUser", set_, "email", stored, {"organizations": organizations})


def new_organization(name):
    """Return the write of an organization."""
    return Write("organization", "addOrganization", {"name": name}, "name", {"name": name}, {})


class Ledger:
    """All writes with the replies to them, in order; shared by threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._replies = {}
        self.writes = []

    def send(self, sender, write, attempts=1):
        """Send a write, again while it is unknown or refused for want of the database; returns the last reply."""
        with self._lock:
            self.writes.append(write)
            replies = self._replies.setdefault(id(write), [])
        for _ in range(attempts):
            reply = sender.send(write.model, write.act, write.set)
            replies.append(reply)
            if reply.status not in (None, 503):
                break
            time.sleep(0.01)
        return reply

    def replies(self, write=None):
        """The replies to one write, or all."""
        with self._lock:
            chosen = self.writes if write is None else [write]
            return [reply for one in chosen for reply in self._replies[id(one)]]

    def acknowledged(self):
        """The writes that a client was told are done."""
        return [write for write in self.writes if any(reply.status == 200 for reply in self.replies(write))]

    def told(self):
        """How many replies there were of each status and error code."""
        return Counter((reply.status, reply.code) for reply in self.replies())


def at_once(count, work):
    """Run ``work(number)`` in that many threads; gives the results, or raises the first error."""
    with ThreadPoolExecutor(count) as pool:
        return [future.result() for future in [pool.submit(work, number) for number in range(count)]]


class Background:
    """Threads that repeat ``work(number)`` until the end of ``with``; raises there what one raised."""

    def __init__(self, count, work, pause=0.0):
        self._stopped = threading.Event()
        self._pool = ThreadPoolExecutor(count)
        self._count, self._work, self._pause = count, work, pause

    def _run(self, number):
        while not self._stopped.wait(self._pause):
            self._work(number)

    def __enter__(self):
        self._futures = [self._pool.submit(self._run, number) for number in range(self._count)]
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._pool.shutdown()
        for future in self._futures:
            future.result()

"""The measurement over HTTP: rounds in which every contender does every work in turn."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database

from benchmarks import dataset, load
from benchmarks.contenders import Contender
from benchmarks.load import Load, Request
from benchmarks.servers import SHAPE, Server, ServerError, Shape
from benchmarks.works import Work

#: Different requests of one run, which are sent round and round.
_REQUESTS = 1_000
#: Different writes for each second of a run, more than anybody answers: what is sent twice changes nothing
#: the second time, and that costs the ones who write by hand less.
_WRITES = 2_000
#: The part of a run that is spent before it is measured.
_WARM_UP = 0.1


@dataclass(frozen=True)
class Plan:
    """How long and how often; shorter runs are for orientation."""

    rounds: int = 5
    seconds: float = 5.0
    connections: int = 32
    shape: Shape = SHAPE
    size: dataset.Size = field(default_factory=dataset.Size)

    @property
    def load(self) -> str:
        """What makes the load."""
        return "wrk" if load.uses_wrk(self.seconds) else "a loop of its own"

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self) | {"shape": str(self.shape), "load": self.load}


@dataclass(frozen=True)
class Sample:
    """One contender doing one work in one round; ``cpu`` is the server's per request, in microseconds."""

    contender: str
    work: str
    round: int
    cpu: float
    requests: int
    errors: int
    rate: float
    p50: float
    p99: float


@dataclass
class Run:
    """All samples, and the workers' memory in bytes before and after them."""

    samples: list[Sample] = field(default_factory=list)
    at_rest: dict[str, int] = field(default_factory=dict)
    afterwards: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)


class Contest:
    """Contenders behind their servers, each with a database of its own, which are dropped at the end."""

    def __init__(self, uri: str, plan: Plan) -> None:
        self._uri = uri
        self._plan = plan
        self.databases: dict[str, Database[dict[str, Any]]] = {}
        self.servers: dict[str, Server] = {}

    @contextmanager
    def running(self, contenders: Sequence[Contender]) -> Iterator[Contest]:
        """Fill the databases and start the servers."""
        with ExitStack() as stack:
            client: MongoClient[dict[str, Any]] = stack.enter_context(MongoClient(self._uri))
            for contender in contenders:
                name = f"bench_{random.randrange(16**8):08x}"
                stack.callback(client.drop_database, name)
                dataset.seed(client[name], self._plan.size)
                self.databases[contender.name] = client[name]
                server = Server(contender, _with_database(self._uri, name), self._plan.shape)
                self.servers[contender.name] = stack.enter_context(server)
            yield self

    def checked(self, contender: Contender, works: Sequence[Work]) -> None:
        """Ask for each work once, then restore the data.

        Raises:
            ServerError: a reply is a refusal.
        """
        for work in works:
            details = work.details(random.Random(1), self._plan.size)
            ((status, data),) = load.ask(self.servers[contender.name].port, [contender.request(work, details)])
            reply = json.loads(data) if status in load.GOOD else None
            if reply is None or contender.notation.body(work, details, reply) is None:
                raise ServerError(f"{contender.name} refuses {work.name}: {status} {data[:500]!r}")
        dataset.restore(self.databases[contender.name], self._plan.size)

    def measure(
        self, contenders: Sequence[Contender], works: Mapping[str, Work], log: Callable[[str], None] = print
    ) -> Run:
        """Run all rounds, or as many as there are until Ctrl-C, at least one.

        Each starts with another contender, so that nobody is always first.
        """
        run = Run()
        for contender in contenders:
            self.checked(contender, [work for work in contender.works() if work.name in works])
            run.at_rest[contender.name] = self.servers[contender.name].memory()
        start = time.monotonic()
        try:
            for number in range(self._plan.rounds):
                run.samples += self.round(contenders, works, number)
                log(f"round {number + 1} of {self._plan.rounds}, {time.monotonic() - start:.0f} s")
        except KeyboardInterrupt:
            if not run.samples:
                raise
        for contender in contenders:
            run.afterwards[contender.name] = self.servers[contender.name].memory()
        return run

    def round(self, contenders: Sequence[Contender], works: Mapping[str, Work], number: int) -> list[Sample]:
        """Let every contender do every work once; the number of the round says who is first."""
        turn = number % len(contenders)
        return [
            self._sample(contender, work, number)
            for work in works.values()
            for contender in [*contenders[turn:], *contenders[:turn]]
            if work in contender.works()
        ]

    def _sample(self, contender: Contender, work: Work, number: int) -> Sample:
        plan, server = self._plan, self.servers[contender.name]
        requests = requests_of(contender, work, plan, number)
        load.by_hand(server.port, requests[::-1], plan.connections, plan.seconds * _WARM_UP)
        before = server.cpu()
        seen = load.run(server.port, requests, plan.connections, plan.seconds)
        cpu = server.cpu() - before
        if work.adds:
            dataset.restore(self.databases[contender.name], plan.size)
        return _sampled(contender, work, number, cpu, seen)


def requests_of(contender: Contender, work: Work, plan: Plan, number: int) -> list[Request]:
    """Return what is sent in one round, which asks every contender for the same."""
    chosen = random.Random(number)
    count = max(_REQUESTS, round(_WRITES * plan.seconds)) if work.writes else _REQUESTS
    return [contender.request(work, work.details(chosen, plan.size)) for _ in range(count)]


def _sampled(contender: Contender, work: Work, number: int, cpu: float, seen: Load) -> Sample:
    return Sample(
        contender.name,
        work.name,
        number,
        cpu / seen.requests * 1e6,
        seen.requests,
        seen.errors,
        seen.requests / seen.seconds,
        seen.p50,
        seen.p99,
    )


def _with_database(uri: str, name: str) -> str:
    """Return a URI that names a database."""
    host, mark, options = uri.partition("/?")
    return f"{host.rstrip('/')}/{name}{'?' + options if mark else ''}"

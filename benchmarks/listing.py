"""Pages of a listing: the time of the first and of the 10,000th, among 1,000,000 documents.

Each order is walked once, token by token, as a client does. Then the chosen pages are read again and
again, by turns, so that whatever else the machine does disturbs all of them alike.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from statistics import mean, median
from typing import Any

from pymongo import MongoClient
from pymongo.database import Database
from pymongo.monitoring import CommandFailedEvent, CommandListener, CommandStartedEvent, CommandSucceededEvent

from benchmarks import report
from gatewayfw import gateway, integer, optional, string
from gatewayfw.odm.listings.listing import Listing

Document = dict[str, Any]
_MODEL = "book"
_SHELVES = 10
_BATCH = 10_000
#: What plans must not have: a sort in memory, and reading every document.
_BLOCKING = frozenset({"SORT", "COLLSCAN"})
_GET = {"title": 1, "year": 1, "shelf": 1}
#: Pages measured up to each chosen one: a page also reads rows of its first value that were shown before.
_NEIGHBOURS = 5


@dataclass(frozen=True)
class Sizes:
    """How much is measured: documents, rows of a page, the pages read again, and how often."""

    documents: int = 1_000_000
    limit: int = 100
    pages: tuple[int, ...] = (1, 10, 100, 1_000, 10_000)
    rounds: int = 101

    @classmethod
    def small(cls) -> Sizes:
        """Return the sizes for orientation."""
        return cls(documents=100_000, pages=(1, 10, 100, 1_000), rounds=21)


@dataclass
class Course:
    """One order with one filter: what walking it gave, and the time, plans and keys at each chosen page.

    Each is that of the chosen page and the four before it: ``times`` are the means of their medians in
    seconds; ``keys`` are the means of the index keys that the database read for a page.
    """

    name: str
    rows: int = 0
    times: dict[int, float] = field(default_factory=dict)
    keys: dict[int, int] = field(default_factory=dict)
    plans: dict[int, list[str]] = field(default_factory=dict)

    @property
    def growth(self) -> float:
        """The last chosen page's time over that of the second: both continue from a token."""
        first, *later = list(self.times.values())[1:] or [1.0]
        return later[-1] / first if later else 1.0

    @property
    def blocks(self) -> bool:
        """Tell whether a page sorts in memory or reads the whole collection."""
        return any(_BLOCKING.intersection(plan) for plan in self.plans.values())


#: What is listed: a sort, with a filter.
COURSES: dict[str, Document] = {
    "year": {"sort": "year"},
    "-year": {"sort": "-year"},
    "title": {"sort": "title"},
    "year, eq": {"sort": "year", "filter": {"shelf": 3}},
    "-year, eq": {"sort": "-year", "filter": {"shelf": 3}},
    "year, in": {"sort": "year", "filter": {"shelf": {"in": [2, 5]}}},
    "-year, in": {"sort": "-year", "filter": {"shelf": {"in": [2, 5]}}},
}


class _Finds(CommandListener):
    """Remembers the last ``find`` that was sent."""

    def __init__(self) -> None:
        self.last: Document = {}

    def started(self, event: CommandStartedEvent) -> None:
        if event.command_name == "find":
            self.last = {key: event.command[key] for key in event.command if key in _FIND}

    def succeeded(self, event: CommandSucceededEvent) -> None:
        """Nothing to note."""

    def failed(self, event: CommandFailedEvent) -> None:
        """Nothing to note."""


_FIND = ("find", "filter", "projection", "sort", "limit", "batchSize", "singleBatch")


@contextmanager
def _listed(uri: str, documents: int) -> Iterator[tuple[Listing, Database[Document], _Finds]]:
    """Give a listing of so many books in a database of its own, which is dropped at the end."""
    finds = _Finds()
    with MongoClient[Document](uri, w="majority", event_listeners=[finds]) as client:
        database = client[f"bench_{random.randrange(16**8):08x}"]
        gw = gateway()
        gw.odm.set_db(database)
        books = gw.odm.new_model(
            _MODEL,
            {"title": string(size=(1, 60)), "year": optional(integer()), "shelf": integer()},
        )
        listing = books.listing(filter={"shelf": ["eq", "in"]}, sort=["year", "title"], most=1_000)
        try:
            books.count()  # the first use builds the indexes
            _fill(database, documents)
            client.admin.command("fsync")  # else the database writes all this while the first pages are timed
            yield listing, database, finds
        finally:
            client.drop_database(database.name)


def _fill(database: Database[Document], documents: int) -> None:
    """Insert books in bulk: about 100 of each year, one in 50 without, titles with ties."""
    chosen = random.Random(1)
    years = max(1, documents // 100)
    for start in range(0, documents, _BATCH):
        books = [_book(chosen, years) for _ in range(start, min(documents, start + _BATCH))]
        database[_MODEL].insert_many(books, ordered=False)


def _book(chosen: random.Random, years: int) -> Document:
    book: Document = {"title": f"Book {chosen.randrange(years * 20):08}", "shelf": chosen.randrange(_SHELVES)}
    if chosen.randrange(50):
        book["year"] = chosen.randrange(years)
    return book


def _walk(listing: Listing, course: Course, given: Document, sizes: Sizes) -> dict[int, list[Document]]:
    """Read all pages; return the details of the chosen ones and of their neighbours.

    Raises:
        AssertionError: a document came twice.
    """
    details: Document = {"set": {**given, "limit": sizes.limit}, "get": _GET}
    chosen: dict[int, list[Document]] = {}
    seen: set[Any] = set()
    number = 0
    while True:
        number += 1
        if near := [one for one in sizes.pages if one - _NEIGHBOURS < number <= one]:
            chosen.setdefault(near[0], []).append(details)
        page = listing.page(details)
        course.rows += len(page["rows"])
        seen.update(row["_id"] for row in page["rows"])
        if page["next"] is None:
            break
        details = {**details, "set": {**details["set"], "after": page["next"]}}
    if len(seen) != course.rows:
        raise AssertionError(f"{course.name}: {course.rows - len(seen)} rows came twice")
    return chosen


def _time(listing: Listing, pages: Mapping[int, list[Document]], rounds: int) -> dict[int, float]:
    """Return the time at each chosen page; all pages are read once in each round."""
    turns = [(number, details) for number, some in pages.items() for details in some]
    times: list[list[float]] = [[] for _ in turns]
    order, chosen = list(range(len(turns))), random.Random(1)
    for _ in range(rounds):
        chosen.shuffle(order)
        for at in order:
            start = time.perf_counter()
            listing.page(turns[at][1])
            times[at].append(time.perf_counter() - start)
    medians = [(number, median(found)) for (number, _), found in zip(turns, times, strict=True)]
    return {number: mean(time for one, time in medians if one == number) for number in pages}


def _stages(plan: Any) -> Iterator[str]:
    """Yield the names of a plan's stages, with that of the index."""
    if isinstance(plan, list):
        for part in plan:
            yield from _stages(part)
    elif isinstance(plan, dict):
        if "stage" in plan:
            yield f"{plan['stage']} {plan['indexName']}" if "indexName" in plan else str(plan["stage"])
        for key in ("queryPlan", "inputStage", "inputStages"):
            yield from _stages(plan.get(key))


def _found(listing: Listing, details: Document, finds: _Finds) -> Document:
    """Return the command that reads a page."""
    listing.page(details)
    return finds.last


def _explain(course: Course, number: int, database: Database[Document], finds: list[Document]) -> None:
    told = [database.command("explain", find, verbosity="executionStats") for find in finds]
    course.plans[number] = [stage for one in told for stage in _stages(one["queryPlanner"]["winningPlan"])]
    course.keys[number] = round(mean(one["executionStats"]["totalKeysExamined"] for one in told))


def measured(uri: str, sizes: Sizes, log: Callable[[str], None] = print) -> tuple[str, dict[str, Any], str, bool]:
    """Measure all courses; return Markdown, plain data, no chart, and whether none is missing.

    After Ctrl-C the course that was at work is missing, and those after it.
    """
    found: list[Course] = []
    try:
        with _listed(uri, sizes.documents) as (listing, database, finds):
            for name, given in COURSES.items():
                course = Course(name)
                pages = _walk(listing, course, given, sizes)
                course.times = _time(listing, pages, sizes.rounds)
                for number, some in pages.items():
                    _explain(course, number, database, [_found(listing, details, finds) for details in some])
                found.append(course)
                log(f"{name}: {course.rows:,} rows, last page over an early one {course.growth:.2f}")
    except KeyboardInterrupt:
        if not found:
            raise
    data = {"sizes": asdict(sizes), "courses": [{**asdict(one), "blocks": one.blocks} for one in found]}
    return markdown(found, sizes), data, "", len(found) == len(COURSES)


def markdown(found: list[Course], sizes: Sizes) -> str:
    """Return the tables: times, keys, plans."""
    head = ["", "rows", *(f"page {number:,}" for number in sizes.pages)]
    times = [
        [
            one.name,
            f"{one.rows:,}",
            *(_cell(one.times, number, "{:.2f}", 1e3) for number in sizes.pages),
            f"{one.growth:.2f}",
        ]
        for one in found
    ]
    keys = [[one.name, *(_cell(one.keys, number, "{:,}") for number in sizes.pages)] for one in found]
    plans = [[one.name, _plans(one), "yes" if one.blocks else "no"] for one in found]
    parts = [
        f"### Pages of {sizes.limit} rows, {sizes.documents:,} documents, medians of {sizes.rounds} reads",
        f"ms, until the rows are there; means of {_NEIGHBOURS} pages, up to the named one:",
        report.table([*head, f"last / page {sizes.pages[1]}"], times),
        "Index keys that the database read for the page:",
        report.table(["", *head[2:]], keys),
        "Plans, by `explain`:",
        report.table(["", "stages", "sorts in memory or reads all"], plans),
    ]
    return "\n\n".join(parts) + "\n"


def _cell(figures: Mapping[int, float], number: int, form: str, factor: float = 1) -> str:
    return form.format(figures[number] * factor) if number in figures else "-"


def _plans(course: Course) -> str:
    """Return the different plans of a course's pages."""
    return "; ".join(dict.fromkeys(" < ".join(dict.fromkeys(plan)) for plan in course.plans.values()))

"""A furnished world, and every way to damage what it embeds, with what is then to be found."""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from bson import ObjectId

from gatewayfw.odm import Problem
from tests.odm.world import MODELS

GONE = ObjectId("0" * 24)
DANGLING = "its source does not exist"
DIFFERS = "differs from its source"
AHEAD = "is newer than its source"
WRONG = "differs from its members"
NO_COPY = "holds what is no copy"


def furnish(world):
    """Fill a world; return its documents' ids by name.

    ``land`` was renamed before it was copied, has four cities in its windows and one that opted
    out, ``hidden``; nothing but ``hidden`` belongs to ``club``, which requires it.
    """
    land = world.add_country("former")
    world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "land"}})
    others = [world.add_country(name) for name in ("other", "third", "fourth", "fifth")]
    flags = ("cities", "biggest", "capital")
    cities = [world.add_city(name, land, population=5, flags=flags) for name in "abcd"]
    hidden = world.add_city("hidden", land, flags=())
    visited = {"_ids": [land, others[0]], "relatedRelations": {"visitors": True}}
    born = {"_ids": land, "relatedRelations": {"natives": True}}
    ann = world.add_person("ann", {"visited": visited, "born": born, "home": {"_ids": cities[0]}}, age=30)
    boss = {"_ids": ann, "relatedRelations": {"reports": True, "assistant": True}}
    friends = {"_ids": [ann], "relatedRelations": {"friendOf": True}}
    bob = world.add_person("bob", {"boss": boss, "friends": friends}, age=20)
    club = world.club.insert_one(doc={"name": "club"}, relations={"places": {"_ids": [hidden]}})["_id"]
    return SimpleNamespace(
        land=land,
        other=others[0],
        others=others,
        cities=cities,
        city=cities[0],
        hidden=hidden,
        ann=ann,
        bob=bob,
        club=club,
    )


def _set(**values):
    return lambda _here, _stored: {"$set": {path.replace("__", "."): value for path, value in values.items()}}


def _window(change):
    return lambda here, stored: {"$set": {"cities": change(stored["cities"], here)}}


def _row(name, model, document, update, *found):
    """A row: the update that damages a document, and the (path, reason) of all that is then found."""
    return pytest.param(model, document, update, found, id=name)


#: What `repair` undoes without a trace.
MENDABLE = [
    _row("stale copy", "city", "city", _set(country__name="stale"), ("country.{land}", DIFFERS)),
    _row("extra field in a copy", "city", "city", _set(country__more=1), ("country.{land}", DIFFERS)),
    _row(
        "missing field in a copy",
        *("city", "city", lambda _h, _s: {"$unset": {"country.name": ""}}, ("country.{land}", DIFFERS)),
    ),
    _row(
        "copy with a version to come",
        *("city", "city", lambda here, _s: {"$set": {f"_gw.at.country.{here.land}": 7}}, ("country.{land}", AHEAD)),
    ),
    _row(
        "stale copy with a version to come",
        "city",
        "city",
        lambda here, _s: {"$set": {f"_gw.at.country.{here.land}": 7, "country.name": "stale"}},
        ("country.{land}", DIFFERS),
    ),
    _row(
        "element without an id",
        "person",
        "ann",
        lambda _h, _s: {"$push": {"visited": {"name": "x"}}},
        ("visited", NO_COPY),
    ),
    _row(
        "element with a text for an id",
        *("person", "ann"),
        lambda _h, _s: {"$push": {"visited": {"_id": "x"}}},
        ("visited", NO_COPY),
    ),
    _row("element that is a text", "person", "ann", lambda _h, _s: {"$push": {"visited": "x"}}, ("visited", NO_COPY)),
    _row(
        "doubled element",
        *("person", "ann", lambda _h, stored: {"$push": {"visited": stored["visited"][0]}}),
        ("visited", "embeds a document twice"),
    ),
    _row(
        "dangling element",
        "person",
        "ann",
        lambda _h, _s: {"$push": {"visited": {"_id": GONE}}},
        (f"visited.{GONE}", DANGLING),
    ),
    _row("dangling single", "person", "bob", _set(home={"_id": GONE, "name": "x"}), (f"home.{GONE}", DANGLING)),
    _row(
        "list in a single",
        "city",
        "city",
        lambda _h, stored: {"$set": {"country": [stored["country"]]}},
        ("country", "is a list"),
    ),
    _row("empty list in a single", "person", "bob", _set(home=[]), ("home", "is empty")),
    _row("number in a single", "person", "bob", _set(home=5), ("home", NO_COPY)),
    _row(
        "object in a list",
        "person",
        "bob",
        lambda _h, stored: {"$set": {"friends": stored["friends"][0]}},
        ("friends", "is no list"),
    ),
    _row("empty list", "person", "bob", _set(visited=[]), ("visited", "is empty")),
    _row("number for a list", "person", "bob", _set(visited=5), ("visited", "is no list"), ("visited", NO_COPY)),
    _row(
        "window with an element missing", "country", "land", _window(lambda window, _h: window[:2]), ("cities", WRONG)
    ),
    _row("window in the wrong order", "country", "land", _window(lambda window, _h: window[::-1]), ("cities", WRONG)),
    _row(
        "window with a doubled element",
        "country",
        "land",
        _window(lambda window, _h: [*window[:2], window[1]]),
        ("cities", WRONG),
    ),
    _row(
        "window over its limit",
        *("country", "land"),
        _window(lambda window, here: [*window, {"_id": here.city, "name": "a", "population": 5}]),
        ("cities", WRONG),
    ),
    _row(
        "window with a stale element",
        "country",
        "land",
        _window(lambda window, _h: [{**window[0], "name": "x"}, *window[1:]]),
        ("cities", WRONG),
    ),
    _row(
        "window with an extra field",
        "country",
        "land",
        _window(lambda window, _h: [{**window[0], "more": 1}, *window[1:]]),
        ("cities", WRONG),
    ),
    _row(
        "window with a dangling element",
        "country",
        "land",
        _window(lambda window, _h: [{"_id": GONE}, *window[1:]]),
        ("cities", WRONG),
    ),
    _row(
        "window with a member that opted out",
        *("country", "land", _window(lambda window, here: [{"_id": here.hidden, "name": "hidden"}, *window[:2]])),
        ("cities", WRONG),
    ),
    _row(
        "absent window",
        "country",
        "land",
        lambda _h, _s: {"$unset": {"cities": "", "biggest": ""}},
        ("cities", WRONG),
        ("biggest", WRONG),
    ),
    _row("window without members", "country", "other", _set(cities=[{"_id": GONE}]), ("cities", WRONG)),
    _row("object for a window", "country", "land", _window(lambda window, _h: window[0]), ("cities", WRONG)),
    _row("null for a window", "country", "other", _set(cities=None), ("cities", WRONG)),
    _row("stale single reverse", "country", "land", _set(capital__name="stale"), ("capital", WRONG)),
    _row("dangling single reverse", "country", "other", _set(capital={"_id": GONE, "name": "x"}), ("capital", WRONG)),
    _row(
        "single reverse of a member elsewhere",
        *("country", "other", lambda here, _s: {"$set": {"capital": {"_id": here.city, "name": "a", "population": 5}}}),
        ("capital", WRONG),
    ),
    _row("list for a single reverse", "country", "other", _set(capital=[{"_id": GONE}]), ("capital", WRONG)),
]


def _two_homes(here, _stored):
    copies = [{"_id": id_, "name": name, "population": 5} for id_, name in zip(here.cities[:2], "ab", strict=True)]
    return {"$set": {"home": copies}}


def _too_many(here, _stored):
    ids = [here.land, *here.others]
    names = ("land", "other", "third", "fourth", "fifth")
    copies = [{"_id": id_, "name": name} for id_, name in zip(ids, names, strict=True)]
    return {"$set": {"visited": copies, "_gw.out.visited.visitors": ids}}


#: What `repair` leaves alone.
UNDECIDED = [
    _row("dangling required single", "city", "hidden", _set(country={"_id": GONE}), (f"country.{GONE}", DANGLING)),
    _row(
        "dangling in a required list",
        "club",
        "club",
        lambda _h, _s: {"$push": {"places": {"_id": GONE}}},
        (f"places.{GONE}", DANGLING),
    ),
    _row(
        "required single missing",
        "city",
        "hidden",
        lambda _h, _s: {"$unset": {"country": ""}},
        ("country", "is required"),
    ),
    _row("required single that is no copy", "city", "hidden", _set(country=5), ("country", "is required")),
    _row("required list empty", "club", "club", _set(places=[]), ("places", "is required")),
    _row("over the limit", "person", "bob", _too_many, ("visited", "is over its limit")),
    _row("two documents in a single", "person", "bob", _two_homes, ("home", "holds several documents")),
]


@contextmanager
def damaged(world, here, row):
    """Damage one document; give the problems to be found; afterwards nothing is left, and so nothing wrong."""
    model, document, update, found = row
    id_ = getattr(here, document)
    stored = world.raw(getattr(world, model), id_)
    world.storage.update_one(model, {"_id": id_}, update(here, stored), ())
    yield [Problem(model, id_, path.format(land=here.land), reason) for path, reason in found]
    for name in MODELS:
        world.storage.delete_many(name, {})

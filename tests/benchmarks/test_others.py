"""Contenders with a notation of their own, where they are installed: same documents, and which mistakes they refuse."""

from __future__ import annotations

import json
import random
import re

import pytest

from benchmarks import dataset
from benchmarks.contenders import ALL, CONTENDERS, REFERENCE
from benchmarks.counting import call, commands_of
from benchmarks.dataset import Size
from benchmarks.notations import GATEWAY, GRAPHQL, REST, ROUTES
from benchmarks.works import WORKS
from tests.benchmarks.conftest import SIZE
from tests.benchmarks.test_contenders import REFUSED, stored, without_new_ids

#: Eve 2.3 uses a deprecated notation of Cerberus 1.3; goes with Eve's next release.
pytestmark = pytest.mark.filterwarnings("ignore:Methods for type testing:DeprecationWarning")
OTHERS = [one for one in CONTENDERS.values() if one.notation in (REST, GRAPHQL)]
#: Mistakes that a notation cannot express, and those that are passed over; `docs/performance-details.md` names them.
UNSAID = {"eve": ["no id", "an unknown key", "something to a ping"], "strawberry": ["something to a ping"]}
PASSED_OVER = {"eve": ["an unknown field", "an unknown field of a copy", "an operator", "a limit beyond the most"]}


def replied(contender, database, work, details):
    """The body of a reply, None for a refusal, whether it says so by its status or by its text."""
    app, request = contender.application(database), contender.request(work, details)
    if contender.notation is REST:
        try:
            return contender.notation.body(work, details, json.loads(call(app, request)))
        except RuntimeError as refused:
            return None if re.match("400|404|422", str(refused)) else str(refused)
    return contender.notation.body(work, details, json.loads(call(app, request)))


def without_times(contents):
    """Eve stores when a document was made and changed."""
    own = ("_created", "_updated")
    return {name: [{k: v for k, v in one.items() if k not in own} for one in many] for name, many in contents.items()}


@pytest.mark.mongo
@pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
def test_others_give_the_same_body_and_store_the_same(filled, work):
    details = work.details(random.Random(3), SIZE)
    answers, contents = {}, {}
    for contender in (CONTENDERS[REFERENCE], *OTHERS):
        answers[contender.name] = without_new_ids(replied(contender, filled, work, details))
        contents[contender.name] = without_times(stored(filled))
        filled.user.delete_many({})
        filled.country.delete_many({})
        dataset.seed(filled, SIZE)
    assert answers == dict.fromkeys(answers, answers[REFERENCE])
    assert contents == dict.fromkeys(contents, contents[REFERENCE])


@pytest.mark.mongo
@pytest.mark.parametrize("mistake", REFUSED)
def test_others_refuse_what_their_notation_can_say(filled, mistake):
    work, details = REFUSED[mistake]
    before = stored(filled)
    asked = [one for one in OTHERS if mistake not in UNSAID[one.name]]
    refused = {one.name: replied(one, filled, WORKS[work], details) is None for one in asked}
    assert refused == {one.name: mistake not in PASSED_OVER.get(one.name, ()) for one in asked}
    assert stored(filled) == before


@pytest.mark.mongo
@pytest.mark.parametrize("work", ["getUser", "getCountry", "updateUser", "rename"])
def test_others_say_that_there_is_none(filled, work):
    details = {"set": {"_id": "f" * 24} | ({"name": "x"} if work == "rename" else {}), "get": {"_id": 1}}
    assert [replied(one, filled, WORKS[work], details) for one in OTHERS] == [None] * len(OTHERS)


@pytest.mark.mongo
def test_fastapi_and_strawberry_send_the_commands_of_the_reference(mongod_uri):
    names = [name for name in (REFERENCE, "fastapi", "strawberry") if name in CONTENDERS]
    counted = {name: commands_of(CONTENDERS[name], mongod_uri, list(WORKS.values()), Size(5, 100)) for name in names}
    assert counted == dict.fromkeys(names, counted[REFERENCE])


def test_each_optional_contender_is_in_the_table():
    needs = {
        one.name: (one.needs, one.notation, one.server)
        for one in ALL
        if one.needs not in (None, "granian", "sentry_sdk")
    }
    assert needs == {
        "fastapi": ("fastapi", ROUTES, "uvicorn"),
        "eve": ("eve", REST, "gunicorn"),
        "strawberry": ("strawberry", GRAPHQL, "gunicorn"),
    }


GET = {"_id": 1, "country": {"name": 1}}
ASKED = {
    "a route": (ROUTES, "getUser", ("/api/getUser", {"set": {"_id": "1"}, "get": GET}, "POST")),
    "a gateway": (
        GATEWAY,
        "getUser",
        ("/api/gateway", {"model": "user", "act": "getUser", "details": {"set": {"_id": "1"}, "get": GET}}, "POST"),
    ),
    "GraphQL": (
        GRAPHQL,
        "getUser",
        (
            "/api/graphql",
            {
                "query": "query($set: GetUserSet!) { getUser(set: $set) { _id country { name } } }",
                "variables": {"set": {"_id": "1"}},
            },
            "POST",
        ),
    ),
    "GraphQL, a change": (
        GRAPHQL,
        "rename",
        (
            "/api/graphql",
            {
                "query": "mutation($set: RenameSet!) { rename(set: $set) { _id country { name } } }",
                "variables": {"set": {"_id": "1"}},
            },
            "POST",
        ),
    ),
    "REST": (REST, "getUser", ('/api/user/1?projection={"_id":+1,+"country.name":+1}', None, "GET")),
    "REST, a change": (REST, "rename", ("/api/country/1", {}, "PATCH")),
}


@pytest.mark.parametrize(("notation", "work", "wanted"), ASKED.values(), ids=ASKED)
def test_each_notation_says_the_same(notation, work, wanted):
    from urllib.parse import unquote

    request = notation.request(WORKS[work], {"set": {"_id": "1"}, "get": GET})
    body = json.loads(request.body) if request.body else None
    assert (unquote(request.path), body, request.method) == wanted

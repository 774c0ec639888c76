"""Every contender does the same work: same replies, same stored documents, same refusals."""

from __future__ import annotations

import json
import random
from operator import itemgetter

import pytest

from benchmarks import dataset
from benchmarks.contenders import CONTENDERS, PROTECTED, REFERENCE, TWIN
from benchmarks.counting import call, commands_of
from benchmarks.dataset import Size, country_id, user_id
from benchmarks.notations import GATEWAY, ROUTES
from benchmarks.works import WORKS
from tests.benchmarks.conftest import SIZE

pytestmark = pytest.mark.mongo
#: Those that answer in the same notation; `test_others.py` holds the rest to the same results.
NAMES = [name for name, one in CONTENDERS.items() if name != TWIN and one.notation in (ROUTES, GATEWAY)]
GATEWAYS = [name for name, one in CONTENDERS.items() if one.gateway]


def asked(contender, database, work):
    request = contender.request(WORKS[work], WORKS[work].details(random.Random(3), SIZE))
    return json.loads(call(contender.application(database), request))


def without_new_ids(value):
    """The ids that are made from the clock are different for everybody."""
    if isinstance(value, dict):
        return {key: without_new_ids(item) for key, item in value.items() if key != "_id" or str(item) < "1"}
    return [without_new_ids(item) for item in value] if isinstance(value, list) else value


def stored(database):
    """All documents, without what gatewayfw hides in them."""
    found = {}
    for name in ("country", "user"):
        documents = ({**document, "_gw": None} for document in database[name].find())
        found[name] = [without_new_ids(document) for document in sorted(documents, key=itemgetter("_id"))]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("work", WORKS)
def test_all_give_the_same_answer_and_store_the_same(filled, work):
    answers, contents = {}, {}
    for name in NAMES:
        answers[name] = without_new_ids(asked(CONTENDERS[name], filled, work))
        contents[name] = stored(filled)
        filled.user.delete_many({})
        filled.country.delete_many({})
        dataset.seed(filled, SIZE)
    assert answers == dict.fromkeys(NAMES, answers[REFERENCE])
    assert answers[REFERENCE]["success"] is True
    assert contents == dict.fromkeys(NAMES, contents[REFERENCE])


def test_a_page_has_a_hundred_users_and_a_country_its_fifty_newest(filled):
    reference = CONTENDERS[REFERENCE]
    users = asked(reference, filled, "getUsers")["body"]
    newest = asked(reference, filled, "getCountry")["body"]["users"]
    assert (len(users), len(newest)) == (100, 50)
    assert [user["_id"] for user in newest] == sorted((user["_id"] for user in newest), reverse=True)


ID = str(user_id(1))
REFUSED = {
    "no id": ("getUser", {"set": {}, "get": {"_id": 1}}),
    "a bad id": ("getUser", {"set": {"_id": "x"}, "get": {"_id": 1}}),
    "an unknown key": ("getUser", {"set": {"_id": ID, "x": 1}, "get": {"_id": 1}}),
    "an unknown field": ("getUser", {"set": {"_id": ID}, "get": {"x": 1}}),
    "an unknown field of a copy": ("getUser", {"set": {"_id": ID}, "get": {"country": {"x": 1}}}),
    "an operator": ("getUser", {"set": {"_id": ID}, "get": {"_id": {"$slice": 1}}}),
    "a limit beyond the most": ("getUsers", {"set": {"after": ID, "limit": 10_001}, "get": {"_id": 1}}),
    "something to a ping": ("ping", {"set": {"x": 1}, "get": {}}),
    "a missing field": ("addUser", {"set": {"first_name": "x"}, "get": {"_id": 1}}),
    "no e-mail address": ("updateUser", {"set": {"_id": ID, "email": "x"}, "get": {"_id": 1}}),
    "a number for a name": ("rename", {"set": {"_id": str(country_id(1)), "name": 1}, "get": {"_id": 1}}),
}


@pytest.mark.parametrize(("work", "details"), REFUSED.values(), ids=REFUSED)
def test_all_refuse_the_same(filled, work, details):
    before = stored(filled)
    for name in NAMES:
        contender = CONTENDERS[name]
        with pytest.raises(RuntimeError, match=r"^400 "):
            call(contender.application(filled), contender.request(WORKS[work], details))
    assert stored(filled) == before


@pytest.mark.parametrize("work", ["getUser", "getCountry", "updateUser", "rename"])
def test_all_say_that_there_is_none(filled, work):
    of = {"_id": "f" * 24} | ({"name": "x"} if work == "rename" else {})
    for name in NAMES:
        contender = CONTENDERS[name]
        with pytest.raises(RuntimeError, match=r"^404 "):
            call(contender.application(filled), contender.request(WORKS[work], {"set": of, "get": {"_id": 1}}))


def test_restore_makes_the_data_as_it_was(filled):
    before = stored(filled)
    asked(CONTENDERS[REFERENCE], filled, "addUser")
    assert stored(filled) != before
    dataset.restore(filled, SIZE)
    assert stored(filled) == before


def test_the_references_send_the_fewest_commands(mongod_uri):
    works, size = list(WORKS.values()), Size(5, 100)
    counted = {name: commands_of(CONTENDERS[name], mongod_uri, works, size) for name in (REFERENCE, PROTECTED)}
    assert counted == {
        REFERENCE: {
            "ping": [],
            "getUser": ["find"],
            "getUsers": ["find"],
            "getCountry": ["find"],
            "getDates": ["find"],
            "addUser": ["find", "insert", "update"],
            "updateUser": ["findAndModify", "update"],
            "rename": ["findAndModify", "update"],
        },
        PROTECTED: {
            "addUser": ["findAndModify", "insert", "commitTransaction"],
            "updateUser": ["findAndModify", "update", "commitTransaction"],
            "rename": ["findAndModify", "update", "commitTransaction"],
        },
    }

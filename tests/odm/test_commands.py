"""How many database commands an operation takes, and how often it has to begin again."""

from __future__ import annotations

import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import ObjectId
from pymongo import MongoClient
from pymongo.monitoring import CommandListener

from gatewayfw.errors import StillReferenced
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, string
from gatewayfw.settings import Settings
from tests.odm.oracle import check

pytestmark = pytest.mark.mongo

LAND, EMPTY, CAPITAL, ANNA, BERT, NEW, NOTE = (ObjectId(f"{number:024x}") for number in range(1, 8))
TEAMS = [ObjectId(f"{number:024x}") for number in range(100, 150)]
SINGLES = (("home", CAPITAL), ("land", LAND))


class Commands(CommandListener):
    """Counts the commands a client sends, by name."""

    def __init__(self):
        self.names = Counter()
        self._guard = threading.Lock()

    def started(self, event):
        with self._guard:
            self.names[event.command_name] += 1

    def succeeded(self, event):
        pass

    def failed(self, event):
        pass


class Office:
    """Countries, towns, teams, users and notes; a user is in many teams, with two reverse relations."""

    def __init__(self, database, commands):
        self.commands = commands
        self.odm = Odm(Schemas(Settings()), Settings(fan_out_thread=False))
        self.odm.set_db(database)
        self.country = self.odm.new_model("country", {"name": string()})
        by_age = {"type": "multiple", "limit": 10, "sort": {"field": "age", "order": "asc"}}
        self.town = self.odm.new_model(
            "town",
            {"name": string()},
            {
                "country": {
                    "schemaName": "country",
                    "type": "single",
                    "relatedRelations": {"towns": {"type": "multiple", "limit": 5}},
                }
            },
        )
        self.team = self.odm.new_model("team", {"name": string()})
        self.user = self.odm.new_model(
            "user",
            {"name": string(), "age": integer()},
            {
                "home": {"schemaName": "town", "type": "single", "optional": True},
                "land": {"schemaName": "country", "type": "single", "optional": True},
                "teams": {
                    "schemaName": "team",
                    "type": "multiple",
                    "optional": True,
                    "relatedRelations": {"members": by_age, "latest": {"type": "multiple", "limit": 10}},
                },
            },
        )
        self.note = self.odm.new_model("note", {"text": string()})
        self.odm.ready()

    def populate(self):
        for id_, name in ((LAND, "land"), (EMPTY, "empty")):
            self.country.insert_one(doc={"_id": id_, "name": name})
        self.add_town(["towns"], _id=CAPITAL)
        self.team.insert_many(docs=[{"_id": id_, "name": "team"} for id_ in TEAMS])
        self.add_user(TEAMS, _id=ANNA)
        self.add_user(TEAMS[:1], _id=BERT)
        self.note.insert_one(doc={"_id": NOTE, "text": "old"})

    def add_town(self, flags=(), **own):
        relations = {"country": {"_ids": LAND, "relatedRelations": dict.fromkeys(flags, True)}}
        self.town.insert_one(doc={"name": "town", **own}, relations=relations)

    def add_user(self, teams, singles=(), **own):
        relations = {name: {"_ids": target} for name, target in singles}
        relations["teams"] = {"_ids": list(teams), "relatedRelations": {"members": True, "latest": True}}
        self.user.insert_one(doc={"name": "user", "age": 5, **own}, relations=relations)

    def change(self, model, id_, **fields):
        getattr(self, model).find_one_and_update(filter={"_id": id_}, update={"$set": fields})

    def add_team(self, flags=(), replace=False):
        relations = {"teams": {"_ids": TEAMS[1:2], "relatedRelations": dict.fromkeys(flags, True)}}
        self.user.add_relation(filters={"_id": BERT}, relations=relations, replace=replace)

    def remove_team(self):
        self.user.remove_relation(filters={"_id": BERT}, relations={"teams": {"_ids": TEAMS[:1]}})

    def delete(self, model, id_, hard_cascade=False):
        getattr(self, model).delete_one(filter={"_id": id_}, hard_cascade=hard_cascade)


@pytest.fixture(scope="module")
def offices(mongod_uri):
    """An `Office` on a client whose commands are counted; its indexes outlive a test."""
    commands, name = Commands(), f"gatewayfw_{uuid.uuid4().hex}"
    with MongoClient(mongod_uri, event_listeners=[commands]) as client:
        yield Office(client[name], commands)
        client.drop_database(name)


@pytest.fixture
def office(offices):
    """A newly populated `Office`, no commands counted yet."""
    for name in offices.odm.schemas.get_schemas():
        offices.odm.storage.delete_many(name, {})
    offices.populate()
    offices.commands.names.clear()
    return offices


#: Operations, and how many commands each sends, the commit included.
ROWS = {
    "find one": (lambda office: office.user.find_one(filters={"_id": ANNA}), 1),
    "count": (lambda office: office.user.count(), 1),
    "insert without relations": (lambda office: office.country.insert_one(doc={"name": "new"}), 2),
    "insert with an id of its own": (lambda office: office.country.insert_one(doc={"_id": NEW, "name": "new"}), 3),
    "insert with one flagged reverse": (lambda office: office.add_town(["towns"]), 5),
    "insert with one relation, no flag": (lambda office: office.add_town(), 3),
    "insert with a source in each of 3 models": (lambda office: office.add_user(TEAMS[:1], SINGLES), 8),
    "insert with 3 sources of one model": (lambda office: office.add_user(TEAMS[:3]), 11),
    "update in one team with 2 reverses": (lambda office: office.change("user", BERT, name="new"), 5),
    "rename in 50 teams with 2 reverses": (lambda office: office.change("user", ANNA, name="new"), 5),
    "update of what nothing can embed": (lambda office: office.change("note", NOTE, text="new"), 2),
    "update of what one relation embeds": (lambda office: office.change("team", TEAMS[0], name="new"), 4),
    "update of what two relations embed": (lambda office: office.change("country", LAND, name="new"), 6),
    "sort key in one team": (lambda office: office.change("user", BERT, age=9), 6),
    "sort key in 50 teams": (lambda office: office.change("user", ANNA, age=9), 55),
    "add one with 2 flags": (lambda office: office.add_team(["members", "latest"]), 7),
    "add one without a flag": (lambda office: office.add_team(), 4),
    "replace one": (lambda office: office.add_team(["members"], replace=True), 9),
    "remove one": (lambda office: office.remove_team(), 7),
    "delete refused by 2 models": (lambda office: pytest.raises(StillReferenced, office.delete, "country", LAND), 4),
    "delete of a member": (lambda office: office.delete("user", BERT), 7),
    "delete of what nothing embeds": (lambda office: office.delete("country", EMPTY), 5),
    "cascade over one town": (lambda office: office.delete("country", LAND, hard_cascade=True), 8),
}


@pytest.mark.parametrize("row", ROWS)
def test_commands_of_an_operation(office, row):
    operation, expected = ROWS[row]
    operation(office)
    assert office.commands.names.total() == expected, office.commands.names


def test_threads_that_add_to_one_document_rarely_begin_again(office, monkeypatch):
    monkeypatch.setattr("gatewayfw.storage.mongo._QUEUE", 5.0)  # a machine so busy that 1 s is short proves nothing
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(office.add_user, TEAMS[:1]) for _ in range(200)]:
            done.result()
    commits, aborts = (office.commands.names[name] for name in ("commitTransaction", "abortTransaction"))
    assert (commits, aborts <= 20) == (200, True)
    assert check(office.odm.schemas, office.odm.storage) == []

"""Which database commands an operation takes, and how often it has to begin again."""

from __future__ import annotations

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from bson import ObjectId
from pymongo import MongoClient

from gatewayfw.errors import StillReferenced
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, integer, string
from gatewayfw.settings import Settings
from tests.odm.commands import Commands
from tests.odm.oracle import check
from tests.odm.stepping import Stored

pytestmark = pytest.mark.mongo

LAND, EMPTY, CAPITAL, ANNA, BERT, NEW, NOTE = (ObjectId(f"{number:024x}") for number in range(1, 8))
TEAMS = [ObjectId(f"{number:024x}") for number in range(100, 150)]
SINGLES = (("home", CAPITAL), ("land", LAND))


class Office:
    """Countries, towns, teams, users and notes; a user is in many teams, with two reverse relations."""

    def __init__(self, database, commands):
        self.commands = commands
        self.odm = Odm(Schemas(Settings()), Settings())
        self.database = database
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
        self._stored = None

    def begin(self):
        """Store the same documents as each time."""
        self.odm.set_db(self.database)  # knows nothing of documents that had the same ids
        self.odm.ready()
        if self._stored is None:
            self._populate()
            self._stored = Stored(self.database)
        self._stored.restore()
        self.commands.names.clear()

    def _populate(self):
        for id_, name in ((LAND, "land"), (EMPTY, "empty")):
            self.country.insert_one(doc={"_id": id_, "name": name})
        self.add_town(["towns"], _id=CAPITAL)
        self.team.insert_many(docs=[{"_id": id_, "name": "team"} for id_ in TEAMS])
        self.add_user(TEAMS, _id=ANNA)
        self.add_user(TEAMS[:1], _id=BERT)
        self.note.insert_one(doc={"_id": NOTE, "text": "old"})

    def add_town(self, flags=(), country=LAND, **own):
        relations = {"country": {"_ids": country, "relatedRelations": dict.fromkeys(flags, True)}}
        self.town.insert_one(doc={"name": "town", **own}, relations=relations)

    def add_user(self, teams, singles=(), **own):
        relations = {name: {"_ids": target} for name, target in singles}
        relations["teams"] = {"_ids": list(teams), "relatedRelations": {"members": True, "latest": True}}
        self.user.insert_one(doc={"name": "user", "age": 5, **own}, relations=relations)

    def change(self, model, id_, **fields):
        getattr(self, model).find_one_and_update(filter={"_id": id_}, update={"$set": fields})

    def add_team(self, flags=(), team=TEAMS[1], replace=False):
        relations = {"teams": {"_ids": [team], "relatedRelations": dict.fromkeys(flags, True)}}
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
    offices.begin()
    return offices


#: What a command is called here, and by PyMongo.
NAMES = {
    "change": "findAndModify",
    "write": "update",
    "count": "aggregate",
    "commit": "commitTransaction",
    "abort": "abortTransaction",
}
#: Operations, and the commands that each sends.
ROWS = {
    "find one": (lambda office: office.user.find_one(filters={"_id": ANNA}), "find"),
    "count": (lambda office: office.user.count(), "count"),
    "exists": (lambda office: office.user.exists({"name": {"$regex": "^a"}}), "find"),
    "distinct": (lambda office: office.user.distinct("home.name"), "distinct"),
    "insert without relations": (lambda office: office.country.insert_one(doc={"name": "new"}), "insert commit"),
    "insert with an id of its own": (
        lambda office: office.country.insert_one(doc={"_id": NEW, "name": "new"}),
        "find insert commit",
    ),
    "insert with one relation, no flag": (lambda office: office.add_town(), "change insert commit"),
    "insert with one flagged reverse": (lambda office: office.add_town(["towns"]), "change insert commit"),
    "insert as the first of a flagged reverse": (
        lambda office: office.add_town(["towns"], EMPTY),
        "change change insert find commit",
    ),
    "insert with a source in each of 3 models": (
        lambda office: office.add_user(TEAMS[:1], SINGLES),
        "change change change insert commit",
    ),
    "insert with 3 sources of one model": (
        lambda office: office.add_user(TEAMS[:3]),
        f"write find insert {6 * 'find '}write commit",
    ),
    "update in one team with 2 reverses": (
        lambda office: office.change("user", BERT, name="new"),
        "change write commit",
    ),
    "rename in 50 teams with 2 reverses": (
        lambda office: office.change("user", ANNA, name="new"),
        "change write commit",
    ),
    "update of what nothing can embed": (lambda office: office.change("note", NOTE, text="new"), "change commit"),
    "update of what one relation embeds": (
        lambda office: office.change("team", TEAMS[0], name="new"),
        "change count write commit",
    ),
    "update of what one relation embeds, again": (
        lambda office: [office.change("team", TEAMS[0], name=name) for name in ("new", "newer")],
        "change count write commit change write commit",
    ),
    "update of what two relations embed": (
        lambda office: office.change("country", LAND, name="new"),
        "change count count write write commit",
    ),
    "sort key in one team": (lambda office: office.change("user", BERT, age=9), "change write find write commit"),
    "sort key in 50 teams": (
        lambda office: office.change("user", ANNA, age=9),
        f"change write {50 * 'find '}write commit",
    ),
    "add one with 2 flags": (lambda office: office.add_team(["members", "latest"]), "change change change commit"),
    "add one without a flag": (lambda office: office.add_team(), "change change change commit"),
    "add one that is there": (
        lambda office: office.add_team(["members"], TEAMS[0]),
        "change change change find write commit",
    ),
    "replace one": (
        lambda office: office.add_team(["members"], replace=True),
        "change change change change find find write commit",
    ),
    "remove one": (lambda office: office.remove_team(), "change change change find find write commit"),
    "delete refused by 2 models": (
        lambda office: pytest.raises(StillReferenced, office.delete, "country", LAND),
        "change count count abort",
    ),
    "delete of a member": (lambda office: office.delete("user", BERT), "change change delete find find write commit"),
    "delete of what nothing embeds": (
        lambda office: office.delete("country", EMPTY),
        "change count count delete commit",
    ),
    "update of many that nothing embeds": (
        lambda office: office.note.update_many({"text": "old"}, {"$set": {"text": "new"}}),
        "find find change commit",
    ),
    "update of many in 50 teams and in one": (
        lambda office: office.user.update_many({"age": 5}, {"$set": {"name": "new"}}),
        "find find change write change write commit",
    ),
    "update of many where nothing matches": (
        lambda office: office.user.update_many({"age": 6}, {"$set": {"name": "new"}}),
        "find",
    ),
    "delete of many members": (
        lambda office: office.user.delete_many({"_id": BERT}),
        "find change change delete find find write commit",
    ),
    "cascade over one town": (
        lambda office: office.delete("country", LAND, hard_cascade=True),
        "change find find write find delete delete commit",
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_commands_of_an_operation(office, row):
    operation, expected = ROWS[row]
    operation(office)
    assert office.commands.names == [NAMES.get(name, name) for name in expected.split()]


AT_ONCE = {
    "add": lambda office, number: office.add_user(TEAMS[:1]),
    "change": lambda office, number: office.change("team", TEAMS[0], name=f"team {number}"),
}


@pytest.mark.parametrize("operation", AT_ONCE.values(), ids=AT_ONCE)
def test_threads_that_write_one_document_rarely_begin_again(office, monkeypatch, operation):
    # A machine so busy that 1 s is short proves nothing.
    monkeypatch.setattr("gatewayfw.storage.mongo.transactions.QUEUE", 5.0)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(operation, office, number) for number in range(200)]:
            done.result()
    names = Counter(office.commands.names)
    commits, aborts = names["commitTransaction"], names["abortTransaction"]
    assert commits == 200
    assert aborts <= 20
    assert check(office.odm.schemas, office.odm.storage) == []

"""Whatever is defined, asked and changed: a reply holds what the judge lets its caller see, and no byte more."""

from __future__ import annotations

import mongomock
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.policies.judged.drawn import callers, hidings_of, limits_of, requests, worlds, writes
from tests.policies.judged.judge import FORBIDDEN, Judge
from tests.policies.judged.judged_writes import NO_MATCH, refusals, related
from tests.policies.judged.service import Service, as_json

#: What a bulk change or a deletion of nothing answers.
NOTHING = {"update": None, "add": None, "remove": None, "upsert": None}
NOTHING |= {"update_many": {"matched": 0, "modified": 0}}
NOTHING |= dict.fromkeys(("delete", "delete_many"), {"deletedCount": 0, "cascaded": {}})


class Court:
    """A service, and the judge of what it answers."""

    def __init__(self, database, world):
        self.service = Service(database, world)
        self.service.fill()
        self.documents, self.judges = self.service.raw(), {}

    def look(self):
        """Look at the database again; return whether it has changed, and then call new judges."""
        found = self.service.raw()
        has_changed = found != self.documents
        if has_changed:
            self.documents, self.judges = found, {}
        return has_changed

    def judge(self, caller):
        """Return the judge of a caller and the database as it was at the last look."""
        if str(caller) not in self.judges:
            world, user = self.service.world, caller["user"] or {}
            policies = [self.service.resolved(policy, user) for policy in world["policies"]]
            self.judges[str(caller)] = Judge(world["definitions"], world.links, policies, self.documents, caller)
        return self.judges[str(caller)]

    def placed(self, request):
        """Put ids of documents into a drawn request."""
        placed = {**request, "filter": self.service.conditions(request.get("filter", []), {})}
        if "ids" in request:
            placed["ids"] = self.service.placed(request["ids"])
        if "relations" in request:
            placed["relations"] = {name: self.service.placed(ids) for name, ids in request["relations"].items()}
        return placed

    def keeps_secrets(self, judge, text, request):
        """Search every byte of an answer for what its caller may not know."""
        told = str(as_json(request)) + str(judge.caller)
        found = {one for one in judge.texts if one in text and one not in told}
        return sorted(found - judge.knowable() - self.judge(judge.caller).knowable())

    def read(self, request, caller):
        """Ask for what the judge expects; a page is read to its end."""
        judge, request = self.judge(caller), self.placed(request)
        status, body, text = self.service.ask(self.service.body(request, caller))
        assert self.keeps_secrets(judge, text, request) == []
        expected = as_json(judged(judge, request))
        if expected is None and request["op"] != "find_one":
            assert status == FORBIDDEN, body
        elif request["op"] == "page":
            assert (status, self.pages(judge, request, body["body"])) == (200, expected)
        elif status == FORBIDDEN:
            assert judge.refuses_get(request["model"], request["get"]), body
        else:
            assert (status, body) == (200, {"body": expected, "success": True})

    def pages(self, judge, request, page):
        """Read the other pages; return all rows and the total of the first."""
        rows, total = page["rows"], page["total"]
        while page["next"] is not None:
            following = {**request, "after": page["next"]}
            _, body, text = self.service.ask(self.service.body(following, judge.caller))
            assert self.keeps_secrets(judge, text, following) == []
            page = body["body"]
            rows += page["rows"]
        return {"rows": rows, "total": total}

    def write(self, write, caller):
        """Ask for a change: it is refused as the judge says and nothing has changed, or it is done and shown."""
        judge, write = self.judge(caller), self.placed(write)
        if write["op"] == "remove" and not removable(judge, write):
            return
        expected = refusals(judge, write)
        status, body, text = self.service.ask(self.service.body(write, caller))
        has_changed = self.look()
        assert self.keeps_secrets(judge, text, write) == []
        if expected:
            assert not has_changed
            assert (status if status != 200 else NO_MATCH) in expected, body
            assert status != 200 or body["body"] == NOTHING[write["op"]]
            return
        assert status == 200, body
        after = self.judge(caller)
        [changed, *_] = self.is_done(judge, after, write)
        if not write["op"].startswith("delete") and not write["op"].endswith("many"):
            shown = after.show(write["model"], after.documents[write["model"]][changed], write["get"])
            assert body["body"] == as_json(shown)

    def is_done(self, before, after, write):
        """Look whether the change is in the database; return the ids of what has changed."""
        found = after.documents[write["model"]]
        ids = [id_ for id_ in write.get("ids", ()) if before.is_visible(write["model"], id_)]
        if write["op"] in ("insert", "upsert") and not ids:
            ids = [id_ for id_ in found if id_ not in before.documents[write["model"]]]
            assert len(ids) == 1
        if write["op"].startswith("delete"):
            assert not set(ids).intersection(found)
            return ids
        for id_ in ids:
            assert {name: found[id_][name] for name in write.get("set", ())} == write.get("set", {})
            for name, others in write.get("relations", {}).items():
                assert (write["op"] != "remove") == set(related(found[id_], name)).issuperset(others)
        return ids


def removable(judge, write):
    """Tell whether the ids to be removed are related, and not all that a required relation has."""
    [(name, ids)] = write["relations"].items()
    document = judge.documents[write["model"]].get(write["ids"][0], {})
    is_optional = judge.definitions[write["model"]]["relations"][name]["optional"]
    return is_optional and set(related(document, name)).issuperset(ids)


def judged(judge, request):
    """Return what a request that reads is answered with; None is the refusal, or a document that is not there."""
    if request["op"] == "page":
        return judge.page({**request, "sort": request["sort"] or judge.definitions[request["model"]]["default_sort"]})
    if request["op"] in ("find", "count", "distinct"):
        return getattr(judge, request["op"])(request)
    if request["op"] == "exists":
        number = judge.count(request)
        return None if number is None else number > 0
    found = judge.find(request)
    return found[0] if found else None


ASKED = [
    pytest.param("mongomock", id="mongomock"),
    pytest.param("mongo", marks=pytest.mark.mongo),
]


@pytest.fixture(params=ASKED)
def court(request):
    """A function that opens a court over a drawn world, on an empty database."""
    own = request.getfixturevalue("mongo_database") if request.param == "mongo" else None

    def open_court(world):
        if own is None:
            return Court(mongomock.MongoClient().test, world)
        for name in own.list_collection_names():
            own[name].delete_many({})
        return Court(own, world)

    return open_court


@examples(6)
@given(data=st.data(), world=worlds() | worlds(hidings_of))
def test_a_reply_holds_what_its_caller_may_see(court, data, world):
    opened = court(world)
    for _ in range(4):
        caller = data.draw(callers(world))
        for _ in range(3):
            opened.read(data.draw(requests(world)), caller)
    assert not opened.look()


@examples(6)
@given(data=st.data(), world=worlds() | worlds(limits_of))
def test_a_write_changes_what_its_caller_may_change(court, data, world):
    opened = court(world)
    for _ in range(9):
        caller = data.draw(callers(world))
        opened.write(data.draw(writes(world, caller)), caller)


@examples(3)
@given(data=st.data(), world=worlds())
def test_each_item_of_a_batch_has_the_rights_of_its_own_caller(court, data, world):
    opened = court(world)
    asked = [
        (opened.placed(data.draw(requests(world, ["find", "count", "exists"]))), data.draw(callers(world)))
        for _ in "123"
    ]
    batch = [opened.service.body(request, caller) for request, caller in asked]
    _, body, _ = opened.service.ask({"batch": batch, "atomic": data.draw(st.booleans())})
    for (request, caller), item in zip(asked, body["body"], strict=True):
        judge = opened.judge(caller)
        expected = as_json(judged(judge, request))
        if item.get("code") != "not_done":
            assert item["body"] == expected if expected is not None else item["status"] == FORBIDDEN
            assert opened.keeps_secrets(judge, str(item), request) == []
    assert not opened.look()

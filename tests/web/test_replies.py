"""The bound of a reply: exact, wherever its bytes come from, and nothing is read beyond it."""

from __future__ import annotations

from collections import UserDict
from types import SimpleNamespace

import orjson
import pytest
from bson import ObjectId

from gatewayfw import gateway, integer, string
from gatewayfw.errors import ReplyTooLarge, Timeout
from gatewayfw.pieces import Found
from gatewayfw.storage import Scope
from gatewayfw.web.reply import success

ROWS = 250


class Bound(Scope):
    """The bounds of an act whose reply may have so many bytes."""

    def __init__(self, most):
        super().__init__(60)
        self.reply_bytes = most


@pytest.fixture
def shop(database):
    """A gateway with 250 notes of an author; acts register with it."""
    gw = gateway(error_detail=True)
    gw.odm.set_db(database)
    gw.authors = gw.odm.new_model("author", {"name": string()})
    gw.notes = gw.odm.new_model(
        "note",
        {"n": integer(), "text": string()},
        {"author": {"schemaName": "author", "type": "single", "relatedRelations": {"notes": {"type": "multiple"}}}},
    )
    author = gw.authors.insert_one(doc={"_id": ObjectId(b"a" * 12), "name": "Ann"})
    relations = {"author": {"_ids": author["_id"], "relatedRelations": {"notes": True}}}
    docs = [{"_id": ObjectId(b"n%011d" % n), "n": n, "text": "é\n" * n} for n in range(ROWS)]
    gw.notes.insert_many(docs=docs, relations=relations, projection={})
    return gw


def ask(gw, fn, get=None, **options):
    """Return status and body of the reply of an act, through the app, that is as small as ``fn`` says."""
    gw.acts.act("note", f"act{len(gw.acts.get_main_acts().get('note', {}))}", get=8, **options)(fn)
    name = list(gw.acts.get_main_acts()["note"])[-1]
    body = {"model": "note", "act": name, "details": {"set": {}, "get": get or {"_id": 1}}}
    reply = gw.create_app().test_client().post("/gateway", json=body)
    return reply.status_code, reply.get_json()["body"], len(reply.data) - len(b'{"body":,"success":true}')


def too_large(most, written=""):
    """Return what a refused request gets."""
    return f"the reply would have more than {most} bytes{written}; ask for fewer fields or documents"


SHOWN = {"_id": 1, "n": 1, "text": 1, "author": {"_id": 1, "name": 1}}
DEEP = {"n": 1, "author": {"notes": {"n": 1}}}
RESULTS = {
    "cursor": lambda gw, get: gw.notes.find(projection=get).sort("n"),
    "limited cursor": lambda gw, get: gw.notes.find(projection=get).sort("n").limit(150),
    "list": lambda gw, get: gw.notes.find(projection=get).sort("n").to_list(),
    "document": lambda gw, get: gw.notes.find_one(filters={"n": 249}, projection=get),
    "generator": lambda gw, get: (note for note in gw.notes.find(projection=get)),
    "aggregation": lambda gw, get: gw.notes.aggregate([{"$match": {"n": {"$gt": 3}}}]),
    "nested": lambda gw, get: {
        "a": [gw.notes.find(projection=get).limit(120), {"b": gw.notes.find(projection=get).limit(130)}],
        "c": (iter([gw.notes.find(projection=get).limit(3)]) for _ in range(2)),
        "none": gw.notes.find(filters={"n": -1}),
    },
}


@pytest.mark.parametrize("get", [SHOWN, DEEP], ids=["flat", "deep"])
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_body_of_exactly_the_bound_passes_and_one_byte_more_is_refused(shop, result, get):
    def fn(body):
        return result(shop, body["details"]["get"])

    status, body, size = ask(shop, fn, get, max_reply_bytes=2**30)
    assert status == 200
    # What lies beyond copies is weighed before: that may be refused earlier, which is tested with `weigh`.
    loose = get is DEEP and result is not RESULTS["aggregation"]
    if not loose:
        assert ask(shop, fn, get, max_reply_bytes=size) == (200, body, size)
    status, body, _ = ask(shop, fn, get, max_reply_bytes=size - 1)
    assert status == 413
    assert body["code"] == "reply_too_large"
    assert body["message"] == too_large(size - 1)


@pytest.mark.parametrize("count", [0, 1, 100, 101, 102, 202, 203, 249, 250])
@pytest.mark.parametrize("limited", [False, True], ids=["all", "limited"])
def test_pieces_are_put_together_as_one_array(shop, count, limited):
    cursor = shop.notes.find(filters={} if limited else {"n": {"$lt": count}}, projection=SHOWN).sort("n")
    cursor = cursor.limit(count) if limited and count else cursor
    found = orjson.loads(success({"rows": cursor}))["body"]["rows"]
    assert [row["n"] for row in found] == list(range(count or (ROWS if limited else 0)))
    assert found == orjson.loads(success(cursor.to_list()))["body"]


@pytest.mark.parametrize(("own", "setting", "most"), [(None, 500, 500), (100, 500, 100), (900, 500, 900)])
def test_an_act_may_say_its_own_bound(own, setting, most):
    gw = gateway(max_reply_bytes=setting)
    gw.acts.act("text", "get", set={"n": integer()}, max_reply_bytes=own)(
        lambda body: "x" * body["details"]["set"]["n"]
    )
    client = gw.create_app().test_client()
    sent = [{"model": "text", "act": "get", "details": {"set": {"n": n - 2}, "get": {}}} for n in (most, most + 1)]
    replies = [client.post("/gateway", json=body) for body in sent]
    assert [reply.status_code for reply in replies] == [200, 413]
    assert len(replies[0].data) == most + len(b'{"body":,"success":true}')
    assert replies[1].get_json() == {"body": {"message": too_large(most)}, "success": False}
    assert replies[1].headers["X-Error-Code"] == "reply_too_large"


def test_acts_given_as_objects_may_say_it_too(shop):
    act = {"validator": {"set": {}, "get": {}}, "fn": lambda body: "12345", "maxReplyBytes": 6}
    shop.acts.set_service("other", {"text": {"get": act, "more": {**act, "maxReplyBytes": 7}}})
    shop.acts.setAct(schema="text", actName="get", **act)
    client = shop.create_app().test_client()
    body = {"model": "text", "act": "get", "details": {"set": {}, "get": {}}}
    sent = [{**body, "service": "other"}, body, {**body, "service": "other", "act": "more"}]
    assert [client.post("/gateway", json=one).status_code for one in sent] == [413, 413, 200]


@pytest.mark.parametrize("fast", [True, False], ids=["lane", "blueprint"])
def test_what_was_written_stays_and_the_message_says_so(shop, fast):
    def rename(body):
        shop.authors.find_one_and_update(filter={"_id": {"$exists": True}}, update={"$set": {"name": "Bea"}})
        return shop.notes.find()

    shop.acts.act("author", "rename", max_reply_bytes=300)(rename)
    body = {"model": "author", "act": "rename", "details": {"set": {}, "get": {}}}
    reply = shop.create_app(fast_lane=fast).test_client().post("/gateway", json=body)
    stays = "; whatever this request wrote stays"
    assert (reply.status_code, reply.get_json()["body"]["message"]) == (413, too_large(300, stays))
    assert shop.authors.find_one(projection={"_id": 0, "name": 1}) == {"name": "Bea"}


def test_a_write_that_shows_too_much_of_other_documents_is_not_done(shop):
    def rename(body):
        return shop.authors.find_one_and_update(
            filter={"_id": {"$exists": True}},
            update={"$set": {"name": "Bea"}},
            projection={"notes": {"author": {"notes": {"n": 1}}}},
        )

    status, body, _ = ask(shop, rename)
    assert status == 200
    shop.authors.find_one_and_update(filter={"_id": {"$exists": True}}, update={"$set": {"name": "Ann"}})
    status, body, _ = ask(shop, rename, max_reply_bytes=100_000)
    assert (status, body["message"]) == (413, too_large(100_000))
    assert shop.authors.find_one(projection={"_id": 0, "name": 1}) == {"name": "Ann"}


class Pieces:
    """A source of pieces of two numbers of ten bytes, which counts what was read."""

    def __init__(self, before=lambda: None):
        self.read = 0
        self._before = before

    def __iter__(self):
        for _ in range(1_000):
            self._before()
            self.read += 1
            yield [1_234_567_890] * 2


@pytest.mark.parametrize("most", [1, 21, 22, 23, 100, 230])
def test_a_cursor_that_passes_the_bound_is_read_no_further(most):
    pieces = Pieces()
    with pytest.raises(ReplyTooLarge):
        success({"rows": [Found(iter(pieces))]}, Bound(most))
    # n pieces take 22 bytes each, and one more for the bracket before them.
    assert pieces.read == (most - 1) // 22 + 1


def test_iterators_inside_of_iterators_count_once():
    def value():
        return (iter([n, (m for m in range(150))]) for n in range(150))

    size = len(success(value())) - len(b'{"body":,"success":true}')
    assert len(success(value(), Bound(size))) == size + len(b'{"body":,"success":true}')
    with pytest.raises(ReplyTooLarge):
        success(value(), Bound(size - 1))


def test_the_deadline_is_looked_at_between_two_pieces():
    scope = Bound(2**30)
    late = Pieces(before=lambda: late.read == 3 and scope.end())
    with pytest.raises(Timeout):
        success(Found(iter(late)), scope)
    assert late.read == 4


def large(before=lambda read: None):
    """Return the texts of 300 kB that an iterator is to give, and those it gave."""
    read = []

    def values():
        for number in range(20):
            before(len(read))
            read.append(str(number) * 300_000)
            yield read[-1]

    return values(), read


def test_large_values_of_an_iterator_are_read_one_by_one():
    values, read = large()
    with pytest.raises(ReplyTooLarge):
        success({"rows": values}, Bound(1_000_000))
    assert len(read) == 4


def test_the_deadline_is_looked_at_between_large_values():
    scope = Bound(2**30)
    values, read = large(before=lambda count: count == 3 and scope.end())
    with pytest.raises(Timeout):
        success({"rows": values}, scope)
    assert len(read) == 4


class Sized(UserDict):
    """An object of 300 kB of JSON that notes when it is written."""

    def __init__(self, written):
        super().__init__(text="x" * 300_000)
        self._written = written

    def __iter__(self):
        self._written.append(self)
        return super().__iter__()


@pytest.mark.parametrize("made", [list, tuple])
@pytest.mark.parametrize("place", [lambda rows: rows, lambda rows: {"count": 80, "rows": rows}], ids=["whole", "named"])
def test_large_values_of_a_list_are_written_one_by_one(made, place):
    written = []
    with pytest.raises(ReplyTooLarge):
        success(place(made(Sized(written) for _ in range(80))), Bound(1_000_000))
    assert len(written) == 4


@pytest.fixture
def pieces(monkeypatch):
    """The lengths of the lists that are written, in order."""
    sizes = []

    def dumps(value, **options):
        if type(value) in (list, tuple):
            sizes.append(len(value))
        return orjson.dumps(value, **options)

    monkeypatch.setattr("gatewayfw.web.reply.orjson", SimpleNamespace(**{**vars(orjson), "dumps": dumps}))
    return sizes


@pytest.mark.parametrize(
    ("value", "sizes"),
    [
        ([0] * 64, [64]),
        ([0] * 65, [1, 64]),
        ([0] * 300, [1, 101, 101, 97]),
        ((0 for _ in range(300)), [1, 101, 101, 97]),
        (Found(iter([[0] * 300])), [101, 101, 98]),
        (["x" * 2619] * 250, [1, 99, 99, 51]),
        (("x" * 2619 for _ in range(250)), [1, 99, 99, 51]),
    ],
    ids=["short list", "longer list", "list", "iterator", "cursor", "list of texts", "iterator of texts"],
)
def test_many_values_are_written_in_pieces_of_some_size(pieces, value, sizes):
    """One more would be too much for a thread; far fewer take longer."""
    success(value)
    assert pieces == sizes


LISTS = {
    "whole": list(range(1_000)),
    "tuple": tuple(range(1_000)),
    "large": ["é" * 200_000] * 9,
    "named": {"count": 1_000, "rows": list(range(1_000)), "more": ["x" * 300_000] * 3, "none": [], "one": (1,)},
    "beside a cursor": {"rows": list(range(300)), "cursor": range(300)},
    "deeper": {"page": {"rows": [[n] * 3 for n in range(200)]}},
    "short": [1],
    "empty": [],
}


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_lists_in_pieces_are_the_json_of_the_whole_and_bounded_to_the_byte(value):
    whole = orjson.dumps(value, default=list)
    assert success(value, Bound(len(whole))) == b'{"body":' + whole + b',"success":true}'
    with pytest.raises(ReplyTooLarge):
        success(value, Bound(len(whole) - 1))


def test_large_results_of_an_act_are_made_one_by_one(shop):
    made = []
    notes = shop.notes.find(projection={"n": 1}).sort("n")
    with pytest.raises(ReplyTooLarge):
        success((made.append(note["n"]) or "x" * 300_000 for note in notes), Bound(1_000_000))
    assert made == [0, 1, 2, 3]


def test_what_is_finished_is_sent_after_the_deadline():
    scope = Bound(2**30)
    scope.end()
    assert success({"rows": [1, 2], "more": (n for n in range(100))}, scope).startswith(b'{"body":{"rows":[1,2]')


@pytest.mark.parametrize("value", LISTS.values(), ids=LISTS)
def test_lists_that_are_finished_are_sent_after_the_deadline(value):
    scope = Bound(2**30)
    scope.end()
    if value is not LISTS["beside a cursor"]:
        assert orjson.loads(success(value, scope))["body"] == orjson.loads(orjson.dumps(value))


def test_a_cursor_after_the_deadline_is_not_read(shop):
    cursor = shop.notes.find()
    with shop.odm.storage.deadline(30) as scope:
        scope.end()
        with pytest.raises(Timeout):
            success(cursor, scope)

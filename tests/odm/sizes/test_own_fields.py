"""How large the pure fields of a document may get: its own writer is refused, nobody else."""

from __future__ import annotations

import bson
import pytest
from bson import ObjectId

from gatewayfw.errors import GatewayError, TooLarge
from gatewayfw.odm import Odm
from gatewayfw.odm.sizes import own_fields as allowance
from gatewayfw.odm.sizes.budgets import own_bytes
from gatewayfw.odm.sizes.own_fields import Allowance, FieldsTooLarge, allowance_of, foresee
from gatewayfw.odm.writing.updates import Change
from gatewayfw.schemas import Schemas, any_, array, integer, object_, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage
from tests.odm.noted import note_commands

MOST = 1000
ID = ObjectId("f" * 24)
NOTE = {
    "title": string(size=(None, 3000)),
    "count": optional(integer()),
    "tags": optional(array(string())),
    "meta": optional(object_({"text": optional(string()), "tags": optional(array(string()))})),
    "data": optional(any_()),
    "secret": optional(string()),
}
#: What each operator may let grow, of `START`.
START = {"title": "a", "tags": ["a"], "meta": {"tags": []}, "data": {"list": []}}
GROWING = {
    "$set": {"$set": {"title": "a" * MOST}},
    "$set of an excluded field": {"$set": {"secret": "a" * MOST}},
    "$set of many": {"$set": {"title": "a" * 400, "secret": "a" * 400, "meta": {"text": "a" * 400}}},
    "$set below an object": {"$set": {"meta.text": "a" * MOST}},
    "$set below a free value": {"$set": {"data.list.250": 1}},
    "$set of letters of four bytes": {"$set": {"title": "\U0001f600" * (MOST // 4)}},
    "$push": {"$push": {"tags": "a" * MOST}},
    "$push of many": {"$push": {"tags": {"$each": ["a"] * MOST}}},
    "$push below an object": {"$push": {"meta.tags": "a" * MOST}},
    "$addToSet": {"$addToSet": {"tags": "a" * MOST}},
    "$addToSet of many": {"$addToSet": {"tags": {"$each": [str(number) for number in range(200)]}}},
    "$addToSet to what is missing": {"$addToSet": {"meta.tags": "a" * MOST}},
    "several": {"$push": {"tags": "a" * 500}, "$set": {"title": "a" * 600}, "$inc": {"count": 1}},
}


class Notes:
    """Notes, which a board lists, on a storage; their fields have at most 1,000 bytes."""

    def __init__(self, storage):
        schemas = Schemas(Settings(document_bytes=MOST))
        self.storage = storage
        self.odm = Odm(schemas, schemas.settings)
        self.odm.set_db(storage)
        self.board = self.odm.new_model("board", {"name": string(size=(None, 9))})
        listed = {"notes": {"type": "multiple", "limit": 10}}
        board = {"schemaName": "board", "type": "single", "optional": True, "relatedRelations": listed}
        self.note = self.odm.new_model("note", NOTE, {"board": board}, {"excludes": ["secret"]})
        self.odm.ready()
        self.home = self.board.insert_one(doc={"name": "home"})["_id"]

    def add(self, **fields):
        """Add a note to the board."""
        relations = {"board": {"_ids": self.home, "relatedRelations": {"notes": True}}}
        return self.note.insert_one(doc={"_id": ID, **START, **fields}, relations=relations)["_id"]

    def overfill(self, **fields):
        """Add a note and let it be too large, as another tool or a higher setting may have left it."""
        self.add()
        self.storage.update_one("note", {"_id": ID}, {"$set": {"title": "a" * 2000, **fields}}, None)

    def update(self, update, filter=None):
        return self.note.find_one_and_update(filter=filter or {"_id": ID}, update=update, projection={"_id": 1})

    def stored(self):
        """All documents there are, as stored."""
        return {name: sorted(self.storage.find(name, {}), key=str) for name in ("board", "note")}


@pytest.fixture
def notes(storage):
    return Notes(storage)


@pytest.fixture
def bare(storage, monkeypatch):
    """Notes on a storage that says it has no transactions."""
    for adapter in (MockStorage, MongoStorage):
        monkeypatch.setattr(adapter, "has_transactions", lambda self: False)
    return Notes(storage)


@pytest.fixture(params=["transactions", "none"])
def either(request, storage, monkeypatch):
    """Notes on a storage with transactions, and on one that says it has none."""
    if request.param == "none":
        for adapter in (MockStorage, MongoStorage):
            monkeypatch.setattr(adapter, "has_transactions", lambda self: False)
    return Notes(storage)


def refusal(where=""):
    """The message for a note of so many bytes."""
    return f"note{where}: the fields of this document would have more than {MOST} bytes"


def fields_of(size, **more):
    """The fields of a note of so many bytes."""
    return {**more, "title": "a" * (size - len(bson.encode({**more, "title": ""})))}


# -- inserting


def test_fields_may_have_just_the_bytes_of_the_setting(notes):
    assert notes.note.insert_one(doc=fields_of(MOST)) is not None
    with pytest.raises(TooLarge) as refused:
        notes.note.insert_one(doc=fields_of(MOST + 1))
    assert refused.value.message == refusal()
    assert refused.value.status == 413
    assert refused.value.code == "too_large"
    assert notes.note.count() == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"secret": "s" * 800},
        {"tags": ["a" * 50] * 15},
        {"tags": ["\u4e2d" * 140] * 2},
        {"data": [[1]] * 50},
        {"meta": {"text": "a" * 800}},
    ],
    ids=["excluded", "list", "letters of three bytes", "free", "nested"],
)
def test_all_pure_fields_count_together(notes, fields):
    before = notes.stored()
    size = len(bson.encode({**START, **fields}))
    title = "a" * (MOST + 2 - size)
    with pytest.raises(TooLarge) as refused:
        notes.add(**fields, title=title)
    assert refused.value.message == refusal()
    assert notes.stored() == before


def test_one_that_is_too_large_keeps_all_from_being_inserted(notes):
    with pytest.raises(TooLarge) as refused:
        notes.note.insert_many(docs=[fields_of(MOST), fields_of(MOST + 7)])
    assert refused.value.message == refusal(" (docs.1)")
    assert notes.note.count() == 0


def test_copies_and_id_do_not_count(notes):
    assert notes.add(**fields_of(MOST, tags=["a"], meta={"tags": []}, data={"list": []})) == ID


def test_a_model_has_an_allowance_where_its_fields_may_have_one_byte_too_many():
    schema = Schemas(Settings()).add("note", {"a": string(size=(None, 5)), "b": integer()})
    assert allowance_of(schema, own_bytes(schema)) is None
    most = own_bytes(schema) - 1
    assert allowance_of(schema, most) == Allowance("note", ("a", "b"), most)


def test_what_cannot_be_encoded_is_for_the_database_to_refuse():
    for value in (2**70, {"a\0": 1}, object()):
        Allowance("note", ("a",), 0).check_new({"a": value}, "doc")


# -- updating


@pytest.mark.parametrize(
    ("before", "after", "refused"),
    [
        (None, {"a": "x" * 8, "c": "x" * 99}, False),
        (None, {"a": "x" * 9}, True),
        ({"a": "x" * 9}, {"a": "x" * 9}, False),
        ({"a": "x" * 9}, {"a": "x" * 10}, True),
        ({"a": "x" * 9, "b": ""}, {"a": "x" * 9, "b": "x"}, False),
        ({"a": "x" * 9, "b": "xx"}, {"a": "x" * 10, "b": ""}, True),
        ({"b": "x" * 30}, {"b": "x" * 28, "a": ""}, True),
    ],
)
def test_a_change_is_refused_where_a_field_that_it_names_grows_too_large(before, after, refused):
    allowance = Allowance("note", ("a", "b"), len(bson.encode({"a": "x" * 8})))
    change, told = Change({}, frozenset("a"), frozenset()), False
    try:
        allowance.check_change(change, before, after)
    except FieldsTooLarge as error:
        told = error.message == (f"note: the fields of this document would have more than {allowance.most} bytes")
    assert told == refused


def test_an_update_that_fits_reads_nothing_first(notes):
    notes.add()
    commands = note_commands(notes.storage)
    notes.update({"$set": {"title": "b"}})
    assert commands[0][:3] == ("update_one", "note", {"_id": ID})


def test_without_transactions_an_update_reads_the_fields_that_count_first(bare):
    bare.add()
    commands = note_commands(bare.storage)
    assert bare.update({"$set": {"title": "b"}}, {"title": "c"}) is None
    assert commands == [("find", "note", {"title": "c"}, tuple(NOTE), {"limit": 1})]


@pytest.mark.parametrize("update", GROWING.values(), ids=GROWING)
def test_an_update_that_makes_fields_too_large_changes_nothing(notes, update):
    notes.add()
    before = notes.stored()
    with pytest.raises(TooLarge, match="^note: the fields of this document would have more than 1000 bytes$"):
        notes.update(update)
    assert notes.stored() == before


@pytest.mark.parametrize("update", GROWING.values(), ids=GROWING)
def test_without_transactions_it_is_refused_before_it_is_written(bare, update):
    bare.add()
    before = bare.stored()
    with pytest.raises(TooLarge, match="^note: the fields of this document would have more than 1000 bytes$"):
        bare.update(update)
    assert bare.stored() == before


SMALL = {
    "$set": ({"$set": {"title": "b", "meta.text": "c"}}, {"title": "b", "meta": {"tags": [], "text": "c"}}),
    "$push": ({"$push": {"tags": "b"}, "$inc": {"count": 1}}, {"tags": ["a", "b"], "count": 1}),
    "$addToSet": ({"$addToSet": {"tags": {"$each": ["a", "b"]}}}, {"tags": ["a", "b"]}),
    "$pull": ({"$pull": {"tags": "a"}, "$unset": {"data.list": ""}}, {"tags": [], "data": {}}),
}


@pytest.mark.parametrize(("update", "changed"), SMALL.values(), ids=SMALL)
def test_what_fits_is_written_to_the_document_and_its_copies(either, update, changed):
    either.add()
    assert either.update(update) == {"_id": ID}
    document, (listed,) = either.note.find_one(), either.board.find_one()["notes"]
    assert listed == {"_id": ID, **START, **changed}
    assert document == {**listed, "board": {"_id": either.home, "name": "home"}}


def test_the_document_a_filter_finds_is_the_one_that_is_judged_and_written(either):
    either.add()
    assert either.update({"$set": {"title": "b"}}, {"title": "a", "tags": "a"}) == {"_id": ID}
    assert either.update({"$set": {"title": "c"}}, {"title": "a"}) is None
    assert either.note.find_one()["title"] == "b"


def test_what_is_written_is_what_was_looked_at(bare, monkeypatch):
    bare.add()
    filters, update_one = [], bare.storage.update_one
    monkeypatch.setattr(
        bare.storage, "update_one", lambda name, *args: filters.append(args[0]) or update_one(name, *args)
    )
    bare.update({"$set": {"title": "b"}}, {"title": "a"})
    assert filters[0] == {"title": "a", "_id": ID}


def test_a_full_list_still_lets_other_fields_be_written(notes):
    notes.add()
    with pytest.raises(TooLarge):
        for _ in range(MOST):
            notes.update({"$push": {"tags": "a" * 50}})
    full = len(notes.note.find_one()["tags"])
    notes.update({"$set": {"title": "b"}})
    notes.board.find_one_and_update(filter={"_id": {"$exists": True}}, update={"$set": {"name": "new"}})
    note = notes.note.find_one()
    assert note["title"] == "b"
    assert len(note["tags"]) == full
    assert note["board"]["name"] == "new"


# -- a document that is too large already

STAYING = {
    "another field": {"$set": {"meta.tags": []}},
    "the large field, no longer": {"$set": {"title": "b" * 2000}},
    "the large field, shorter": {"$set": {"title": "b" * 1500}},
    "one out of a list": {"$pull": {"tags": "a"}},
    "away with it": {"$unset": {"data": ""}},
}


@pytest.mark.parametrize("update", STAYING.values(), ids=STAYING)
def test_one_too_large_may_change_where_nothing_grows(either, update):
    either.overfill()
    assert either.update(update) == {"_id": ID}
    document, (listed,) = either.note.find_one(), either.board.find_one()["notes"]
    assert document == {**listed, "board": {"_id": either.home, "name": "home"}}


def test_one_too_large_may_be_given_what_it_has(notes):
    notes.overfill()
    assert notes.update({"$addToSet": {"tags": "a"}}) == {"_id": ID}


@pytest.mark.parametrize(
    "update",
    [{"$set": {"title": "b" * 2001}}, {"$push": {"tags": "b"}}, {"$set": {"count": 1, "title": "b" * 1500}}],
    ids=["longer", "one more", "one field more, another shorter"],
)
def test_one_too_large_may_not_grow_in_a_field_that_is_named(either, update):
    either.overfill()
    before = either.stored()
    with pytest.raises(TooLarge):
        either.update(update)
    assert either.stored() == before


# -- inside a transaction


def test_inside_a_transaction_one_too_large_may_change_where_nothing_grows(notes):
    notes.overfill()
    notes.odm.transaction(lambda: notes.update({"$set": {"title": "b" * 1500}}))
    assert notes.note.find_one()["title"] == "b" * 1500


def test_inside_a_transaction_a_refusal_undoes_all_of_it(notes):
    notes.add()
    before = notes.stored()

    def work():
        notes.update({"$set": {"title": "b"}})
        notes.update({"$set": {"title": "b" * MOST}})

    with pytest.raises(TooLarge):
        notes.odm.transaction(work)
    assert notes.stored() == before


# -- what it costs


def test_a_model_that_cannot_have_more_is_never_measured(notes, monkeypatch):
    measured = []
    monkeypatch.setattr(allowance, "encode", lambda document: measured.append(document) or bson.encode(document))
    home = notes.board.insert_one(doc={"name": "b"})["_id"]
    notes.board.find_one_and_update(filter={"_id": home}, update={"$set": {"name": "c"}})
    assert measured == []
    notes.add()
    assert len(measured) == 1


def test_the_default_is_4_mib(storage):
    schemas = Schemas(Settings())
    odm = Odm(schemas, schemas.settings)
    odm.set_db(storage)
    note = odm.new_model("note", {"lines": array(string())})
    lines = ["a" * 10_000] * 418
    with pytest.raises(TooLarge, match="^note: .* would have more than 4194304 bytes$"):
        note.insert_one(doc={"lines": [*lines, *lines[:2]]})
    assert len(note.insert_one(doc={"lines": lines})["lines"]) == 418


# -- what an update would give


FORESEEN = [
    *GROWING.values(),
    {"$set": {"data.new.a": 1}},
    {"$set": {"data.a.0": 1}},
    {"$set": {"data": [1, 2]}},
    {"$inc": {"data.number": 1.5, "count": -2}},
    {"$mul": {"data.number": 1.5, "count": 2**40}},
    {"$max": {"data.number": 1.5, "count": 2**40}},
    {"$min": {"data.number": 1.5, "count": -(2**40)}},
    {"$set": {"data.list.0": 1}},
    {"$set": {"tags.0": "b"}},
    {"$set": {"tags.1": "b"}},
    {"$push": {"meta.tags": {"$each": []}}},
    {"$unset": {"data.list": "", "tags": "", "meta.none.deep": "", "data.none": ""}},
    {"$addToSet": {"tags": {"$each": ["b", "c"]}}},
]


@pytest.mark.mongo
def test_an_object_beyond_the_end_of_a_list_is_foreseen(mongo_database):
    """mongomock 4.3 raises an IndexError."""
    test_what_is_foreseen_is_what_the_database_makes(MongoStorage(mongo_database), {"$set": {"data.list.3.a": 1}})


@pytest.mark.parametrize("update", FORESEEN)
def test_what_is_foreseen_is_what_the_database_makes(storage, update):
    storage.insert("note", [{"_id": ID, **START, "count": 1}])
    (before,) = storage.find("note", {})
    kept = repr(before)
    foreseen = foresee(before, update)
    assert storage.update_one("note", {"_id": ID}, update, None) == foreseen
    assert repr(before) == kept


@pytest.mark.parametrize(
    "update",
    [{"$set": {"title": "b", "tags.x": 1}}, {"$inc": {"title": 1}}, {"$push": {"title": 1}}, {"$set": {"data.$": 1}}],
    ids=str,
)
def test_what_the_database_refuses_is_foreseen_as_no_change(storage, update):
    storage.insert("note", [{"_id": ID, **START}])
    (before,) = storage.find("note", {})
    assert foresee(before, update) == before
    with pytest.raises(GatewayError):
        storage.update_one("note", {"_id": ID}, update, None)


def test_what_is_foreseen_takes_away_too():
    assert foresee({"_id": ID, "tags": ["a"]}, {"$pull": {"tags": "a"}})["tags"] == []

"""What one insert may cost: related documents are read once, and copies are counted before any is made."""

from __future__ import annotations

from collections import UserDict, UserList

import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict, Timeout, TooLarge, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.odm.writing.inputs import NewDocument, parse_inputs
from gatewayfw.odm.writing.plan.attempt import Abilities, Attempt
from gatewayfw.odm.writing.plan.insert import insert
from gatewayfw.odm.writing.plan.steps import insert as insert_step
from gatewayfw.odm.writing.plan.steps import touch
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from tests.odm.tags import TAGS
from tests.odm.towns import UNCUT

REFUSED = "post: one insert may embed 6 copies of related documents, all of its documents together"


def posts(count):
    return [{"title": str(number)} for number in range(count)]


def shown(blog):
    """Return the ids of the tags of each post."""
    found = blog.model("post").find(projection={"tags": {"_id": 1}}).sort("_id")
    return [[tag["_id"] for tag in post.get("tags", [])] for post in found]


def test_as_many_copies_as_the_setting_says_are_embedded(blog):
    blog.model("post").insert_many(posts(3), relations={"tags": {"_ids": TAGS[:2]}})
    blog.model("post").insert_many(posts(2), relations=[{"tags": {"_ids": TAGS}}, {"tags": {"_ids": TAGS[:2]}}])
    assert shown(blog) == [TAGS[:2]] * 3 + [TAGS, TAGS[:2]]


@pytest.mark.parametrize(
    ("count", "relations"),
    [
        (4, {"tags": {"_ids": TAGS[:2]}}),
        (3, {"tags": {"_ids": TAGS[:2]}, "main": {"_ids": TAGS[0]}}),
        (2, [{"tags": {"_ids": TAGS}}, {"tags": {"_ids": TAGS[:3]}}]),
    ],
    ids=["one object", "two relations", "one for each"],
)
def test_more_copies_are_refused_before_any_document_is_judged(blog, count, relations):
    with pytest.raises(TooLarge) as refused:
        blog.model("post").insert_many([{"unknown": 1}] * count, relations=relations)
    assert (refused.value.message, shown(blog)) == (REFUSED, [])


def test_one_document_has_the_same_bound(storage):
    settings = Settings(insert_copies=3)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    odm.new_model("tag", {})
    post = odm.new_model("post", {}, {"tags": {"schemaName": "tag", "type": "multiple", "optional": True}})
    with pytest.raises(TooLarge):
        post.insert_one({}, relations={"tags": {"_ids": TAGS}})


class Counted(UserDict):
    """An object that counts how often it is read."""

    reads = 0

    def __iter__(self):
        self.reads += 1
        return super().__iter__()


def test_one_object_for_all_documents_is_read_once(blog):
    relations = Counted({"main": {"_ids": TAGS[0]}})
    blog.model("post").insert_many(posts(6), relations=relations)
    assert relations.reads == 1
    found = blog.model("post").find(projection={"_id": 0, "title": 1, "main": {"name": 1}})
    assert found.sort("title").to_list() == [{"title": str(n), "main": {"name": "0"}} for n in range(6)]


def test_reading_of_a_list_of_objects_ends_where_they_are_too_many(blog):
    relations = Counted({"tags": {"_ids": TAGS}})
    with pytest.raises(TooLarge):
        blog.model("post").insert_many(posts(100), relations=[relations] * 100)
    assert relations.reads == 2


def test_relations_of_no_documents_are_not_read(blog):
    assert blog.model("post").insert_many([], relations={"unknown": 1}) == []


class Late(UserList):
    """Documents of which the third is read after the deadline."""

    reads = 0

    def __iter__(self):
        for document in self.data:
            self.reads += 1
            if self.reads == 3:
                self.scope.end()
            yield document


def test_the_deadline_is_looked_at_between_two_documents(blog):
    docs = Late(posts(50))
    with blog.storage.deadline(30) as docs.scope, pytest.raises(Timeout):
        blog.model("post").insert_many(docs)
    assert (docs.reads, shown(blog)) == (3, [])


def test_what_is_wrong_with_the_relations_is_told_once(blog):
    with pytest.raises(ValidationError) as refused:
        blog.model("post").insert_many(posts(3), relations={"tags": {"_ids": ["x"]}, "more": {}})
    assert refused.value.errors == {
        "relations.tags._ids": ["Not a valid id."],
        "relations.more": ["Unknown field."],
    }


def test_only_what_may_have_been_there_before_begins_with_a_version(blog, storage):
    note = blog.new_model("note", {"text": string()})
    made = note.insert_one({"text": "new"})["_id"]
    note.insert_one({"_id": TAGS[0], "text": "chosen"})
    chosen, new = storage.find("note", {}, sort=[("_id", 1)])
    version = note.find_one({"_id": TAGS[0]}, projection={"_rev": 1})["_rev"]
    counted = {"rev": version} if storage.counts_locks() else {}
    assert new == {"_id": made, "text": "new"}
    assert chosen == {"_id": TAGS[0], "text": "chosen", "_gw": {"v": version, "r": version, **counted}}


def test_all_ids_that_are_still_being_removed_are_named(storage):
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    tag = odm.new_model("tag", {"name": string})
    post = odm.new_model("post", {}, {"tags": {"schemaName": "tag", "type": "multiple", "optional": True}})
    tag.insert_many([{"_id": id_, "name": "old"} for id_ in TAGS])
    post.insert_one({}, relations={"tags": {"_ids": TAGS}})
    with odm.leave_to_jobs():
        for id_ in TAGS[:2]:
            tag.delete_one({"_id": id_}, hard_cascade=True)
        with pytest.raises(Conflict) as refused:
            tag.insert_many([{"_id": id_, "name": "new"} for id_ in (ObjectId(), TAGS[1], TAGS[0])])
    assert refused.value.message == f"tag is still being spread or removed: {TAGS[0]}, {TAGS[1]}"


# -- without a storage


def test_an_insert_reads_its_sources_before_it_writes():
    """The plan is given what each step would read; nothing is sent."""
    schemas = Schemas(Settings())
    schemas.add("tag", {"name": string()})
    post = schemas.add("post", {"title": string()}, {"main": {"schemaName": "tag", "type": "single"}})
    inputs = parse_inputs(post, {"main": {"_ids": TAGS[0]}})
    new = NewDocument({"_id": TAGS[1], "title": "new"}, 0, inputs)
    plan = insert(Attempt(schemas, Abilities(True, True, 16 * 1024 * 1024)), post, [new])
    assert next(plan) == touch("tag", {"_id": TAGS[0]}, ["_gw.v", "name"], UNCUT)
    written = plan.send({"_id": TAGS[0], "name": "blue", "_gw": {"v": 3}})
    document = {
        "_id": TAGS[1],
        "title": "new",
        "main": {"_id": TAGS[0], "name": "blue"},
        "_gw": {"at": {"main": {str(TAGS[0]): 3}}},
    }
    assert written == insert_step("post", [document])
    with pytest.raises(StopIteration) as end:
        plan.send(None)
    assert end.value.value == [document]

"""What one insert may cost: related documents are read once, and copies are counted before any is made."""

from __future__ import annotations

from collections import UserDict, UserList

import pytest
from bson import ObjectId

from gatewayfw.errors import Conflict, Timeout, TooLarge, ValidationError
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings

TAGS = [ObjectId(f"{number:024x}") for number in range(1, 5)]
REFUSED = "post: one insert may embed 6 copies of related documents, all of its documents together"


@pytest.fixture
def blog(storage):
    """Four tags, and posts of which one insert may embed 6 copies of tags and authors."""
    settings = Settings(insert_copies=6)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    tag = odm.new_model("tag", {"name": string})
    relations = {
        "tags": {"schemaName": "tag", "type": "multiple", "optional": True},
        "main": {"schemaName": "tag", "type": "single", "optional": True},
    }
    odm.new_model("post", {"title": string}, relations)
    tag.insert_many([{"_id": id_, "name": str(number)} for number, id_ in enumerate(TAGS)])
    return odm


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
    with blog.deadline(30) as docs.scope, pytest.raises(Timeout):
        blog.model("post").insert_many(docs)
    assert (docs.reads, shown(blog)) == (3, [])


def test_what_is_wrong_with_the_relations_is_told_once(blog):
    with pytest.raises(ValidationError) as refused:
        blog.model("post").insert_many(posts(3), relations={"tags": {"_ids": ["x"]}, "more": {}})
    assert refused.value.errors == {
        "relations.tags._ids": ["Not a valid id."],
        "relations.more": ["Unknown field."],
    }


def test_nothing_more_may_come_to_a_required_relation(blog):
    required = {"tags": {"schemaName": "tag", "type": "multiple", "optional": False}}
    note = blog.new_model("note", {}, required)
    made = note.insert_one({}, relations={"tags": {"_ids": TAGS[:1]}})
    assert note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}) == made
    with pytest.raises(Conflict, match="tags is required"):
        note.add_relation({"_id": made["_id"]}, relations={"tags": {"_ids": []}}, replace=True)
    assert note.find_one({}) == made


def test_only_what_may_have_been_there_before_begins_with_a_version(blog, storage):
    note = blog.new_model("note", {"text": string()})
    made = note.insert_one({"text": "new"})["_id"]
    note.insert_one({"_id": TAGS[0], "text": "chosen"})
    chosen, new = storage.find("note", {}, sort=[("_id", 1)])
    version = note.find_one({"_id": TAGS[0]}, projection={"_rev": 1})["_rev"]
    counted = {"rev": version} if storage.counts_locks() else {}
    assert new == {"_id": made, "text": "new"}
    assert chosen == {"_id": TAGS[0], "text": "chosen", "_gw": {"v": version, "r": version, **counted}}

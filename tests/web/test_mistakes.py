"""Whose mistake a filter, a sort or an update is, as a client and the log see it."""

from __future__ import annotations

import logging

import pytest

from gatewayfw import any_, array, gateway, integer, optional, string
from gatewayfw.odm import Operators
from gatewayfw.schemas import object_

#: The filter that means the only book; an empty one is refused.
BOOK = {"_id": {"$exists": True}}


@pytest.fixture
def call(database):
    """A function that posts a `set` to the act `do`, which runs the operation it is given on the model `book`."""
    gw = gateway()
    gw.odm.set_db(database)
    author = {"schemaName": "book", "type": "single", "optional": True}
    fields = {"title": string(), "n": optional(integer()), "pin": optional(string()), "marks": optional(array(any_()))}
    books = gw.odm.new_model(
        "book", fields, {"author": author, "copies": {**author, "type": "multiple"}}, {"excludes": ["pin"]}
    )
    books.insert_one({"title": "a", "n": 2**63 - 1, "marks": [1]})
    operations = []
    gw.acts.act("book", "do", set=object_(), get={}, public=True)(
        lambda body: operations[-1](books, body["details"]["set"])
    )
    client = gw.create_app().test_client()

    def run(operation, **sent):
        operations.append(operation)
        reply = client.post("/gateway", json={"model": "book", "act": "do", "details": {"set": sent, "get": {}}})
        return reply.status_code, reply.headers["X-Error-Code"], reply.get_json()["body"]["message"]

    return run


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda books, sent: books.find({"titel": sent["x"]}), "filter: model book has no field titel"),
        (lambda books, sent: books.find_one(filters={"pin": sent["x"]}), "filters: model book excludes pin"),
        (lambda books, sent: books.find().sort(sent["x"]), "sort: model book has no field secret words"),
        (lambda books, sent: books.count({"author": sent["x"]}), "filter: author is a relation; write author._id"),
        (lambda books, sent: books.delete_one({"n": {"$near": sent["x"]}}), "filter: unknown operator $near"),
        (lambda books, sent: books.find_one_and_update(BOOK, {"$inc": {"title": 1}}), "update: $inc title"),
        (
            lambda books, sent: books.find({"marks": Operators({"$in": [{"$gt": 0}, sent["x"]]})}),
            "filter: marks: $in takes values, not operators",
        ),
        (lambda books, sent: books.find().sort([("n", 1)] * 40), "sort: at most 31 fields"),
        (lambda books, sent: books.find().sort({"marks": 1, "copies.n": 1}), "sort: marks and copies are lists"),
        (lambda books, sent: books.delete_one({}), "filter: say which document to change or delete"),
    ],
    ids=["name", "excluded", "sort", "relation", "operator", "update", "in", "keys", "lists", "empty"],
)
def test_a_mistake_of_the_code_is_logged_and_not_told(call, caplog, operation, message):
    with caplog.at_level(logging.ERROR, "gatewayfw"):
        assert call(operation, x="secret words") == (500, "usage_error", "internal error")
    (record,) = caplog.records
    assert message in record.getMessage()
    assert "test_mistakes.py" in record.getMessage()


@pytest.mark.parametrize(
    ("operation", "sent", "message"),
    [
        (lambda books, sent: books.find({"n": sent["n"]}), {"n": "abc"}, "filter.n: Not a valid integer."),
        (
            lambda books, sent: books.find_one(filters={"_id": {"$in": sent["ids"]}}),
            {"ids": ["x"]},
            "filters._id.0: Not a valid ObjectId (24 hexadecimal digits).",
        ),
        (
            lambda books, sent: books.find_one_and_update(BOOK, {"$set": sent}),
            {"titel": "x"},
            "update.titel: Not a pure field of the model.",
        ),
        (
            lambda books, sent: books.find_one_and_update(BOOK, {"$inc": sent}),
            {"n": 1},
            "update.n: The number would leave 64 bits.",
        ),
        (
            lambda books, sent: books.find_one_and_update(BOOK, {"$pull": {"marks": sent["mark"]}}),
            {"mark": {"$ne": None}},
            "update.marks: Keys may not start with $, but those of Operators in the server's code.",
        ),
    ],
    ids=["number", "id", "set", "increment", "element"],
)
def test_a_value_that_does_not_fit_is_told(call, caplog, operation, sent, message):
    assert call(operation, **sent) == (400, "validation_error", f"validation error: {message}")
    assert caplog.records == []

"""Replies of MongoDB: small ones are decoded at once, large ones document by document, as they are taken."""

from datetime import datetime

import pytest
from bson import CodecOptions, ObjectId, decode, encode
from bson.codec_options import TypeDecoder, TypeRegistry

from gatewayfw.errors import Timeout
from gatewayfw.storage import MongoStorage
from gatewayfw.storage.mongo.reads import AT_ONCE, Undecoded, decode_lazily, take

LARGE = [{"_id": number, "text": "x" * (AT_ONCE + number)} for number in range(5)]
SMALL = [{"_id": number, "text": "x" * (AT_ONCE // 50)} for number in range(250)]


class Texts(TypeDecoder):
    """Counts the texts that are decoded."""

    bson_type = str

    def __init__(self):
        self.count = 0

    def transform_bson(self, value):
        self.count += 1
        return value


def reply(documents, *codecs):
    """Return what the driver makes of the server's reply with these documents."""
    options = CodecOptions(type_registry=TypeRegistry(codecs))
    return decode(encode({"cursor": {"firstBatch": documents, "id": 0}, "ok": 1.0}), decode_lazily(options))


def test_a_small_reply_is_a_plain_one():
    found = reply([{"_id": 1, "a": {"b": [ObjectId(b"a" * 12), datetime(2024, 2, 29)]}}])
    assert type(found) is dict
    assert found == {
        "cursor": {"firstBatch": [{"_id": 1, "a": {"b": [ObjectId(b"a" * 12), datetime(2024, 2, 29)]}}], "id": 0},
        "ok": 1.0,
    }


@pytest.mark.parametrize("documents", [LARGE, SMALL], ids=["large", "small"])
def test_documents_of_a_large_reply_are_decoded_when_they_are_taken(documents):
    waiting = iter(reply(documents)["cursor"]["firstBatch"])
    found = [take(waiting, 101) for _ in range(6)]
    assert [one for piece in found for one in piece] == documents
    assert {type(one) for piece in found for one in piece} == {dict}
    assert [len(piece) for piece in found] == ([1] * 5 + [0] if documents is LARGE else [50, 50, 50, 50, 50, 0])


def test_a_quarter_of_a_megabyte_is_decoded_at_once():
    assert AT_ONCE == 262_144
    around = len(encode({"cursor": {"firstBatch": [{"text": ""}], "id": 0}, "ok": 1.0}))
    small, large = (reply([{"text": "x" * (AT_ONCE - around + more)}]) for more in (0, 1))
    assert type(small) is dict
    assert isinstance(large, Undecoded)


def test_documents_are_taken_until_they_have_so_many_bytes():
    around = len(encode({"text": ""}))
    for less, count in ((0, 1), (1, 2)):
        documents = [{"text": "x" * (AT_ONCE - around - less)}] * 3
        assert len(take(iter(reply(documents)["cursor"]["firstBatch"]), 101)) == count


def test_no_more_are_taken_than_asked_for():
    waiting = iter(reply(SMALL)["cursor"]["firstBatch"])
    assert take(waiting, 3) + take(waiting, 1) == SMALL[:4]
    assert next(waiting).decoded() == SMALL[4]


def test_type_codecs_are_for_documents_only():
    texts = Texts()
    found = reply([{"_id": 1, "text": "a"}], texts)
    [document] = found["cursor"]["firstBatch"]
    assert isinstance(document, Undecoded)
    assert texts.count == 0
    assert (document.decoded(), texts.count) == ({"_id": 1, "text": "a"}, 1)


READS = {
    "all": lambda storage: storage.find("notes", {}, sort=[("_id", 1)]),
    "limited": lambda storage: storage.find("notes", {}, sort=[("_id", 1)], limit=10),
    "aggregate": lambda storage: storage.aggregate("notes", [{"$sort": {"_id": 1}}]),
}


@pytest.fixture
def texts():
    return Texts()


@pytest.fixture
def storage(mongo_database, texts):
    """A storage with five documents, each of which is large by itself, that counts the texts it decodes."""
    storage = MongoStorage(mongo_database.with_options(CodecOptions(type_registry=TypeRegistry([texts]))))
    for document in LARGE:
        storage.insert("notes", [document])
    return storage


@pytest.mark.mongo
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_cursor_given_up_early_decodes_only_what_was_taken(storage, texts, read):
    found = read(storage)
    assert (next(found), texts.count) == (LARGE[0], 1)
    assert (next(found), texts.count) == (LARGE[1], 2)


@pytest.mark.mongo
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_the_deadline_is_looked_at_within_a_reply(storage, texts, read):
    with storage.deadline(30) as scope:
        found = read(storage)
        assert next(found) == LARGE[0]
        scope.end()
        with pytest.raises(Timeout):
            next(found)
    assert texts.count == 1


@pytest.mark.mongo
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_transaction_goes_on_after_a_large_reply(mongo_database, storage, read):
    plain = MongoStorage(mongo_database)

    def fn():
        found = list(read(plain))
        plain.update_many("notes", {}, {"$set": {"text": ""}})
        return found, [one["text"] for one in read(plain)]

    assert plain.transaction(fn) == (LARGE, [""] * 5)

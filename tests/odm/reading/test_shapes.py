"""Documents are shown as the database gives them where it can: what is shown stays what `shape` makes of whole ones."""

from __future__ import annotations

import pytest
from bson import Decimal128, ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.odm import Odm
from gatewayfw.odm.reading.projection import compile_projection
from gatewayfw.odm.reading.shapes import shape
from gatewayfw.schemas import Schemas, any_, decimal, optional, string
from gatewayfw.settings import Settings
from gatewayfw.storage import MockStorage, MongoStorage
from tests.examples import examples

pytestmark = pytest.mark.slow
COPY = ("name", "price", "secret", "other", "_gw")
IDS = st.integers(0, 3).map(lambda number: ObjectId(f"{number:024x}"))
SCALARS = st.sampled_from(["a", 7, None, Decimal128("1.50"), {"name": {"y": 1}}])
#: What a document may have in its hidden field; its revision is in `r`.
HIDDEN = SCALARS | st.fixed_dictionaries(
    {}, optional={"r": SCALARS | st.integers(0, 2**53) | st.booleans(), "v": SCALARS}
)
VALUES = SCALARS | st.just(["x", 1, {"name": 1}])
COPIES = st.fixed_dictionaries({}, optional={"_id": IDS, **dict.fromkeys(COPY, VALUES)})
#: What should be under the name of a link, and what should not.
LINKS = COPIES | st.lists(COPIES, max_size=3) | SCALARS
#: mongomock 4.3 fails where a list holds anything beside documents.
MIXED = LINKS | st.lists(COPIES | VALUES | st.lists(COPIES | VALUES, max_size=2), max_size=3)


def documents(links):
    """Lists of stored documents, each with something under some names."""
    names = {
        "title": VALUES,
        **dict.fromkeys(COPY, VALUES),
        "_gw": HIDDEN,
        **dict.fromkeys(("author", "readers", "fans"), links),
    }
    return st.lists(st.fixed_dictionaries({}, optional=names), min_size=1, max_size=4)


STORED = {MockStorage: documents(LINKS), MongoStorage: documents(MIXED)}
FLAGS = st.sampled_from([0, 1])
BELOW = FLAGS | st.fixed_dictionaries({}, optional=dict.fromkeys(("_id", "name", "price"), FLAGS))
GETS = st.none() | st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("_id", "_rev", "title", "price"), FLAGS),
        **dict.fromkeys(("author", "readers", "fans"), BELOW),
    },
)


@pytest.fixture
def books(storage):
    """A model with a link of each kind, of which one excludes a field; its fields have values of every kind."""
    odm = Odm(Schemas(Settings()), Settings())
    odm.set_db(storage)
    money = optional(decimal(places=2))
    odm.new_model("person", {"name": string(), "price": money, "secret": any_()}, options={"excludes": ["secret"]})
    author = {"schemaName": "person", "type": "single", "excludes": ["price"]}
    readers = {"schemaName": "person", "type": "multiple"}
    favorite = {"schemaName": "book", "type": "single", "relatedRelations": {"fans": {"type": "multiple"}}}
    fields = {"title": any_(), "price": money, "name": optional(string()), "secret": optional(string())}
    model = odm.new_model("book", fields, {"author": author, "readers": readers}, {"excludes": ["secret"]})
    odm.new_model("fan", {"name": string(), "price": money}, {"favorite": favorite})
    return odm, model


@given(get=GETS, data=st.data())
@examples(150)
def test_rows_show_what_shape_shows_of_whole_documents(books, storage, get, data):
    odm, model = books
    stored = data.draw(STORED[type(storage)])
    storage.delete_many("book", {})
    storage.insert("book", [{"_id": ObjectId(f"{number:024x}"), **one} for number, one in enumerate(stored)])
    projection = compile_projection(odm.schemas, odm.schemas.get_schema("book"), get)
    wanted = [shape(projection, whole) for whole in storage.find("book", {}, sort=[("_id", 1)])]
    assert model.find(projection=get).sort("_id").to_list() == wanted
    assert model.find(projection=get).sort("_id").limit(10).to_list() == wanted
    assert model.find_one(filter={"_id": ObjectId("0" * 24)}, projection=get) == wanted[0]

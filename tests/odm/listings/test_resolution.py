"""What the names of a listing lead to: gatewayfw.odm.listings.resolution."""

from __future__ import annotations

import pytest

from gatewayfw import Gateway, any_, array, binary, enums, integer, mapping, object_, optional, string, url, uuid
from gatewayfw.errors import DefinitionError


@pytest.fixture
def gateway():
    return Gateway()


@pytest.fixture
def things(gateway):
    """A model with fields of many kinds, one relation to many, one to a model defined later."""
    fields = {
        "name": string(size=(1, 256)),
        "text": string(),
        "long": string(size=(1, 257)),
        "site": url(),
        "code": uuid(),
        "bytes": binary(size=8),
        "free": any_(),
        "keyed": mapping(integer()),
        "size": object_({"width": integer()}),
        "empty": object_({}),
        "parts": array(object_({"n": integer()})),
        "table": array(array(integer())),
        "tags": array(string(size=(1, 9))),
        "grade": enums("a", "b"),
        "mixed": enums("a", 1),
        "secret": optional(string(size=(1, 9))),
    }
    reverse = {"relatedRelations": {}, "optional": True}
    relations = {
        "owner": {"schemaName": "owner", "type": "single", **reverse},
        "friends": {"schemaName": "owner", "type": "multiple", **reverse},
    }
    model = gateway.odm.new_model("thing", fields, relations, {"excludes": ["secret"]})
    gateway.odm.new_model("owner", {"name": string(size=(1, 9)), "pin": integer()}, options={"excludes": ["pin"]})
    return model


FILTERS = {
    "text": ("name", ["eq", "gt", "prefix", "contains"], "name"),
    "id": ("_id", ["in"], "_id"),
    "part of an object": ("size.width", ["gte"], "size.width"),
    "elements": ("tags", ["eq", "contains"], "tags"),
    "part of elements": ("parts.n", ["lt"], "parts.n"),
    "copy": ("owner.name", ["prefix"], "owner.name"),
    "relation": ("owner", ["exists"], "owner._id"),
    "list of copies": ("friends", ["in"], "friends._id"),
    "field of copies": ("friends.name", ["eq"], "friends.name"),
    "uuid": ("code", ["eq"], "code"),
    "mixed choices": ("mixed", ["eq"], "mixed"),
}


LISTS = {"tags", "parts.n", "friends", "friends.name"}


@pytest.mark.parametrize(("name", "operators", "path"), FILTERS.values(), ids=FILTERS)
def test_a_name_to_filter_by_leads_to_a_scalar(things, name, operators, path):
    found = things.listing(filter={name: operators}).resolution()
    one = found.filters[name]
    assert (found.problems, one.path, one.operators, one.is_list) == ((), path, tuple(operators), name in LISTS)


WRONG_FILTERS = {
    "unknown": ("nothing", ["eq"], "model thing has no field nothing"),
    "excluded": ("secret", ["eq"], "it is excluded: clients could tell its values from what they find"),
    "excluded in copies": ("owner.pin", ["eq"], "the copies in owner leave out pin"),
    "hidden": ("_gw.rev", ["eq"], "model thing has no field _gw"),
    "free": ("free", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "below free": ("free.x", ["eq"], "nothing is known of its values"),
    "object": ("size", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "empty object": ("empty", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "mapping": ("keyed", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "list of objects": ("parts", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "list of lists": ("table", ["eq"], "its values are objects, lists of lists, or of no kind"),
    "number": ("tags.0", ["eq"], "an element cannot be named by its number"),
    "range without order": ("bytes", ["gt"], "values of kind binary have no order: no gt, gte, lt and lte"),
    "lowest without order": ("bytes", ["gte"], "values of kind binary have no order: no gt, gte, lt and lte"),
    "highest without order": ("bytes", ["eq", "lt"], "values of kind binary have no order: no gt, gte, lt and lte"),
    "up to without order": ("bytes", ["lte"], "values of kind binary have no order: no gt, gte, lt and lte"),
    "part of a number": ("size.width", ["contains"], "only texts have prefix and contains"),
    "number below copies": ("friends.0.name", ["eq"], "an element cannot be named by its number"),
    "prefix of a number": ("size.width", ["prefix"], "only texts have prefix and contains"),
    "prefix of a uuid": ("code", ["prefix"], "only texts have prefix and contains"),
}


@pytest.mark.parametrize(("name", "operators", "problem"), WRONG_FILTERS.values(), ids=WRONG_FILTERS)
def test_names_that_cannot_be_filtered_by_are_problems(things, name, operators, problem):
    listing = things.listing(filter={name: operators})
    assert list(listing.problems()) == [f"listing 1 of model 'thing', filter {name!r}: {problem}"]


WRONG_SORTS = {
    "list": ("tags", "it leads through a list"),
    "list of copies": ("friends.name", "it leads through a list"),
    "relation": ("owner", "expected one scalar field; of a relation name a field"),
    "free": ("free", "expected one scalar kind that has an order"),
    "object": ("size", "expected one scalar kind that has an order"),
    "mixed choices": ("mixed", "expected one scalar kind that has an order"),
    "no order": ("bytes", "expected one scalar kind that has an order"),
    "no size": ("text", "values may have more than 1024 bytes; state a smaller size"),
    "too long": ("long", "values may have more than 1024 bytes; state a smaller size"),
    "excluded": ("secret", "it is excluded: clients could tell its values from what they find"),
    "unknown": ("nothing", "model thing has no field nothing"),
}


@pytest.mark.parametrize(("name", "problem"), WRONG_SORTS.values(), ids=WRONG_SORTS)
@pytest.mark.parametrize("place", ["sort", "default_sort"])
def test_names_that_cannot_be_sorted_by_are_problems(things, place, name, problem):
    listing = things.listing(**{place: [name] if place == "sort" else f"-{name}"})
    assert list(listing.problems()) == [f"listing 1 of model 'thing', sort {name!r}: {problem}"]


@pytest.mark.parametrize("name", ["_id", "name", "size.width", "grade", "owner.name"])
def test_scalars_of_known_size_can_be_sorted_by(things, name):
    assert list(things.listing(sort=[name]).problems()) == []


def test_a_wrong_listing_is_a_problem_of_the_gateway(gateway, things):
    things.listing(sort=["tags"])
    assert gateway.schemas.problems() == ["listing 1 of model 'thing', sort 'tags': it leads through a list"]


def test_a_copy_of_a_model_that_is_not_defined_is_a_problem(gateway):
    relation = {"lost": {"schemaName": "nowhere", "type": "single"}}
    listing = gateway.odm.new_model("thing", {"name": string()}, relation).listing(filter={"lost": ["eq"]})
    assert list(listing.problems()) == ["listing 1 of model 'thing', filter 'lost': model not found: nowhere"]


def test_a_page_of_a_wrong_listing_is_refused(things):
    listing = things.listing(filter={"free": ["eq"]}, sort=["tags"])
    with pytest.raises(DefinitionError) as refused:
        listing.page({"set": {}, "get": {}})
    assert refused.value.message == (
        "listing 1 of model 'thing', filter 'free': its values are objects, lists of lists, or of no kind; "
        "listing 1 of model 'thing', sort 'tags': it leads through a list"
    )


def test_a_listing_wants_indexes_for_its_orders_and_equal_values(things):
    found = things.listing(filter={"grade": ["eq"], "name": ["prefix"]}, sort=["name"]).resolution()
    by_name = (("name", 1), ("_id", 1))
    assert found.indexes == (by_name, (("grade", 1), ("_id", 1)), (("grade", 1), *by_name))


def test_ids_and_what_sorts_want_no_index_of_their_own(things):
    found = things.listing(filter={"_id": ["eq"], "name": ["eq"], "grade": ["ne"]}, sort=["_id", "name"]).resolution()
    assert found.indexes == ((("name", 1), ("_id", 1)),)
    by_grade = (("grade", 1), ("_id", 1))
    assert things.listing(filter={"grade": ["eq"]}).resolution().indexes == (by_grade,)
    assert things.listing(default_sort="-grade").resolution().indexes == (by_grade,)


def test_beyond_twelve_indexes_are_left_out(things):
    names = ["name", "tags", "size.width", "grade", "owner.name"]
    found = things.listing(filter=dict.fromkeys(names, ["eq"]), sort=["name", "grade", "owner.name"]).resolution()
    assert (len(found.indexes), found.indexes[0], len(found.left_out)) == (12, (("name", 1), ("_id", 1)), 5)


def test_contains_is_named_as_a_scan(things):
    found = things.listing(filter={"name": ["contains", "eq"]}).resolution()
    assert found.scans == ("listing 1 of model 'thing': 'contains' on name reads every value of it",)

"""What an author may write, what names lead to: gatewayfw.odm.listings.declaration."""

from __future__ import annotations

import pytest

from gatewayfw import Gateway, any_, array, binary, enums, integer, mapping, object_, optional, string, url, uuid
from gatewayfw.errors import DefinitionError
from gatewayfw.odm.listings.declaration import Declaration, declare

PLAIN = {"filter": {}, "sort": [], "default_sort": "-_id", "most": 100, "default": 20, "count": False}


def test_a_declaration_is_kept_as_written():
    given = {"filter": {"year": ["eq", "gte"]}, "sort": ["title"], "default_sort": "-year", "count": 1_000}
    filters, sorts = (("year", ("eq", "gte")),), ("title",)
    assert declare("book", 2, **{**PLAIN, **given}) == Declaration("book", 2, filters, sorts, "-year", 100, 20, 1_000)


@pytest.mark.parametrize(("most", "count"), [(1, 1), (1_000, 2**31 - 1), (1_000, True)])
def test_bounds_are_allowed_themselves(most, count):
    made = declare("book", 0, **{**PLAIN, "most": most, "default": most, "count": count})
    assert made.most == most
    assert made.default == most
    assert made.count == count


def test_a_declaration_says_which_listing_of_its_model_it_is():
    made = declare("book", 1, **{**PLAIN, "filter": {"year": ("eq",)}})
    assert made.where == "listing 2 of model 'book'"
    assert made.text == (
        "Declaration(model='book', number=1, filters=(('year', ('eq',)),), sorts=(), default_sort='-_id', most=100,"
        " default=20, count=False)"
    )


def test_clients_may_sort_by_each_name_in_both_directions():
    assert declare("book", 0, **{**PLAIN, "sort": ["title", "year"]}).orders == ("title", "-title", "year", "-year")


WRONG = {
    "most 0": ({"most": 0}, "most must be an integer in 1..1000"),
    "most true": ({"most": True}, "most must be an integer in 1..1000"),
    "most 1001": ({"most": 1_001}, "most must be an integer in 1..1000"),
    "default above most": ({"most": 10, "default": 11}, "default must be an integer in 1..10"),
    "count 0": ({"count": 0}, "count must be true, false or how many to count, from 1"),
    "count too high": ({"count": 2**31}, "count must be true, false or how many to count, from 1"),
    "default 0": ({"default": 0}, "default must be an integer in 1..100"),
    "most text": ({"most": "5"}, "most must be an integer in 1..1000"),
    "count text": ({"count": "all"}, "count must be true, false or how many to count, from 1"),
    "filter list": ({"filter": ["year"]}, "filter must be an object of names to lists of operators"),
    "operators text": ({"filter": {"year": "eq"}}, "filter 'year': expected a list of operators"),
    "no operator": ({"filter": {"year": []}}, "filter 'year': expected different operators, at least one"),
    "operator twice": ({"filter": {"year": ["eq", "eq"]}}, "filter 'year': expected different operators, at least one"),
    "no text as operator": (
        {"filter": {"year": [["eq"]]}},
        "filter 'year': unknown operator ['eq'] (known: eq, ne, gt, gte, lt, lte, in, nin, exists, prefix, contains)",
    ),
    "unknown operator": (
        {"filter": {"year": ["$gt"]}},
        "filter 'year': unknown operator '$gt' (known: eq, ne, gt, gte, lt, lte, in, nin, exists, prefix, contains)",
    ),
    "no name": ({"filter": {"": ["eq"]}}, "'' is not the name of a field"),
    "number as name": ({"filter": {5: ["eq"]}}, "5 is not the name of a field"),
    "sorted by a number": ({"sort": [5]}, "5 is not the name of a field"),
    "sorted by nothing": ({"sort": [""]}, "'' is not the name of a field"),
    "sort of bytes": ({"sort": b"title"}, "sort must be a list of names"),
    "sort null": ({"sort": None}, "sort must be a list of names"),
    "operators null": ({"filter": {"year": None}}, "filter 'year': expected a list of operators"),
    "default_sort null": ({"default_sort": None}, "default_sort must be the name of a field, or -name"),
    "default_sort empty": ({"default_sort": ""}, "default_sort must be the name of a field, or -name"),
    "sort text": ({"sort": "title"}, "sort must be a list of names"),
    "sort direction": ({"sort": ["-title"]}, "'-title' is not the name of a field"),
    "sort twice": ({"sort": ["title", "title"]}, "sort names a field twice"),
    "default_sort": ({"default_sort": "-"}, "default_sort must be the name of a field, or -name"),
}


@pytest.mark.parametrize(("given", "message"), WRONG.values(), ids=WRONG)
def test_wrong_declarations_are_refused(given, message):
    with pytest.raises(DefinitionError) as refused:
        declare("book", 0, **{**PLAIN, **given})
    separator = ", " if message.startswith("filter '") else ": "
    assert refused.value.message == f"listing of model 'book'{separator}{message}"


# -- resolved


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
    assert found.problems == ()
    assert one.path == path
    assert one.operators == tuple(operators)
    assert one.is_list == (name in LISTS)


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
    assert len(found.indexes) == 12
    assert found.indexes[0] == (("name", 1), ("_id", 1))
    assert len(found.left_out) == 5


def test_contains_is_named_as_a_scan(things):
    found = things.listing(filter={"name": ["contains", "eq"]}).resolution()
    assert found.scans == ("listing 1 of model 'thing': 'contains' on name reads every value of it",)

"""Pages of a listing: gatewayfw.odm.listings.listing."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import fields as mm
from marshmallow.validate import Length

from gatewayfw import integer, nullable, object_, optional, string
from gatewayfw.errors import ReplyTooLarge, StorageError, UsageError, ValidationError
from gatewayfw.odm.listings.conditions import contained_pattern
from gatewayfw.pieces import Found
from gatewayfw.schemas.values import moment_of
from gatewayfw.storage.order import order_key
from tests.examples import examples

LETTERS = ["a", "b", "c", "d", "e"]


@pytest.fixture
def letters(shop):
    """Ids of five books by title, inserted in order of their titles."""
    return {letter: shop.add(letter, year=number) for number, letter in enumerate(LETTERS)}


def test_pages_follow_each_other_until_next_is_none(shop, letters):
    listing = shop.books.listing(default=2)
    assert shop.pages(listing) == [
        [{"_id": letters["e"], "title": "e"}, {"_id": letters["d"], "title": "d"}],
        [{"_id": letters["c"], "title": "c"}, {"_id": letters["b"], "title": "b"}],
        [{"_id": letters["a"], "title": "a"}],
    ]


def test_a_full_last_page_has_no_next(shop, letters):
    page = shop.books.listing(default=5).page({"set": {}, "get": {"_id": 0, "title": 1}})
    assert page == {"rows": [{"title": letter} for letter in reversed(LETTERS)], "next": None}


def test_nothing_found_is_an_empty_last_page(shop):
    assert shop.books.listing(count=True).page({"set": {}, "get": {"title": 1}}) == {
        "rows": [],
        "next": None,
        "total": 0,
    }


@pytest.mark.parametrize(("sort", "titles"), [("title", LETTERS), ("-title", LETTERS[::-1]), (None, LETTERS[::-1])])
def test_clients_choose_the_order(shop, letters, sort, titles):
    listing = shop.books.listing(sort=["title"], default_sort="-year", default=2)
    assert shop.titles(listing, **({"sort": sort} if sort else {})) == titles


def test_clients_choose_how_many_rows_a_page_has(shop, letters):
    assert [len(page) for page in shop.pages(shop.books.listing(most=3), limit=3)] == [3, 2]


def test_the_filter_of_the_server_and_of_the_client_both_hold(shop, letters):
    listing = shop.books.listing(filter={"year": ["gte", "ne"]}, sort=["title"], default=1)
    where = {"year": {"$ne": 3}}
    assert shop.titles(listing, where=where, filter={"year": {"gte": 1, "ne": 2}}, sort="title") == ["b", "e"]


def test_the_server_filters_by_excluded_fields_where_it_says_so(shop):
    ids = [shop.add("a", secret="x"), shop.add("b", secret="y")]
    listing = shop.books.listing()
    details = {"set": {}, "get": {"_id": 1}}
    assert listing.page(details, where={"secret": "x"}, reveal=["secret"])["rows"] == [{"_id": ids[0]}]
    with pytest.raises(UsageError) as refused:
        listing.page(details, where={"secret": "x"})
    assert refused.value.message == "where: model book excludes secret; reveal=['secret'] admits it"


class Lower(mm.String):
    """Text that loading changes."""

    def _deserialize(self, value, *rest, **keys):
        return super()._deserialize(value, *rest, **keys).lower()


@pytest.mark.parametrize(
    ("field", "sent"),
    [(Lower(validate=Length(max=30)), ["A", "b", "C"]), (mm.Decimal(places=1), ["0.5", "1.5", "2.5"])],
    ids=["text", "decimals"],
)
@pytest.mark.parametrize("sort", ["x", "-x"])
def test_pages_go_on_after_the_stored_value_of_a_users_field(shop, field, sent, sort):
    model = shop.odm.new_model("sample", {"number": integer(), "x": field})
    listing = model.listing(sort=["x"], default=1)
    for number, value in enumerate(sent):
        model.insert_one({"number": number, "x": value})
    pages = islice(iter_pages(listing, sort), 9)
    assert [row["number"] for page in pages for row in page] == [0, 1, 2][:: 1 if sort == "x" else -1]


def iter_pages(listing, sort):
    """Yield the rows of each page; for ever, if ``next`` leads nowhere."""
    details = {"set": {"sort": sort}, "get": {"number": 1}}
    while True:
        page = listing.page(details)
        yield page["rows"]
        if page["next"] is None:
            return
        details = {**details, "set": {"sort": sort, "after": page["next"]}}


def test_a_value_that_a_users_field_refuses_is_refused(shop):
    model = shop.odm.new_model("sample", {"x": mm.Integer()})
    listing = model.listing(filter={"x": ["eq", "in"]})
    for wanted, path in (({"x": "abc"}, "set.filter.x"), ({"x": {"in": [1, "abc"]}}, "set.filter.x.in.1")):
        with pytest.raises(ValidationError) as caught:
            listing.page({"set": {"filter": wanted}, "get": {}})
        assert caught.value.errors == {path: ["Invalid value."]}


def test_sorts_and_filters_pass_below_objects_that_are_null(shop):
    model = shop.odm.new_model("sample", {"n": integer(), "p": optional(nullable(object_({"c": integer()})))})
    listing = model.listing(filter={"p.c": ["eq", "ne"]}, sort=["p.c"], default=1)
    for number, parts in enumerate([{"p": None}, {"p": {"c": 1}}, {}, {"p": {"c": 2}}]):
        model.insert_one({"n": number, **parts})

    def found(**given):
        return [row["n"] for page in shop.pages(listing, get={"n": 1}, **given) for row in page]

    assert (found(sort="p.c"), found(sort="-p.c")) == ([0, 2, 1, 3], [3, 1, 2, 0])
    assert (found(filter={"p.c": None}), found(filter={"p.c": {"ne": None}})) == ([2, 0], [3, 1])


def test_a_listing_is_not_declared_by_a_request(shop):
    with shop.odm.storage.deadline(5), pytest.raises(UsageError) as caught:
        shop.books.listing()
    assert caught.value.message == "listing: declare it with its model, not in a request: each would leave one"


def test_get_shapes_the_rows_without_the_field_that_sorts_them(shop, letters):
    listing = shop.books.listing(sort=["year"], default=1)
    page = listing.page({"set": {"sort": "year"}, "get": {"_id": 0, "title": 1}})
    assert page["rows"] == [{"title": "a"}]
    assert listing.page({"set": {"sort": "year", "after": page["next"]}, "get": {"year": 1}})["rows"] == [
        {"_id": letters["b"], "year": 1}
    ]


def test_a_part_of_an_object_that_sorts_rows_is_not_shown_either(shop):
    place = object_({"place": object_({"city": string(size=(1, 9))}), "n": integer()})
    model = shop.odm.new_model("sample", {"n": integer(), "printed": optional(place)})
    listing = model.listing(sort=["printed.place.city"], default=1)
    for number, city in enumerate("ba"):
        model.insert_one({"n": number, "printed": {"place": {"city": city}, "n": 5}})
    model.insert_one({"n": 2})

    def rows(get):
        return [row for page in shop.pages(listing, get={"_id": 0, **get}, sort="printed.place.city") for row in page]

    assert rows({"n": 1}) == [{"n": 2}, {"n": 1}, {"n": 0}]
    assert rows({"printed": 1}) == [{}, *({"printed": {"place": {"city": city}, "n": 5}} for city in "ab")]


def test_a_page_reads_one_row_more_than_it_shows_and_counts_no_further_than_declared(shop, letters):
    listing = shop.books.listing(filter={"year": ["gte"]}, sort=["year"], count=3, most=7)
    calls, storage = [], shop.odm.storage
    find, count = storage.find, storage.count
    storage.find = lambda *given, **keys: calls.append((given, keys)) or find(*given, **keys)
    storage.count = lambda *given, **keys: calls.append((given, keys)) or count(*given, **keys)
    given = {"filter": {"year": {"gte": 1}}, "sort": "-year", "limit": 1}
    assert listing.page({"set": given, "get": {"title": 1}})["total"] == {"atLeast": 3}
    wanted = {"year": {"$gte": 1}}
    assert calls == [
        (
            ("book", wanted, ("_id", "title", "year")),
            {"sort": [("year", -1), ("_id", -1)], "limit": 2, "at_once": True},
        ),
        (("book", wanted), {"limit": 4}),
    ]


def test_rows_show_copies_and_their_documents_relations(shop):
    author = shop.authors.insert_one({"name": "Ann"})["_id"]
    book = shop.add("a", author)
    listing = shop.books.listing(filter={"author._id": ["eq"], "author": ["exists"]}, sort=["author.name"])
    shop.add("b")
    given = {"filter": {"author._id": str(author)}, "sort": "author.name"}
    for get in ({"author": {"_id": 1}}, {"author": {"_id": 1, "name": 0}}):
        assert shop.pages(listing, get=get, **given) == [[{"_id": book, "author": {"_id": author}}]]
    assert shop.pages(listing, get={"title": 1}, **given) == [[{"_id": book, "title": "a"}]]
    expected = {"_id": book, "author": {"_id": author, "name": "Ann"}}
    assert shop.pages(listing, get={"author": 1}, **given) == [[expected]]
    assert shop.pages(listing, get={"author": 1}, filter={"author": {"exists": True}}) == [[expected]]


@pytest.mark.parametrize(("count", "total"), [(True, 5), (5, 5), (4, {"atLeast": 4}), (1, {"atLeast": 1}), (1_000, 5)])
def test_the_first_page_has_the_number_of_all_matches(shop, letters, count, total):
    listing = shop.books.listing(count=count, default=3)
    first = listing.page({"set": {}, "get": {"title": 1}})
    assert first["total"] == total
    assert "total" not in listing.page({"set": {"after": first["next"]}, "get": {"title": 1}})


def test_the_total_counts_what_both_filters_admit(shop, letters):
    listing = shop.books.listing(filter={"year": ["gt"]}, count=True)
    page = listing.page({"set": {"filter": {"year": {"gt": 0}}}, "get": {}}, where={"year": {"$lt": 3}})
    assert page["total"] == 2


def test_the_page_of_an_act_is_the_same_in_both_modes(shop, letters):
    listing = shop.books.listing(filter={"year": ["gte"]}, sort=["title"], default=2, count=True)
    for mode in ("assert", "create"):

        @shop.gateway.acts.act("book", mode, set={**listing.set}, get=1, mode=mode, returns=listing.returns)
        def act(body):
            """List books."""
            return listing.page(body["details"])

    given = {"set": {"filter": {"year": {"gte": 2}}, "sort": "title"}, "get": {"title": 1}}
    rows = [{"_id": letters[letter], "title": letter} for letter in "cd"]
    for mode in ("assert", "create"):
        found = shop.gateway.acts.resolve("main", "book", mode)
        details = found.struct.check(given, mode, found.bounds)
        page = found.fn({"details": details})
        assert page["rows"] == rows
        assert page["total"] == 3
        assert type(page["next"]) is str


@pytest.mark.parametrize("mode", ["assert", "create"])
def test_an_act_refuses_what_its_listing_does_not_declare(shop, mode):
    listing = shop.books.listing(filter={"year": ["gte"], "author._id": ["eq"]}, sort=["title"], most=5, default=5)
    select = shop.gateway.schemas.select_struct("book")
    validator = {"set": listing.set, "get": select}
    shop.gateway.acts.set_act(
        schema="book", act_name="list", validator=validator, fn=lambda body: None, validation_run_type=mode
    )
    found = shop.gateway.acts.resolve("main", "book", "list")
    given = {
        "filter": {"year": 5, "secret": "x", "author._id": "x"},
        "sort": "secret",
        "limit": 6,
        "after": "",
        "more": 1,
    }
    with pytest.raises(ValidationError) as refused:
        found.struct.check({"set": given, "get": {}}, mode, found.bounds)
    assert refused.value.errors == {
        "set.filter.year": ["Must be an object with gte."],
        "set.filter.secret": ["Unknown field."],
        "set.filter.author._id": ["Not a valid ObjectId (24 hexadecimal digits)."],
        "set.sort": ["Must be one of: title, -title."],
        "set.limit": ["Must be greater than or equal to 1 and less than or equal to 5."],
        "set.after": ["Length must be between 1 and 2048."],
        "set.more": ["Unknown field."],
    }


WRONG = {
    "limit": ({"limit": 101}, {"set.limit": ["Must be between 1 and 100."]}),
    "limit 0": ({"limit": 0}, {"set.limit": ["Must be between 1 and 100."]}),
    "limit true": ({"limit": True}, {"set.limit": ["Must be between 1 and 100."]}),
    "sort": ({"sort": "year"}, {"set.sort": ["Must be one of: title, -title."]}),
    "filter": ({"filter": {"secret": 1}}, {"set.filter.secret": ["Unknown field."]}),
    "after": ({"after": "x"}, {"set.after": ["Not a token of this list: begin again without it."]}),
    "after null": ({"after": 5}, {"set.after": ["Not a token of this list: begin again without it."]}),
}


@pytest.mark.parametrize(("given", "errors"), WRONG.values(), ids=WRONG)
def test_server_code_without_an_act_gets_the_same_refusals(shop, given, errors):
    with pytest.raises(ValidationError) as refused:
        shop.books.listing(sort=["title"]).page({"set": given, "get": {}})
    assert refused.value.errors == errors


def test_a_token_is_of_one_listing_filter_and_sort(shop, letters):
    first, second = (shop.books.listing(filter={"year": ["gte"]}, sort=["title"], default=1) for _ in range(2))
    given = {"sort": "title", "filter": {"year": {"gte": 1}}}
    token = first.page({"set": given, "get": {}})["next"]
    same = {"filter": {"year": {"gte": 1}}, "sort": "title", "limit": 3, "after": token}
    assert [row["title"] for row in first.page({"set": same, "get": {"title": 1}})["rows"]] == ["c", "d", "e"]
    others = [
        (second, given),
        (first, {**given, "sort": "-title"}),
        (first, {**given, "filter": {"year": {"gte": 2}}}),
        (first, {"sort": "title"}),
    ]
    for listing, changed in others:
        with pytest.raises(ValidationError) as refused:
            listing.page({"set": {**changed, "after": token}, "get": {}})
        assert refused.value.errors == {"set.after": ["Not a token of this list: begin again without it."]}


def test_listings_are_safe_beside_models_defined_later(database, shop):
    listing = shop.books.listing(filter={"year": ["eq"]})
    later = shop.odm.new_model("later", {})
    shop.add("a", year=1)
    later.insert_one({})
    assert shop.titles(listing, filter={"year": 1}) == ["a"]


def test_the_indexes_of_a_listing_are_built(shop):
    shop.add("a")
    shop.books.listing(filter={"lent": ["eq"]}, sort=["title"])
    shop.add("b")
    assert {index.keys for index in shop.odm.storage.indexes("book")} >= {
        (("title", 1), ("_id", 1)),
        (("lent", 1), ("_id", 1)),
        (("lent", 1), ("title", 1), ("_id", 1)),
    }


def test_rows_beyond_the_bound_of_the_reply_are_not_read_on(shop):
    notes = shop.odm.new_model("note", {"text": string(size=(1, 100_000))})
    notes.insert_many([{"text": "x" * 100_000} for _ in range(110)])
    listing = notes.listing(most=200)
    with shop.odm.storage.deadline(60) as scope:
        scope.reply_bytes = 500_000
        assert len(listing.page({"set": {"limit": 3}, "get": {"text": 1}})["rows"]) == 3
        with pytest.raises(ReplyTooLarge):
            listing.page({"set": {"limit": 200}, "get": {"text": 1}})


@pytest.mark.parametrize(("pieces", "most"), [([1, 1, 1], 104), ([2, 1], 52), ([3], 0)])
def test_what_comes_in_more_pieces_than_one_is_weighed_but_for_the_first(shop, pieces, most):
    """A row of an id and a number weighs 52."""
    model = shop.odm.new_model("sample", {"n": integer()})
    model.insert_many([{"n": n} for n in range(3)])
    find = shop.odm.storage.find

    def in_pieces(*given, **keys):
        rows = list(find(*given, **keys))
        return Found(rows[sum(pieces[:at]) : sum(pieces[: at + 1])] for at in range(len(pieces)))

    shop.odm.storage.find = in_pieces
    details = {"set": {}, "get": {"n": 1}}
    listing = model.listing()
    with shop.odm.storage.deadline(60) as scope:
        scope.reply_bytes = most
        assert [row["n"] for row in listing.page(details)["rows"]] == [2, 1, 0]
        if len(pieces) > 1:
            scope.reply_bytes = most - 1
            with pytest.raises(ReplyTooLarge, match=f"more than {most - 1} bytes"):
                listing.page(details)


@pytest.mark.parametrize("stored", [[1, 2], {"a": 1}, "text", float("nan")], ids=repr)
def test_a_value_of_another_tool_that_no_page_can_begin_after_is_an_error_of_the_storage(shop, database, stored):
    listing = shop.books.listing(sort=["year"], default=1)
    for _ in range(2):
        database["book"].insert_one({"title": "a", "year": stored})
    details = {"set": {"sort": "year"}, "get": {"title": 1}}
    with pytest.raises(StorageError) as raised:
        listing.page(details)
    assert raised.value.message == "no page begins after a document whose year or _id is of another type"


def test_no_page_begins_after_an_id_of_another_tool(shop, database):
    listing = shop.books.listing(default=1)
    for id_ in ("x", "y"):
        database["book"].insert_one({"_id": id_, "title": "a"})
    with pytest.raises(StorageError):
        listing.page({"set": {}, "get": {"title": 1}})


def test_a_prefix_is_of_one_element_of_a_list(shop):
    listing = shop.books.listing(filter={"tags": ["prefix"]})
    shop.add("a", tags=["zz", "Aa"])
    shop.add("b", tags=["zz", "a.b"])
    shop.add("c", tags=["aXb"])
    assert shop.titles(listing, filter={"tags": {"prefix": "a."}}) == ["b"]
    assert shop.titles(listing, filter={"tags": {"prefix": "a"}}) == ["c", "b"]
    assert shop.titles(listing, filter={"tags": {"prefix": ""}}) == ["c", "b", "a"]
    with pytest.raises(ValidationError) as refused:
        shop.titles(listing, filter={"tags": {"prefix": "x" * 201}})
    assert refused.value.errors == {"set.filter.tags.prefix": ["Length must be between 0 and 200."]}


# -- every document once, whatever the order

SORTS = ["_id", "title", "year", "price", "out", "lent", "printed.city", "author.name"]
FILTERS = {
    "year": ["eq", "ne", "gt", "lte", "in", "nin", "exists"],
    "title": ["eq", "prefix", "contains"],
    "price": ["gte", "lt"],
    "out": ["gte"],
    "lent": ["eq", "ne"],
    "tags": ["eq", "in", "nin", "prefix"],
    "author.name": ["eq", "prefix"],
    "author": ["exists"],
}
YEARS = st.sampled_from([None, -1, 0, 1, 2**40])
PRICES = st.sampled_from(["0.00", "0.50", "1.50", "10.00"])
DATES = st.sampled_from(["2020-01-01T00:00:00.001Z", "2020-01-01", "2021-05-05"])
TITLES = st.sampled_from(["a", "A", "ab", "aB", "b", "ü", "\ue000", "\U0001f600", "a.b"])
TAGS = st.lists(st.sampled_from(["x", "y", "z"]), max_size=2)
BOOKS = st.fixed_dictionaries(
    {"title": TITLES},
    optional={
        "year": YEARS,
        "price": PRICES,
        "out": DATES,
        "lent": st.booleans(),
        "tags": TAGS,
        "printed": TITLES.map(lambda city: {"city": city}),
    },
)
GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "year": YEARS
        | st.fixed_dictionaries(
            {},
            optional={
                "ne": YEARS,
                "gt": YEARS.filter(lambda year: year is not None),
                "lte": YEARS.filter(lambda year: year is not None),
                "nin": st.lists(YEARS, max_size=2),
                "exists": st.booleans(),
            },
        ).filter(bool)
        | st.lists(YEARS, max_size=3).map(lambda years: {"in": years}),
        "title": TITLES
        | TITLES.map(lambda title: {"prefix": title[:1]})
        | TITLES.map(lambda title: {"contains": title[-1:]}),
        "price": PRICES.map(lambda price: {"gte": price}) | PRICES.map(lambda price: {"lt": price}),
        "out": DATES.map(lambda out: {"gte": out}),
        "lent": st.booleans() | st.booleans().map(lambda lent: {"ne": lent}),
        "tags": st.sampled_from(["x", {"in": ["x", "z"]}, {"nin": ["y"]}, {"prefix": "y"}]),
        "author.name": st.sampled_from(["Ann", {"prefix": "B"}]),
        "author": st.booleans().map(lambda there: {"exists": there}),
    },
)


def value_of(book, path):
    for part in path.split("."):
        book = book.get(part) if isinstance(book, dict) else None
    return book


def holds(book, name, operator, given):
    """Tell whether a document meets one condition, by the rules of MongoDB."""
    if operator == "exists":
        return (name in book) == given
    value = value_of(book, name)
    if name == "price":
        given = Decimal(given)
    if name == "out":
        given = moment_of(given)
    values = value if isinstance(value, list) else [value]
    if operator in ("eq", "ne"):
        return (given in values) == (operator == "eq")
    if operator in ("in", "nin"):
        return any(one in values for one in given) == (operator == "in")
    if operator == "prefix":
        return any(isinstance(one, str) and one.startswith(given) for one in values)
    if operator == "contains":
        return isinstance(value, str) and bool(re.search(contained_pattern(given), value))
    if value is None:
        return False
    return {"gt": value > given, "gte": value >= given, "lt": value < given, "lte": value <= given}[operator]


def matches(book, filter):
    conditions = [
        (name, operator, operand)
        for name, given in filter.items()
        for operator, operand in (given if isinstance(given, dict) else {"eq": given}).items()
    ]
    return all(holds(book, *condition) for condition in conditions)


@pytest.fixture
def library(shop):
    """A shop with two authors and one listing of all that can be asked."""
    shop.known = {name: shop.authors.insert_one({"name": name})["_id"] for name in ("Ann", "Bob")}
    shop.listing = shop.books.listing(filter=FILTERS, sort=SORTS, count=True)
    return shop


@pytest.mark.slow
@examples(60)
@given(data=st.data())
def test_every_match_comes_once_and_in_order_while_others_write(library, data):
    for one in list(library.books.find(projection={"_id": 1})):
        library.books.delete_one(one)
    for book in data.draw(st.lists(BOOKS, max_size=14)):
        library.add(**book, author=library.known.get(data.draw(st.sampled_from(["Ann", "Bob", None]))))
    direction, path, filter = data.draw(st.sampled_from(["", "-"])), data.draw(st.sampled_from(SORTS)), data.draw(GIVEN)
    before = {book["_id"]: book for book in library.books.find()}
    wanted = {id_ for id_, book in before.items() if matches(book, filter)}
    seen, after = [], {}
    while after is not None:
        given = {"filter": filter, "sort": direction + path, "limit": data.draw(st.integers(1, 5)), **after}
        page = library.listing.page({"set": given, "get": {}})
        assert page.get("total", len(wanted)) == len(wanted)
        seen += [row["_id"] for row in page["rows"]]
        after = page["next"] and {"after": page["next"]}
        write_between(library, data, list(before))
    there = {id_ for id_ in before if library.books.count({"_id": id_})}
    assert len(set(seen)) == len(seen)
    assert there & wanted == there & set(seen)
    order = [(order_key(value_of(before[id_], path)), id_.binary) for id_ in seen if id_ in before]
    assert order == sorted(order, reverse=direction == "-")


def write_between(library, data, known):
    """Insert a book, or delete one of those known, while a client reads its pages."""
    action = data.draw(st.sampled_from(["nothing", "insert", "delete"]))
    if action == "insert":
        library.add(**data.draw(BOOKS))
    elif action == "delete" and known:
        library.books.delete_one({"_id": data.draw(st.sampled_from(known))})

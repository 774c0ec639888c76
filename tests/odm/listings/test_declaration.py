"""What an author may write: gatewayfw.odm.listings.declaration."""

from __future__ import annotations

import pytest

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
    assert (made.most, made.default, made.count) == (most, most, count)


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

"""Filters of clients as conditions: gatewayfw.odm.listings.conditions."""

from __future__ import annotations

import pytest
from bson import ObjectId
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw import Gateway, array, boolean, date, enums, integer, nullable, string
from gatewayfw.errors import ValidationError
from gatewayfw.odm.listings.conditions import conditions_of, contained_pattern, end_of_prefix
from gatewayfw.schemas.values import moment_of
from gatewayfw.storage.regular_expressions import check_expression, compile_expression

ALL = ["eq", "ne", "in", "nin", "exists"]
RANGES = ["gt", "gte", "lt", "lte"]
ID = ObjectId()


@pytest.fixture(scope="module")
def resolution():
    fields = {
        "title": string(size=(1, 9)),
        "year": nullable(integer()),
        "out": date(),
        "lent": boolean(),
        "grade": enums("a", "b"),
        "code": string(),
        "tags": array(string()),
    }
    filters = {
        "title": [*ALL, *RANGES, "prefix", "contains"],
        "year": [*ALL, *RANGES],
        "out": [*ALL, *RANGES],
        "lent": ["eq"],
        "grade": ["in"],
        "code": ["in", "nin"],
        "tags": ["eq", "contains"],
        "_id": ["eq", "in"],
    }
    found = Gateway().odm.new_model("book", fields).listing(filter=filters).resolution()
    assert found.problems == ()
    return found


CONDITIONS = {
    "nothing": ({}, []),
    "a value": ({"year": 5}, [{"year": {"$eq": 5}}]),
    "null": ({"year": None}, [{"year": {"$eq": None}}]),
    "not null": ({"year": {"ne": None}}, [{"year": {"$ne": None}}]),
    "operators": ({"year": {"lt": 9, "gte": 5}}, [{"year": {"$gte": 5}}, {"year": {"$lt": 9}}]),
    "beyond the size": ({"title": "x" * 100}, [{"title": {"$eq": "x" * 100}}]),
    "in": ({"year": {"in": [1, None]}}, [{"year": {"$in": [1, None]}}]),
    "in nothing": ({"year": {"in": []}}, [{"year": {"$in": []}}]),
    "nin": ({"year": {"nin": [1]}}, [{"year": {"$nin": [1]}}]),
    "there": ({"year": {"exists": True}}, [{"year": {"$exists": True}}]),
    "date": ({"out": {"gte": "2020-01-01"}}, [{"out": {"$gte": moment_of("2020-01-01")}}]),
    "id": ({"_id": str(ID)}, [{"_id": {"$eq": ID}}]),
    "loaded id": ({"_id": {"in": [ID]}}, [{"_id": {"$in": [ID]}}]),
    "element": ({"tags": "x"}, [{"tags": {"$eq": "x"}}]),
    "prefix": ({"title": {"prefix": "ab"}}, [{"title": {"$gte": "ab", "$lt": "ac"}}]),
    "empty prefix": ({"title": {"prefix": ""}}, [{"title": {"$gte": ""}}]),
    "contains": ({"title": {"contains": "a.Ö"}}, [{"title": {"$regex": "[aA]\\.Ö"}}]),
    "contains a letter": ({"title": {"contains": "."}}, [{"title": {"$regex": "\\."}}]),
    "contains 200 letters": ({"title": {"contains": "1" * 200}}, [{"title": {"$regex": "1" * 200}}]),
    "a long prefix": ({"title": {"prefix": "a" * 201}}, [{"title": {"$gte": "a" * 201, "$lt": "a" * 200 + "b"}}]),
    "in their order": ({"year": 1, "lent": True}, [{"lent": {"$eq": True}}, {"year": {"$eq": 1}}]),
}


@pytest.mark.parametrize(("filter", "conditions"), CONDITIONS.values(), ids=CONDITIONS)
def test_a_filter_is_conditions_that_must_all_hold(resolution, filter, conditions):
    assert conditions_of(resolution, filter, 100, "set.filter") == conditions


def test_a_list_may_be_as_long_as_the_most(resolution):
    assert conditions_of(resolution, {"year": {"in": [1, 2, 3]}}, 3, "f") == [{"year": {"$in": [1, 2, 3]}}]


WRONG = {
    "no object": ([], {"f": ["Not a valid mapping type."]}),
    "unknown": ({"secret": 1}, {"f.secret": ["Unknown field."]}),
    "an operator of the database": ({"$where": "1"}, {"f.$where": ["Unknown field."]}),
    "no operator": ({"year": {}}, {"f.year": ["Must have one of eq, ne, in, nin, exists, gt, gte, lt, lte."]}),
    "undeclared operator": ({"lent": {"ne": True}}, {"f.lent.ne": ["Must be one of: eq."]}),
    "an operator behind an operator": ({"year": {"eq": {"$gt": 1}}}, {"f.year.eq": ["Invalid value."]}),
    "operators of the database": (
        {"year": {"$gt": 1}},
        {"f.year.$gt": ["Must be one of: eq, ne, in, nin, exists, gt, gte, lt, lte."]},
    ),
    "a value without eq": ({"grade": "a"}, {"f.grade": ["Must be an object with in."]}),
    "another type": ({"year": "5"}, {"f.year": ["Not a valid integer."]}),
    "a list": ({"tags": ["x"]}, {"f.tags": ["Invalid value."]}),
    "no date": ({"out": {"lt": "soon"}}, {"f.out.lt": ["Not a valid ISO 8601 date."]}),
    "no id": ({"_id": "x"}, {"f._id": ["Not a valid ObjectId (24 hexadecimal digits)."]}),
    "null in a range": ({"year": {"gt": None}}, {"f.year.gt": ["Invalid value."]}),
    "in without list": ({"year": {"in": 5}}, {"f.year.in": ["Not a valid list."]}),
    "one of a list": ({"year": {"in": [1, "x"]}}, {"f.year.in.1": ["Not a valid integer."]}),
    "too many": ({"year": {"in": [1, 2, 3, 4]}}, {"f.year.in": ["Longer than maximum length 3."]}),
    "presence": ({"year": {"exists": 1}}, {"f.year.exists": ["Not a valid boolean."]}),
    "prefix": ({"title": {"prefix": 5}}, {"f.title.prefix": ["Not a valid string."]}),
    "prefix with half a letter": ({"title": {"prefix": "\ud800"}}, {"f.title.prefix": ["Not a valid string."]}),
    "contains nothing": ({"title": {"contains": ""}}, {"f.title.contains": ["Length must be between 1 and 200."]}),
    "contains much": ({"title": {"contains": "x" * 201}}, {"f.title.contains": ["Length must be between 1 and 200."]}),
    "contains NUL": ({"title": {"contains": "a\0"}}, {"f.title.contains": ["Invalid value."]}),
    "a list in a list": ({"year": {"in": [1, [1]]}}, {"f.year.in.1": ["Invalid value."]}),
    "a set": ({"year": {1}}, {"f.year": ["Invalid value."]}),
    "an object in a list": ({"year": {"nin": [{}]}}, {"f.year.nin.0": ["Invalid value."]}),
    "a value without eq of several": ({"code": "a"}, {"f.code": ["Must be an object with in or nin."]}),
    "no operator of one": ({"lent": {}}, {"f.lent": ["Must have one of eq."]}),
    "a number as name": ({5: 1, "x": 1}, {"f.5": ["Unknown field."], "f.x": ["Unknown field."]}),
    "presence of bytes": ({"title": {"prefix": b"a"}}, {"f.title.prefix": ["Not a valid string."]}),
    "all of them": ({"year": "x", "lent": 1}, {"f.lent": ["Not a valid boolean."], "f.year": ["Not a valid integer."]}),
}


@pytest.mark.parametrize(("filter", "errors"), WRONG.values(), ids=WRONG)
def test_what_is_not_declared_or_no_value_is_refused_by_its_path(resolution, filter, errors):
    with pytest.raises(ValidationError) as refused:
        conditions_of(resolution, filter, 3, "f")
    assert refused.value.errors == errors


class Counted(dict):
    """Names that note which of them were looked at."""

    def __init__(self, *given):
        super().__init__(*given)
        self.seen = []

    def __getitem__(self, name):
        self.seen.append(name)
        return super().__getitem__(name)


def test_no_more_names_are_judged_than_a_client_sees_errors_of(resolution):
    filter = Counted({f"x{number:03}": 1 for number in range(500)})
    with pytest.raises(ValidationError) as refused:
        conditions_of(resolution, filter, 3, "f")
    assert len(filter.seen) == ValidationError.MOST + 1
    assert refused.value.message[-10:] == "; and more"


ENDS = {"a": "b", "az": "a{", "\ud7ff": "\ue000", "a\U0010ffff": "b", "\U0010ffff": None, "": None, "\0": "\1"}


@pytest.mark.parametrize(("prefix", "end"), ENDS.items(), ids=map(ascii, ENDS))
def test_a_prefix_ends_before_the_next_text_of_its_length(prefix, end):
    assert end_of_prefix(prefix) == end


TEXTS = st.text(max_size=6) | st.text("ab\ud7ff\ue000\U0010ffff", max_size=4)


@given(TEXTS, TEXTS)
def test_a_text_is_in_the_range_of_a_prefix_if_it_begins_with_it(prefix, text):
    end = end_of_prefix(prefix)
    assert (text >= prefix and (end is None or text < end)) == text.startswith(prefix)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5), st.text(max_size=8))
def test_a_pattern_finds_a_text_whatever_the_case_of_ascii(part, text):
    def lowered(value):
        return "".join(letter.lower() if letter.isascii() else letter for letter in value)

    pattern = contained_pattern(part)
    assert check_expression(pattern) is None
    assert bool(compile_expression(pattern, "").search(text)) == (lowered(part) in lowered(text))

"""The pages of a listing: a small run from end to end."""

from __future__ import annotations

import pytest
from pymongo import MongoClient

from benchmarks.listing import COURSES, Course, Sizes, measured


@pytest.mark.mongo
def test_every_course_is_walked_read_again_and_explained(mongod_uri):
    with MongoClient(mongod_uri) as client:
        before = client.list_database_names()
        told, data, chart, whole = measured(mongod_uri, Sizes(300, 10, (1, 2, 3, 30), 2), log=lambda line: None)
        assert client.list_database_names() == before
    courses = {one["name"]: one for one in data["courses"]}
    assert chart == ""
    assert whole
    assert list(courses) == list(COURSES)
    assert [courses[name]["rows"] for name in ("year", "-year", "title")] == [300, 300, 300]
    assert list(courses["year"]["times"]) == list(courses["year"]["plans"]) == [1, 2, 3, 30]
    # So few rows may be sorted in memory.
    assert [name for name, one in courses.items() if "COLLSCAN" in str(one["plans"])] == []
    assert told.count("| year, eq |") == 3


def test_growth_compares_the_last_page_with_the_second_chosen_one():
    assert Course("x", times={1: 9.0, 10: 2.0, 100: 5.0, 1000: 3.0}).growth == 1.5


@pytest.mark.parametrize(
    ("plan", "blocks"),
    [
        (["LIMIT", "FETCH", "IXSCAN year_1__id_1"], False),
        (["SORT_MERGE", "IXSCAN year_1__id_1"], False),
        (["SORT", "IXSCAN year_1__id_1"], True),
        (["LIMIT", "COLLSCAN"], True),
    ],
    ids=["index", "merge", "sort", "all"],
)
def test_a_plan_blocks_if_it_sorts_in_memory_or_reads_all(plan, blocks):
    assert Course("x", plans={10: ["IXSCAN _id_"], 100: plan}).blocks is blocks

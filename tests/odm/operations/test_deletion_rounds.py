"""The rounds of a deletion, and what they come to."""

from __future__ import annotations

from collections import Counter

import pytest

from gatewayfw.errors import StillReferenced
from gatewayfw.odm.database import Done
from gatewayfw.odm.operations.deletion_rounds import Deletion, is_deleted


def refused(**counts):
    return StillReferenced("city", counts)


def test_a_deletion_adds_up_what_was_deleted():
    deletion = Deletion("city")
    deletion.add([1, 2, 3], Done([{"person": 1}, None, {}]))
    deletion.add([4], Done([{"person": 2, "club": 1}], deleted=Counter(person=5)))
    assert deletion.end_round(3) is None
    assert deletion.told() == {"deletedCount": 3, "cascaded": {"club": 1, "person": 8}}


def test_pending_jobs_are_told():
    deletion = Deletion("city")
    deletion.add([1], Done([{}], frozenset({"job"})))
    deletion.add([2], Done([{}]))
    assert deletion.told() == {"deletedCount": 2, "cascaded": {}, "pending": True}


def test_nothing_matched():
    deletion = Deletion("city")
    assert deletion.end_round(0) is None
    assert (deletion.told(), bool(deletion.told())) == ({"deletedCount": 0, "cascaded": {}}, False)


def test_what_was_refused_is_tried_again_the_other_way_round():
    deletion = Deletion("city")
    deletion.add([1, 2], Done([refused(club=1), {}]))
    deletion.add([3, 4], Done([refused(club=1), refused(club=1)]))
    assert [list(page) for page in deletion.end_round(1)] == [[4, 3, 1]]
    deletion.add([4, 3, 1], Done([{}, {}, None]))
    assert (deletion.end_round(3), deletion.told()["deletedCount"]) == (None, 3)


def test_a_round_that_deletes_nothing_is_the_last():
    deletion = Deletion("city")
    deletion.add([1, 2, 3], Done([refused(person=7), {}, refused(person=1)]))
    assert list(deletion.end_round(1)) == [[3, 1]]
    deletion.add([3, 1], Done([refused(person=1), refused(person=1, club=2)]))
    with pytest.raises(StillReferenced) as caught:
        deletion.end_round(1)
    assert (caught.value.counts, caught.value.done) == ({"club": 2, "person": 2}, 1)
    assert caught.value.message == "city is still referenced (club: 2, person: 2)"


@pytest.mark.parametrize(("one", "expected"), [({}, True), ({"a": 1}, True), (None, False), (refused(a=1), False)])
def test_which_documents_count_as_deleted(one, expected):
    assert is_deleted(one) is expected

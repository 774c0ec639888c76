"""How long a window may be; pure."""

from __future__ import annotations

import pytest
from bson import encode
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.odm.sizes.window_shares import SizeChecks, fills, fitted, fitting, room_in, share_of, share_within

COPIES = st.lists(st.integers(0, 300), max_size=14).map(
    lambda sizes: [{"_id": i, "t": "x" * n} for i, n in enumerate(sizes)]
)


def stored(windows):
    """The bytes that windows take in a document; an empty one is absent."""
    return len(encode({name: copies for name, copies in windows.items() if copies})) - 5


def listed(copies):
    """The bytes of a list."""
    return len(encode({"": copies})) - 7


def fit(windows, room, share):
    return fitted(windows, share_within(room, len(windows), share))


@given(first=COPIES, second=COPIES, room=st.integers(-50, 3000), share=st.integers(0, 1500))
def test_windows_are_the_longest_beginnings_that_their_share_holds(first, second, room, share):
    windows = {"first": first, "a_second_window": second}
    lists, cut = fit(windows, room, share)
    share = max(0, min(share, room // 2))
    for name, copies in windows.items():
        kept = lists[name]
        assert kept == copies[: len(kept)]
        assert not kept or listed(kept) <= share
        if len(kept) < len(copies):
            assert (cut[name], fills(kept, copies[len(kept)], share)) == (share, True)
        elif copies and listed(copies) > share // 2:
            assert cut[name] is None
        else:
            assert name not in cut


def test_a_target_without_windows_has_nothing_to_cut():
    assert fit({}, -5, 100) == ({}, {})


@given(sizes=st.lists(st.integers(0, 300), max_size=6), room=st.integers(-50, 1000))
def test_of_single_copies_the_smallest_stay(sizes, room):
    copies = {f"n{number}": {"_id": number, "t": "x" * size} for number, size in enumerate(sizes)}
    kept = fitting(copies, room)
    assert stored({name: copies[name] for name in kept}) <= max(room, 0)
    for lost in copies.keys() - kept:
        assert all(sizes[int(name[1:])] <= sizes[int(lost[1:])] for name in kept)
        assert stored({name: copies[name] for name in {*kept, lost}}) > room


def test_a_member_larger_than_the_share_leaves_an_empty_window():
    assert fit({"users": [{"_id": 1, "t": "x" * 100}]}, 100, 50) == ({"users": []}, {"users": 50})


@pytest.mark.parametrize(("windows", "share"), [(0, 2000), (1, 2000), (2, 1000), (3, 666)])
def test_windows_share_evenly(windows, share):
    assert share_of(2000, windows) == share


@given(rest=st.dictionaries(st.sampled_from("abc"), st.text(max_size=50)), most=st.integers(0, 2000))
def test_the_room_leaves_enough_for_the_notes_and_the_counters(rest, most):
    room = room_in(rest, ["users", "latest"], most)
    noted = {**rest, "_gw": {"rev": 2**40, "cut": {"users": 2**20, "latest": 2**40}}}
    assert len(encode(noted)) <= most - room or room < 0


def test_the_room_is_what_the_rest_the_notes_and_the_counters_leave():
    rest = {"_id": 1, "name": "x"}
    cut = {"cut": {"users": 1.5, "\u00e9": 1.5}}
    assert room_in(rest, ["users", "\u00e9"], 1_000) == 1_000 - len(encode(rest)) - (len(encode(cut)) - 5) - 64


def test_a_window_is_noted_when_it_fills_more_than_half_of_its_share():
    copies = [{"_id": 1, "t": "x" * 20}]
    half = listed(copies)
    assert [fit({"users": copies}, 1_000, share)[1] for share in (2 * half, 2 * half - 1)] == [{}, {"users": None}]
    assert fit({"users": []}, 1_000, 0) == ({"users": []}, {})


@pytest.mark.parametrize("room", [-2, -1, 0])
def test_without_any_room_the_share_is_nothing(room):
    assert fit({"users": [{"_id": 1}], "none": []}, room, 100) == ({"users": [], "none": []}, {"users": 0})


def test_of_single_copies_of_one_size_the_first_by_name_stays():
    copies = {name: {"_id": 1} for name in "bac"}
    size = stored({"a": copies["a"]})
    assert [sorted(fitting(copies, room)) for room in (size - 1, size, 2 * size, 3 * size)] == [
        [],
        ["a"],
        ["a", "b"],
        ["a", "b", "c"],
    ]


def test_a_window_is_full_when_the_next_member_takes_it_beyond_its_share():
    copies = [{"_id": number, "t": "x" * number} for number in range(11)]
    size = listed(copies)
    assert [fills(copies[:-1], copies[-1], share) for share in (size - 1, size)] == [True, False]


def test_care_has_three_levels_of_which_the_first_is_none():
    assert [bool(checks) for checks in SizeChecks] == [False, True, True]
    assert [SizeChecks(checks + 1) for checks in (SizeChecks.NONE, SizeChecks.WINDOWS)] == [
        SizeChecks.WINDOWS,
        SizeChecks.HOLDERS,
    ]

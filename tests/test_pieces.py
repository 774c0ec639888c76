"""Values that come in pieces: read one by one, or piece by piece, never twice."""

from __future__ import annotations

from gatewayfw.pieces import PIECE, Batched, Found, in_batches


class Pairs(Batched):
    def batches(self):
        return iter([[1, 2], [3]])


def test_pieces_are_read_as_one_iterable_again_and_again():
    pairs = Pairs()
    assert [list(pairs), list(pairs)] == [[1, 2, 3]] * 2


def test_what_comes_in_pieces_keeps_them():
    assert list(in_batches(Pairs())) == [[1, 2], [3]]


def test_anything_else_is_cut_into_pieces():
    assert [len(piece) for piece in in_batches(iter(range(2 * PIECE + 1)))] == [PIECE, PIECE, 1]
    assert (list(in_batches([])), PIECE) == ([], 101)


def test_what_was_found_is_read_once():
    found = Found(iter([[1, 2], [3]]))
    assert next(found) == 1
    assert list(found) == [2, 3]
    assert list(found) == []


def test_pieces_that_were_not_read_are_left():
    found = Found(iter([[1], [2, 3], [4]]))
    assert (next(found), list(found.batches())) == (1, [[2, 3], [4]])

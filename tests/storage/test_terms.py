"""Indexes, as adapters are told of them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from gatewayfw.storage.terms import MANY_VALUES, Index, Lock, Trouble


@pytest.mark.parametrize(("options", "unique"), [({}, False), ({"unique": False}, False), ({"unique": True}, True)])
def test_an_index_knows_whether_it_is_unique(options, unique):
    assert Index((("a", 1),), options).unique is unique


def test_what_is_not_said_of_a_lock_or_an_index():
    assert Lock("n") == Lock("n", 1, "")
    assert Index((("a", 1),)) == Index((("a", 1),), {}, ())


@pytest.mark.parametrize(
    ("term", "name"), [(Lock("n"), "step"), (Index(()), "keys"), (Trouble("wrong_set", "words"), "text")]
)
def test_a_term_cannot_be_changed(term, name):
    with pytest.raises(FrozenInstanceError):
        setattr(term, name, 5)


def test_too_many_values_are_refused_with_advice():
    assert MANY_VALUES == "the distinct values have more than 16 MB; read them by `find`, sorted and by page"


@pytest.mark.parametrize(
    ("keys", "options", "passes"),
    [
        (["a"], {"unique": True}, False),
        (["a"], {"sparse": True}, True),
        (["a"], {"sparse": False}, False),
        (["a", "b"], {"sparse": True}, False),
        (["a", "b"], {"partialFilterExpression": {"a": 1}}, True),
    ],
)
def test_an_index_knows_whether_it_passes_over_what_lacks_a_field(keys, options, passes):
    assert Index(tuple((key, 1) for key in keys), options).passes_over_absent is passes

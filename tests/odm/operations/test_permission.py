"""Which names writes name; what they may do is in ``tests/policies/test_writes.py``."""

from __future__ import annotations

import pytest

from gatewayfw.odm.operations.permission import names_in_documents, names_in_update


@pytest.mark.parametrize(
    ("update", "names"),
    [
        ({"$set": {"a": 1, "b.c": 2}, "$unset": {"d": 1}}, ["a", "b", "d"]),
        ({"$set": {("a", "b"): 1}, "$push": {"c": {"$each": []}}}, ["a", "c"]),
        ({"$setOnInsert": {"a": 1}}, ["a"]),
        ({"$set": None, "a": 1}, []),
        ({"$set": {5: 1}}, []),
        (None, []),
        ("$set", []),
    ],
)
def test_an_update_names_the_fields_at_the_heads_of_its_paths(update, names):
    assert list(names_in_update(update)) == names


@pytest.mark.parametrize(
    ("given", "names"),
    [([{"a": 1}, {"b": {"c": 1}}], ["a", "b"]), ([None, "a", {5: 1}], []), ([], [])],
)
def test_documents_name_their_keys(given, names):
    assert list(names_in_documents(given)) == names

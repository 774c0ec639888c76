"""What all exports begin with, and what their comments may hold."""

from __future__ import annotations

from gatewayfw.export.text import digest, printable


def test_a_digest_is_of_the_whole_catalog_and_its_order():
    catalogs = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "b": 3}]
    digests = [digest(catalog) for catalog in catalogs]
    assert (len(set(digests)), {len(one) for one in digests}, digest(dict(catalogs[0]))) == (3, {16}, digests[0])


def test_what_hides_or_turns_text_becomes_a_space():
    assert printable("a\nb\u202ec\u200bd\te") == "a b c d e"
    assert printable("é € \U0001f600") == "é € \U0001f600"

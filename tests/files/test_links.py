"""Links: they open one file for some time, and nothing else."""

from __future__ import annotations

import pytest

from gatewayfw.files.links import Links

ID, OTHER = "0" * 24, "1" * 24
LINKS = Links(b"k" * 32)
QUERY = dict(part.split("=") for part in LINKS.query("file", ID, 1000).split("&"))


def test_the_signature_of_a_link_is_the_same_in_every_version():
    """Links that were given out go on opening their files after an update."""
    assert LINKS.query("file", ID, 1000) == "until=1000&signature=mpbjefn0eVP8diC3HgwEqnkpr2bf18inAK0ucDIqyLY"


def test_a_time_has_twelve_digits_at_most():
    for until, expected in ((10**12 - 1, True), (10**12, False)):
        query = dict(part.split("=") for part in LINKS.query("file", ID, until).split("&"))
        assert LINKS.opens("file", ID, query, 0.0) is expected


@pytest.mark.parametrize("missing", ["until", "signature"])
def test_half_of_a_query_opens_nothing(missing):
    given = {name: value for name, value in QUERY.items() if name != missing}
    assert LINKS.opens("file", ID, given, 0.0) is False


def opens(links=LINKS, model="file", id_=ID, now=999.0, **changes):
    return links.opens(model, id_, {**QUERY, **changes}, now)


def test_a_link_opens_its_file_until_its_time():
    assert opens() is True
    assert opens(now=1000.0) is True
    assert opens(now=1000.5) is False
    assert opens(now=10**9) is False


@pytest.mark.parametrize(
    "changes",
    [
        {"id_": OTHER},
        {"model": "image"},
        {"links": Links(b"l" * 32)},
        {"until": "1001"},
        {"until": "01000"},
        {"until": "1000.0"},
        {"until": "-1"},
        {"until": "１０００"},
        {"until": "9" * 400},
        {"until": ""},
        {"signature": ""},
        {"signature": "A" * 43},
        {"signature": QUERY["signature"][:-1]},
        {"signature": QUERY["signature"] + "A"},
        {"signature": QUERY["signature"].swapcase()},
        {"signature": QUERY["signature"] + "\n"},
        {"signature": "é" * 43},
    ],
)
def test_a_changed_link_opens_nothing(changes):
    assert opens(**changes) is False

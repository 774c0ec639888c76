"""Every request of the corpus is answered as it says, and nothing else happens.

The corpus is data: see the head of `corpus.json`. What holds of every answer is in `judge.py`.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.hostile.case import KEYS, load
from tests.hostile.judge import NGINX, judge, of_ordinary

TOPICS = load()
CASES = [case for cases in TOPICS.values() for case in cases]


@pytest.fixture(scope="module")
def ready(served):
    """The server after an ordinary request; what the log and the database hold by now is known."""
    assert of_ordinary(served) == []
    served.logged()
    served.has_changed()
    return served


@pytest.mark.slow
@pytest.mark.parametrize("topic", TOPICS)
def test_hostile_requests_are_answered_and_change_nothing(ready, most_seconds, topic):
    found = {case["name"]: judge(ready, case, most_seconds) for case in TOPICS[topic]}
    assert {name: problems for name, problems in found.items() if problems} == {}


def test_corpus_has_400_cases_of_distinct_names():
    assert len(CASES) >= 400
    assert [name for name, count in Counter(case["name"] for case in CASES).items() if count > 1] == []


def test_cases_say_what_they_want_and_nothing_unknown():
    assert [case["name"] for case in CASES if not case.keys() <= KEYS or "want" not in case] == []


def test_what_nginx_does_otherwise_is_in_the_corpus():
    assert NGINX.keys() <= {case["name"] for case in CASES}

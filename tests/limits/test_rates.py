"""What the text of a limit means: gatewayfw.limits.rates."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.limits.rates import parse_rates


def test_rates_come_with_the_shortest_span_first():
    found = parse_rates(["100/day", "10 per 2 minutes; 1/second", "5/minute", "3 per 90 seconds"])
    shortest_first = ["1 per 1 second", "5 per 1 minute", "3 per 90 second", "10 per 2 minute", "100 per 1 day"]
    assert [str(rate) for rate in found] == shortest_first


@pytest.mark.parametrize("text", ["1/second", "10000/minute", "1 per 366 days"])
def test_bounds_are_allowed(text):
    assert len(parse_rates([text])) == 1


WRONG = {
    "soon": "limit 'soon': expected a text such as '10/minute'",
    "x" * 100: f"limit '{'x' * 64}': expected a text such as '10/minute'",
    "0/minute": "limit '0 per 1 minute': expected 1 to 10000 calls",
    "10001/minute": "limit '10001 per 1 minute': expected 1 to 10000 calls",
    "1 per 367 days": "limit '1 per 367 day': expected a span of at most a year",
    "1 per 31622401 seconds": "limit '1 per 31622401 second': expected a span of at most a year",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_what_is_no_limit_is_refused(text, message):
    with pytest.raises(DefinitionError) as refused:
        parse_rates(["1/second", text])
    assert refused.value.message == message

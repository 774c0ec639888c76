"""The places that can carry a token, and which names they take."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DefinitionError
from gatewayfw.token_carriers import TOKEN, Carrier, bearer, cookie, header

PLACES = {
    "header": (header("X-Key"), ("header", "x-key", "x-key")),
    "bearer": (bearer(), ("bearer", "authorization", "authorization")),
    "cookie": (cookie("Sid"), ("cookie", "Sid", "cookie")),
    "of the contract": (TOKEN, ("header", "token", "token")),
    "field": (Carrier("set", "asRole"), ("set", "asRole", "")),
}


@pytest.mark.parametrize(("carrier", "expected"), PLACES.values(), ids=PLACES)
def test_a_carrier_has_place_name_and_header(carrier, expected):
    assert (carrier.place, carrier.name, carrier.header) == expected


def test_equal_carriers_are_one():
    assert {header("X-Key"), header("x-key"), Carrier("header", "x-key")} == {header("X-Key")}


@pytest.mark.parametrize("make", [header, cookie])
@pytest.mark.parametrize("name", ["", "a b", "a;b", "a=b", "a`b", "é", "a\r\nb", None, 1, "x" * 101], ids=repr)
def test_a_name_that_no_header_or_cookie_has_is_refused(make, name):
    with pytest.raises(DefinitionError) as raised:
        make(name)
    assert raised.value.message == f"{make.__name__}: expected a name of letters, digits and any of ._-"

"""Documents that are drawn for a model are valid ones."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gatewayfw import NotFound, array, boolean, date, decimal, defaulted, gateway, integer, number, optional, string
from gatewayfw.testing.factories import documents


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_drawn_documents_are_valid(database, data):
    gw = gateway()
    gw.odm.set_db(database)
    kinds = {
        **{"name": string(size=(1, 9)), "price": decimal(places=2), "on": optional(date), "tags": array(string)},
        **{"stock": integer(minimum=0), "weight": number(), "new": boolean(), "state": defaulted(string(), "open")},
    }
    things = gw.odm.new_model("thing", kinds)
    stored = things.insert_one(data.draw(documents(gw, "thing")))
    assert kinds.keys() - {"on"} <= stored.keys() <= {"_id", *kinds}


def test_a_model_that_is_not_there_has_none():
    with pytest.raises(NotFound):
        documents(gateway(), "thing")

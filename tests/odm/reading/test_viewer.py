"""For whom an operation reads: gatewayfw.odm.reading.viewer."""

from __future__ import annotations

import pytest

from gatewayfw import gateway, string
from gatewayfw.context_variables import Caller
from gatewayfw.errors import Hidden
from gatewayfw.odm.reading.viewer import Viewer, revealable
from gatewayfw.schemas.models import copied_model


@pytest.fixture
def gw():
    """A gateway whose clerks do not see prices, and see some shelves only."""
    gw = gateway(roles=["Clerk"])
    gw.odm.new_model("shelf", {"name": string})
    shelf = {"schemaName": "shelf", "type": "single", "relatedRelations": {"items": {"type": "multiple"}}}
    free = {"schemaName": "shelf", "type": "multiple", "shared": True}
    gw.odm.new_model("item", {"name": string, "price": string}, {"shelf": shelf, "others": free})
    gw.policy("item", roles=["Clerk"], hide=["price"])
    gw.policy("shelf", roles=["Clerk"], rows=lambda context: {})
    return gw


@pytest.fixture
def viewer(gw):
    """A clerk."""
    return Viewer(gw.schemas, Caller("Clerk", {}))


def test_a_viewer_knows_what_is_hidden_and_of_which_models_not_all_is_there(gw, viewer):
    assert (dict(viewer.hides("item")), viewer.hides("shelf")) == ({"price": ()}, {})
    assert (viewer.has_rows("shelf"), viewer.has_rows("item")) == (True, False)
    items = gw.schemas.links("shelf")["items"]
    assert (viewer.hidden_in(items, []), viewer.hidden_in(items, ["items.price"])) == ({"price"}, frozenset())


@pytest.mark.parametrize("path", ["price", "shelf", "shelf.name"])
def test_what_a_viewer_does_not_see_is_out_of_reach(viewer, path):
    with pytest.raises(Hidden, match=f"^sort.{path} is hidden from you$"):
        viewer.refuse_reach("item", [path], "sort", [])
    viewer.refuse_reach("item", [path], "sort", [path.partition(".")[0]])
    viewer.refuse_reach("item", ["name", "_id", "others.name"], "sort", [])


def test_hidden_names_in_copies_are_out_of_reach(viewer):
    with pytest.raises(Hidden):
        viewer.refuse_reach("shelf", ["items.price"], "sort", [])
    viewer.refuse_reach("shelf", ["items.name"], "sort", [])


def test_reveal_may_name_what_is_hidden_from_somebody(gw):
    assert revealable(gw.schemas, "item") == {"price", "shelf", "others"}
    assert revealable(gw.schemas, "shelf") == {"items", "items.price"}
    assert [copied_model(gw.schemas.links("shelf")["items"]), copied_model(gw.schemas.links("item")["shelf"])] == [
        "item",
        "shelf",
    ]

"""What acts return is what their tools announce: structured content fits the schema, for whatever is asked."""

from __future__ import annotations

import asyncio
import copy
import json

from mcp import Client

from gatewayfw.export.mcp import make_server
from tests.export.village import village
from tests.fuzz.hostile import good_bodies
from tests.fuzz.sample import Sample
from tests.fuzz.search import drawn

#: The models whose ids acts need that take none of their own.
IDS_OF = {"addCity": "country", "addUnit": "organization"}
MANAGER = {"email": "manager@example.com", "password": "demo-manager"}
#: Bodies for each act.
EACH = 10


def all_as_tools(gw):
    """The catalog of a gateway, as if all acts that take no files were offered."""
    catalog = copy.deepcopy(gw.catalog())
    for name, acts in gw.acts.get_main_acts().items():
        for act_name, act in acts.items():
            catalog["services"]["main"]["acts"][name][act_name]["mcp"] = not act.struct.files
    return catalog


async def announced(gw, bodies, post):
    """Call tools by bodies; give those of which no call succeeded, and the refusals of results."""
    asked, answered, odd = set(), set(), []
    async with Client(make_server(all_as_tools(gw), post)) as client:
        for name, body in bodies:
            result = await client.call_tool(name, body["details"])
            text = result.content[0].text
            if not result.is_error:
                shown = json.loads(text)
                assert result.structured_content in (shown, {"result": shown})
            odd += [text] if text.startswith("done") else []
            asked.add(name)
            answered |= set() if result.is_error else {name}
    return asked - answered, odd


def bodies_of(gw, good):
    for model, acts in gw.acts.get_main_acts().items():
        for name, act in acts.items():
            if not act.struct.files and act.struct.fields:
                yield from ((f"{model}_{name}", body) for body in drawn(good(model, name, act), EACH))


def test_of_the_sample_service():
    sample = Sample()

    def good(model, name, _act):
        ids = IDS_OF.get(name, model)
        return sample.good(f"{model}.{name}", ids if ids in sample.start else None)

    bodies = [
        *bodies_of(sample.gw, good),
        ("user_login", {"details": {"set": MANAGER, "get": {"token": 1, "roles": 1}}}),
    ]
    failed, odd = asyncio.run(announced(sample.gw, bodies, lambda body: sample.post(body)[1]))
    assert (failed, odd) == ({"file_getFile", "file_getFileLink"}, [])  # there are no files


def test_of_an_awkward_service():
    gw = village()
    client = gw.create_app().test_client()
    bodies = bodies_of(gw, lambda model, name, act: good_bodies(gw, act))
    failed, odd = asyncio.run(announced(gw, bodies, lambda body: client.post("/gateway", json=body).get_json()))
    assert (failed, odd) == (set(), [])

"""The README's blocks, and a client for its example."""

from __future__ import annotations

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
SAMPLE = (Path(__file__).parent.parent / "docs" / "sample-service.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
#: The one Python example, a whole file.
(EXAMPLE,) = [text for kind, text in BLOCKS if kind == "python"]

#: What it is for, in a Python session after the example.
(RENAMING,) = [text for kind, text in BLOCKS if kind == "pycon"]

#: Follows the example: calls its acts and prints what they answer.
CLIENT = """
def call(model, act, set_, get):
    body = {"model": model, "act": act, "details": {"set": set_, "get": {"_id": 0, **get}}}
    return app.test_client().post("/api/gateway", json=body).get_json()

id_ = call("country", "addCountry", {"name": "Iceland", "population": 390000}, {"_id": 1})["body"]["_id"]
print(call("city", "addCity", {"name": "Reykjavik", "country": id_}, {"name": 1, "country": {"name": 1}}))
print(call("country", "getCountry", {"countryId": id_}, {"name": 1, "cities": {"name": 1}}))
"""
#: What the client prints; replies to writes follow the order of `get`, whose keys Flask's test client sorts.
PRINTED = """\
{'body': {'country': {'name': 'Iceland'}, 'name': 'Reykjavik'}, 'success': True}
{'body': {'name': 'Iceland', 'cities': [{'name': 'Reykjavik'}]}, 'success': True}
"""

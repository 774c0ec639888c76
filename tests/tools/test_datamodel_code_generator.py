"""datamodel-code-generator: one file of Pydantic models, which take what the service takes and gives."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS, things

CHECK = """
import json
import awkward

for document in json.load(open("things.json")):
    body = {"model": "thing", "act": "add_assert", "details": {"set": document, "get": dict.fromkeys(document, 1)}}
    awkward.MainThingAddAssertRequest.model_validate(body)
for document in json.load(open("shown.json")):
    awkward.ShownThing1.model_validate(document)
"""


@pytest.fixture(scope="module")
def made(documents):
    """A folder with a module for each document."""
    made = documents("datamodel_code_generator")
    words = ["--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel", "--disable-warnings"]
    for label in DOCUMENTS:
        made.run("datamodel-codegen", "--input", f"{label}.json", "--output", f"{label}.py", *words)
    return made


def test_the_module_of_any_gateway_is_imported(made):
    made.run("python", "-W", "error", "-c", f"import {', '.join(DOCUMENTS)}")


def test_its_models_take_what_is_sent_and_shown(made):
    service, shown = things(), []
    client = service.gw.create_app().test_client()
    for document in service.documents:
        details = {"set": document, "get": dict.fromkeys(document, 1)}
        reply = client.post("/gateway", json={"model": "thing", "act": "add_assert", "details": details})
        shown.append(reply.get_json()["body"])
    made.write("shown.json", shown)
    made.run("python", "-c", CHECK)

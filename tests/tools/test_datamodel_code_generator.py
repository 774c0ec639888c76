"""datamodel-code-generator: one file of Pydantic models, which take what the service takes and gives."""

from __future__ import annotations

import pytest

from tests.tools.services import DOCUMENTS, things

CHECK = """
import json
import made

for document in json.load(open("documents.json")):
    body = {"model": "thing", "act": "add_assert", "details": {"set": document, "get": dict.fromkeys(document, 1)}}
    made.MainThingAddAssertRequest.model_validate(body)
for document in json.load(open("shown.json")):
    made.ShownThing1.model_validate(document)
"""


def generate(made):
    words = ["--input-file-type", "openapi", "--output-model-type", "pydantic_v2.BaseModel", "--disable-warnings"]
    made.run("datamodel-codegen", "--input", "openapi.json", "--output", "made.py", *words)


@pytest.mark.parametrize(("name", "virtual_paths"), DOCUMENTS)
def test_the_module_of_any_gateway_is_imported(read, name, virtual_paths):
    made = read("datamodel_code_generator", name, virtual_paths=virtual_paths)
    generate(made)
    made.run("python", "-W", "error", "-c", "import made")


def test_its_models_take_what_is_sent_and_shown(read):
    made, service = read("datamodel_code_generator", "awkward", virtual_paths=True), things()
    client, shown = service.gw.create_app().test_client(), []
    for document in service.documents:
        details = {"set": document, "get": dict.fromkeys(document, 1)}
        reply = client.post("/gateway", json={"model": "thing", "act": "add_assert", "details": details})
        shown.append(reply.get_json()["body"])
    generate(made)
    made.write("documents.json", list(service.documents))
    made.write("shown.json", shown)
    made.run("python", "-c", CHECK)

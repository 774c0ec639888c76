"""Postman's import and newman: each request names its act, and arrives once its ids and passwords are filled in."""

from __future__ import annotations

import json
import urllib.request

import pytest

from sample_service.demo import email_of, password_of
from tests.tools.services import GATEWAYS


def collection_of(made):
    """The collection, and its requests by their acts."""
    made.run("openapi2postmanv2", "-s", "openapi.json", "-o", "collection.json", "-O", "parametersResolution=Example")
    collection = json.loads((made.folder / "collection.json").read_text())
    return collection, {request["url"]["hash"]: request for request in requests_in(collection["item"])}


def requests_in(items):
    for item in items:
        yield from requests_in(item["item"]) if "item" in item else [item["request"]]


@pytest.mark.parametrize("name", GATEWAYS)
def test_each_request_names_its_act(read, name):
    _, requests = collection_of(read("postman", name, virtual_paths=True))
    bodies = {act: json.loads(request["body"]["raw"]) for act, request in requests.items() if "raw" in request["body"]}
    named = {act: f"{body['model']}.{body['act']}" for act, body in bodies.items() if act != "batch"}
    assert named
    assert named == {act: act.removeprefix("near.") for act in named}


def added(url, model, act, **set_):
    """The id of what an act has added."""
    body = {"model": model, "act": act, "details": {"set": set_, "get": {}}}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{url}/gateway", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["body"]["_id"]


def test_the_log_in_and_each_public_act_succeed(live):
    made, url = live("postman", "sample", virtual_paths=True)
    collection, requests = collection_of(made)
    country = added(url, "country", "addCountry", name="Chad", population=1)
    typed = {
        "user.login": {"email": email_of("Manager"), "password": password_of("Manager")},
        "country.addCountry": {},
        "country.getCountry": {"countryId": country},
        "city.addCity": {"country": country},
        "city.getCity": {"cityId": added(url, "city", "addCity", name="Abéché", country=country)},
    }
    for act, values in typed.items():
        body = json.loads(requests[act]["body"]["raw"])
        body["details"]["set"] |= values
        requests[act]["body"]["raw"] = json.dumps(body)
    made.write("collection.json", collection)
    words = ["--env-var", f"baseUrl={url}", "-r", "json", "--reporter-json-export", "told.json"]
    made.run("newman", "run", "collection.json", *words)
    runs = json.loads((made.folder / "told.json").read_text())["run"]["executions"]
    codes = {run["item"]["request"]["url"]["hash"]: run["response"]["code"] for run in runs}
    assert {act: codes[act] for act in typed} == dict.fromkeys(typed, 200)

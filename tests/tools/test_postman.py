"""Postman's import and newman: each request names its act, and arrives once its ids and passwords are filled in."""

from __future__ import annotations

import json
import urllib.request

import pytest

from sample_service.demo import email_of, password_of
from tests.tools.services import GATEWAYS, things


@pytest.fixture(scope="module")
def made(documents):
    """A folder with the collection of each gateway."""
    made = documents("postman")
    for name in GATEWAYS:
        words = ["-o", f"{name}.collection.json", "-O", "parametersResolution=Example"]
        made.run("openapi2postmanv2", "-s", f"{name}.json", *words)
    return made


def collection_of(made, name):
    """The collection of a gateway, and its requests by their acts."""
    collection = json.loads((made.folder / f"{name}.collection.json").read_text())
    return collection, {request["url"]["hash"]: request for request in requests_in(collection["item"])}


def requests_in(items):
    for item in items:
        yield from requests_in(item["item"]) if "item" in item else [item["request"]]


def body_of(request):
    return json.loads(request["body"]["raw"])


@pytest.mark.parametrize("name", GATEWAYS)
def test_each_request_names_its_act(made, name):
    _, requests = collection_of(made, name)
    bodies = {act: body_of(request) for act, request in requests.items() if "raw" in request["body"]}
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


def statuses(made, name, url, typed):
    """The status of each request of a collection into which something was typed, by act; ``...`` takes a key away."""
    collection, requests = collection_of(made, name)
    for act, values in typed.items():
        body = body_of(requests[act])
        given = body["details"]["set"] | values
        body["details"]["set"] = {key: value for key, value in given.items() if value is not ...}
        requests[act]["body"]["raw"] = json.dumps(body)
    made.write(f"{name}.typed.json", collection)
    words = ["--env-var", f"baseUrl={url}", "-r", "json", "--reporter-json-export", f"{name}.told.json"]
    made.run("newman", "run", f"{name}.typed.json", *words)
    runs = json.loads((made.folder / f"{name}.told.json").read_text())["run"]["executions"]
    return {run["item"]["request"]["url"]["hash"]: run["response"]["code"] for run in runs}


def test_the_log_in_and_each_public_act_of_the_sample_service_succeed(made, urls):
    country = added(urls["sample"], "country", "addCountry", name="Chad", population=1)
    typed = {
        "user.login": {"email": email_of("Manager"), "password": password_of("Manager")},
        "country.addCountry": {},
        "country.getCountry": {"countryId": country},
        "city.addCity": {"country": country},
        "city.getCity": {"cityId": added(urls["sample"], "city", "addCity", name="Abéché", country=country)},
    }
    codes = statuses(made, "sample", urls["sample"], typed)
    assert {act: codes[act] for act in typed} == dict.fromkeys(typed, 200)


def test_the_log_in_and_each_public_act_of_a_service_of_awkward_kinds_succeed(made, urls):
    document = next(things().documents)
    typed = {"keeper.login": {"password": "secret words"}, "thing.list": {"filter": ..., "after": ...}}
    typed |= {f"thing.{act}_{mode}": document for act in ("add", "find") for mode in ("assert", "create")}
    codes = statuses(made, "awkward", urls["awkward"], typed)
    assert {act: codes[act] for act in typed} == dict.fromkeys(typed, 200)
    assert codes["keeper.me"] == 401

"""The OpenAPI document: right by its own rules, one operation or one for each act, all errors told."""

from __future__ import annotations

import json
import re
import sys

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from gatewayfw import errors, gateway
from gatewayfw.auth import access_rule
from gatewayfw.catalog import build
from gatewayfw.errors import DefinitionError, GatewayError
from gatewayfw.export.openapi import openapi
from gatewayfw.schemas import string
from tests.fuzz.sample import Sample
from tests.fuzz.zoo import make_zoo


def document(gw, **options):
    return openapi(build(gw.schemas, gw.acts), **options)


def remote():
    gw = gateway()
    gw.acts.set_service("far-away", "https://example.com")
    return gw


GATEWAYS = {
    "sample": lambda: Sample().gw,
    "every kind": make_zoo,
    "nothing": gateway,
    "remote only": remote,
    "batches of nothing": lambda: gateway(max_batch=2),
}


@pytest.mark.parametrize("virtual_paths", [False, True])
@pytest.mark.parametrize("make", GATEWAYS.values(), ids=GATEWAYS)
def test_it_is_right(make, virtual_paths):
    made = document(make(), virtual_paths=virtual_paths)
    assert [error.message for error in OpenAPIV31SpecValidator(made).iter_errors()] == []


def test_it_is_the_same_each_time_and_says_where_it_is_from():
    gw = make_zoo()
    text = json.dumps(document(gw))
    assert text == json.dumps(document(gw))
    assert re.match(r'{"openapi": "3.1.0", "x-generated": "gatewayfw [0-9a-f]{16}: generated; do not edit"', text)
    assert document(gw, title="Zoo", version="7")["info"].items() > {"title": "Zoo", "version": "7"}.items()


@pytest.fixture
def gw():
    """An act that anybody may call, one with a rule and a rate limit, one of which nothing is said."""
    made = gateway()

    @made.acts.act("city", "open", set={"name": string()}, returns=string())
    def open_(body):
        """Open a city.

        And its gates.
        """

    @made.acts.act("city", "free", public=True)
    def free(body):
        pass

    made.acts.set_act(
        schema="land",
        act_name="ruled",
        validator={"set": {}, "get": {}},
        fn=lambda body: None,
        pre_act=[access_rule(lambda: None)],
        limit="2/minute",
    )
    return made


def ref(*path):
    return {"$ref": "/".join(["#/components", *path])}


def envelope(body):
    properties = {"success": {"const": True}, "body": body}
    return {"type": "object", "properties": properties, "required": ["success", "body"]}


def sent_and_got(request, reply, statuses):
    """What every operation has."""
    errors_ = {str(status): ref("responses", str(status)) for status in statuses}
    return {
        "parameters": [ref("parameters", "X-Gateway-Detail"), ref("parameters", "X-Request-Id")],
        "requestBody": {"required": True, "content": {"application/json": {"schema": request}}},
        "responses": {
            "200": {
                "description": "What the act returned.",
                "headers": {"X-Request-Id": ref("headers", "X-Request-Id")},
                "content": {"application/json": {"schema": envelope(reply)}},
            },
            **errors_,
            "default": ref("responses", "error"),
        },
    }


def test_one_path_takes_every_request(gw):
    keys = ["main.city.open", "main.city.free", "main.land.ruled"]
    requests, replies = ([ref("schemas", f"{key}.{part}") for key in keys] for part in ("request", "reply"))
    assert document(gw, path="/v1/gateway")["paths"] == {
        "/v1/gateway": {
            "post": {
                "operationId": "gateway",
                "summary": "Run an act",
                "security": [{}, {"token": []}],
                **sent_and_got(
                    {"oneOf": requests}, {"anyOf": replies}, [400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503]
                ),
            }
        }
    }


@pytest.fixture
def batching():
    """A gateway with an act that takes a text, and batches of two."""
    made = gateway(max_batch=2)
    made.acts.act("city", "open", set={"name": string()}, returns=string())(lambda body: "")
    return made


def sample(act="open", **set_):
    return {"model": "city", "act": act, "details": {"set": set_, "get": {}}}


def validates(made, schema, value):
    return Draft202012Validator({**schema, "components": made["components"]}).is_valid(value)


GOOD, BAD = sample(name="Rome"), sample(name=1)
BATCHES = {
    "one act": (GOOD, True),
    "a wrong act": (BAD, False),
    "one": ({"batch": [GOOD]}, True),
    "two, atomic": ({"batch": [GOOD, GOOD], "atomic": True}, True),
    "none": ({"batch": []}, False),
    "three": ({"batch": [GOOD] * 3}, False),
    "a wrong act in it": ({"batch": [GOOD, BAD]}, False),
    "a batch in it": ({"batch": [{"batch": [GOOD]}]}, False),
    "atomic text": ({"batch": [GOOD], "atomic": "yes"}, False),
    "another key": ({"batch": [GOOD], "act": "open"}, False),
}


@pytest.mark.parametrize(("body", "is_valid"), BATCHES.values(), ids=BATCHES)
def test_a_body_is_a_request_or_a_batch_of_some(batching, body, is_valid):
    made = document(batching)
    asked = made["paths"]["/gateway"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert validates(made, asked, body) is is_valid


def test_what_atomic_means_is_described(batching):
    assert document(batching)["components"]["schemas"]["batch"]["properties"]["atomic"] == {
        "type": "boolean",
        "default": False,
        "description": "All acts in one transaction, or none.",
    }


DONE = {"body": "Rome", "success": True, "status": 200}
FAILED = {"body": {"message": "x"}, "success": False, "status": 429, "code": "rate_limited"}
ITEMS = {
    "done": (DONE, True),
    "failed": (FAILED, True),
    "failed, for a while": ({**FAILED, "retryAfter": 60}, True),
    "without status": ({"body": "Rome", "success": True}, False),
    "failed without code": ({**FAILED, "code": None}, False),
    "another reply": ({**DONE, "body": 1}, False),
}


@pytest.mark.parametrize(("item", "is_valid"), ITEMS.values(), ids=ITEMS)
def test_the_reply_to_a_batch_has_that_of_each_item(batching, item, is_valid):
    made = document(batching)
    reply = made["paths"]["/gateway"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert validates(made, reply, {"body": [DONE, item], "success": False}) is is_valid
    assert validates(made, reply, {"body": "Rome", "success": True}) is True


def test_the_reply_to_a_batch_is_an_object_with_a_list(batching):
    made = document(batching)
    reply = made["paths"]["/gateway"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    wrong = [[], "Rome", {}, {"body": []}, {"success": True}, {"body": {}, "success": True}, {"body": [], "success": 1}]
    assert [each for each in wrong if validates(made, reply, each)] == []


def test_a_batch_has_a_virtual_path_too(batching):
    made = document(batching, virtual_paths=True)
    assert list(made["paths"]) == ["/gateway#city.open", "/gateway#batch"]
    operation = made["paths"]["/gateway#batch"]["post"]
    assert operation["requestBody"]["content"]["application/json"]["schema"] == ref("schemas", "batch")
    assert [error.message for error in OpenAPIV31SpecValidator(made).iter_errors()] == []


def test_each_act_has_a_virtual_path(gw):
    paths = document(gw, virtual_paths=True)["paths"]
    assert list(paths) == ["/gateway#city.open", "/gateway#city.free", "/gateway#land.ruled"]
    assert paths["/gateway#city.open"]["post"] == {
        "operationId": "city.open",
        "tags": ["city"],
        "summary": "Open a city.",
        "description": "And its gates.",
        "security": [{}, {"token": []}],
        **sent_and_got(
            ref("schemas", "main.city.open.request"),
            ref("schemas", "main.city.open.reply"),
            [400, 401, 403, 404, 409, 412, 413, 415, 500, 503],
        ),
    }


ACCESS = {
    "free": ([], {400, 404, 409, 412, 413, 415, 500, 503}),
    "ruled": ([{"token": []}], {400, 401, 403, 404, 409, 412, 413, 415, 429, 500, 503}),
    "open": ([{}, {"token": []}], {400, 401, 403, 404, 409, 412, 413, 415, 500, 503}),
}


@pytest.mark.parametrize(("name", "security", "statuses"), [(name, *rest) for name, rest in ACCESS.items()])
def test_access_decides_token_and_errors(gw, name, security, statuses):
    paths = document(gw, virtual_paths=True)["paths"]
    operation = next(path["post"] for key, path in paths.items() if key.endswith(name))
    found = {int(status) for status in operation["responses"] if status not in ("200", "default")}
    assert (operation["security"], found) == (security, statuses)


def test_a_remote_service_may_fail_too_and_answers_anything(gw):
    gw.acts.set_service("far", "https://example.com")
    operation = document(gw)["paths"]["/gateway"]["post"]
    assert {"502", "504"} < operation["responses"].keys()
    assert operation["responses"]["200"]["content"]["application/json"]["schema"] == envelope({})


def test_an_error_has_its_headers_and_its_envelope(gw):
    components = document(gw)["components"]
    responses = components["responses"]
    named = {status: list(response["headers"]) for status, response in responses.items()}
    usual = ["X-Request-Id", "X-Error-Code"]
    assert named == {
        **dict.fromkeys(named, usual),
        "401": [*usual, "WWW-Authenticate"],
        "409": [*usual, "Retry-After"],
        "429": [*usual, "Retry-After"],
        "503": [*usual, "Retry-After"],
    }
    assert responses["409"]["content"]["application/json"]["schema"] == ref("schemas", "failure")
    assert components["schemas"]["failure"] == {
        "type": "object",
        "properties": {"success": {"const": False}, "body": ref("schemas", "error")},
        "required": ["success", "body"],
    }
    assert components["securitySchemes"] == {"token": {"type": "apiKey", "in": "header", "name": "token"}}


@pytest.mark.parametrize("virtual", [True, False])
def test_an_idempotent_act_takes_a_key_and_may_find_it_reused(gw, virtual):
    gw.acts.act("land", "once", idempotent="1h", idempotent_by=lambda body: "all")(lambda body: 1)
    made = document(gw, virtual_paths=virtual)
    paths = {name: path["post"] for name, path in made["paths"].items()}
    keyed = paths["/gateway#land.once" if virtual else "/gateway"]
    assert keyed["parameters"][-1] == ref("parameters", "Idempotency-Key")
    assert keyed["responses"]["422"] == ref("responses", "422")
    assert list(keyed["responses"]["200"]["headers"]) == ["X-Request-Id", "Idempotent-Replay"]
    assert made["components"]["parameters"]["Idempotency-Key"]["schema"]["maxLength"] == 255
    assert list(OpenAPIV31SpecValidator(made).iter_errors()) == []
    if virtual:
        assert "422" not in paths["/gateway#land.ruled"]["responses"]


#: Errors that an author sees, not a client; and the one that authors give a status and code of their own.
UNTOLD = {"DefinitionError", "HttpError", "GatewayError", "MethodNotAllowed"}


def test_every_code_is_told_with_its_status(gw):
    responses = document(gw)["components"]["responses"]
    classes = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, GatewayError)]
    told = [cls for cls in classes if cls.__name__ not in UNTOLD]
    assert [cls.code for cls in told if cls.code not in responses[str(cls.status)]["description"]] == []


def test_without_apispec_the_extra_is_named(gw, monkeypatch):
    monkeypatch.setitem(sys.modules, "apispec", None)
    ways = r"pip install apispec, or the extra gatewayfw\[openapi\]"
    with pytest.raises(DefinitionError, match=f"^OpenAPI needs the library apispec: {ways}$"):
        document(gw)


def test_a_path_without_a_slash_is_refused(gw):
    with pytest.raises(DefinitionError, match="^openapi: path must start with '/'$"):
        document(gw, path="gateway")

"""The sample service is what its OpenAPI document says: schemathesis finds nothing, with right and with wrong data.

It sends requests drawn from the document to the app in this process, as a Manager, and looks at every
reply: status, headers, type and body as declared, right data not refused, wrong data refused.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from marshmallow import ValidationError

from gatewayfw.catalog import build
from gatewayfw.errors import GatewayError
from gatewayfw.export.openapi import openapi
from gatewayfw.web.reader import check_request
from tests.export.coercion import kept
from tests.fuzz.sample import Sample

#: What all acts have of kinds, and both modes: these get every case that schemathesis derives, too.
WHOLLY = ["user.addUser", "user.getUsers", "user.setUserRoles"]
#: What acts check themselves, and no schema says.
OWN_RULES = (
    "Ids may not repeat.",
    "scopeType and scopeId go together.",
    "Name at least one relation.",
    "Not a token of this list: begin again without it.",
)
with pytest.MonkeyPatch.context() as patch:
    patch.setenv("GATEWAYFW_LOGIN_LIMIT", "")
    SAMPLE = Sample()
CATALOG = build(SAMPLE.gw.schemas, SAMPLE.gw.acts)


def loaded(*, derived=False, **options):
    """The document as schemathesis reads it, to be run in this process; ``derived`` cases are some hundred an act."""
    config = {
        "generation": {"mode": "all", "deterministic": True, "database": "none"},
        "phases": {"stateful": {"enabled": False}, "coverage": {"enabled": derived}},
    }
    document = openapi(CATALOG, **options)
    schema = schemathesis.openapi.from_dict(document, config=schemathesis.Config.from_dict(config))
    schema.app = SAMPLE.client.application
    return schema


each_act = loaded(virtual_paths=True)
some_acts = loaded(virtual_paths=True, derived=True).include(operation_id=WHOLLY)
one_path = loaded()


def checked(case):
    """Send a case as the Manager, with ids that exist where it has any; undo what it wrote."""
    act = named(case.body)
    if act is not None:
        prepared(case, act)
    before = SAMPLE.data()
    reply = case.call(headers={"token": SAMPLE.headers["token"]})
    if SAMPLE.data() != before:
        SAMPLE.restore()
    excluded = []
    if act is not None and coerced(act, case.body):
        excluded.append(schemathesis.checks.negative_data_rejection)
    if any(rule in reply.text for rule in OWN_RULES):
        excluded.append(schemathesis.checks.positive_data_acceptance)
    case.validate_response(reply, headers={"token": SAMPLE.headers["token"]}, excluded_checks=excluded)


def named(body):
    """The act that a body names, if there is one."""
    name = f"{part(body, 'model')}.{part(body, 'act')}"
    return SAMPLE.acts.get(name) if isinstance(body, dict) else None


def prepared(case, act):
    """Fill in what no schema can say, and leave out what it cannot forbid."""
    if case.meta.generation.mode.is_positive:
        known = ("service", "model", "act", "details")
        # Other keys are ignored, but read: they may not hold NUL, or too much. JSON Schema takes 1.0 for 1.
        case.body = whole_numbers({key: value for key, value in case.body.items() if key in known})
    set_ = part(case.body, "details", "set")
    fields = getattr(act.struct.fields["set"], "fields", None) or {}
    if not isinstance(set_, dict):
        return
    if "activeRoleId" in fields and (case.meta.generation.mode.is_positive or takes(fields, set_, "activeRoleId")):
        set_["activeRoleId"] = SAMPLE.role
    for key, field in fields.items():
        found = SAMPLE.start.get(field.metadata.get("of"))
        if found and isinstance(value := set_.get(key), str) and re.fullmatch("[0-9a-fA-F]{24}", value):
            set_[key] = str(found[int(value, 16) % len(found)]["_id"])


def takes(fields, set_, name):
    """Whether a field takes what is there: what it refuses must stay as it is."""
    try:
        fields[name].deserialize(set_[name])
    except (KeyError, ValidationError):
        return False
    return True


def whole_numbers(value):
    if isinstance(value, dict):
        return {key: whole_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**63 else value


def coerced(act, body):
    """Whether the act, whose mode is `create`, takes the details after changing them."""
    if act.validation_run_type != "create":
        return False
    try:
        details = check_request(body)["details"]
        return not kept(details, act.struct.check(details, "create", act.bounds))
    except GatewayError:
        return False


def part(body: Any, *names: str) -> Any:
    for name in names:
        body = body.get(name) if isinstance(body, dict) else None
    return body if not names or not isinstance(body, list) else None


@each_act.parametrize()
@settings(max_examples=15)
def test_each_act_is_as_declared(case):
    checked(case)


@pytest.mark.slow
@some_acts.parametrize()
@settings(max_examples=1)
def test_some_acts_are_as_declared_in_every_derived_case(case):
    checked(case)


@pytest.mark.slow
@one_path.parametrize()
@settings(max_examples=80)
def test_the_one_path_is_as_declared(case):
    checked(case)


def test_the_acts_of_the_derived_cases_are_there():
    assert [operation.ok().definition.raw["operationId"] for operation in some_acts.get_all_operations()] == WHOLLY

"""The types of codes in clients: a program that forgets one is refused by its compiler, one that has all is not."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from jsonschema import Draft202012Validator

from gatewayfw.core import gateway
from gatewayfw.error_codes import ClientCode, GatewayCode
from gatewayfw.export.openapi import openapi
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript
from gatewayfw.messages import CODES
from gatewayfw.schemas import integer, string
from tests.export.checking import assert_told, mypy
from tests.export.compiling import COMPILERS

FAILURES = sorted({*get_args(GatewayCode), *get_args(ClientCode)} - {"stale"})
PLAIN = [code for code, bounds in CODES.items() if not bounds]
RIGHT = f"""\
from typing import Never, assert_never, cast

from gateway_types import CallError, ClientCode, ErrorCode, ErrorDetail, GatewayCode


def told(detail: ErrorDetail) -> str:
    match detail["code"]:
        case "not_greater" | "too_short" | "too_small":
            minimum: int | float | str = detail["minimum"]
            return str(minimum)
        case "not_less" | "too_deep" | "too_large" | "too_long" | "too_many_bytes" | "too_many_digits":
            return str(detail["maximum"])
        case "too_many_fields" | "too_many_places" | "too_many_relations":
            return str(detail["maximum"])
        case "out_of_range":
            return str(range(detail["minimum"], detail["maximum"]))
        case "wrong_length":
            return str(range(detail["length"]))
        case "no_match":
            return detail["pattern"] or ""
        case "excluded" | "no_operator" | "not_a_choice":
            return ", ".join(map(str, detail["choices"]))
        case "wrong_type":
            return detail["expected"].upper()
        case "stale":
            return str(range(detail["revision"]))
        case {" | ".join(map(repr, PLAIN))}:
            return ""
        case _:
            assert_never(detail["code"])


def read(error: CallError) -> list[ErrorCode]:
    return [detail["code"] for details in error.details.values() for detail in details if told(detail)]


def advice(error: CallError) -> str:
    code = cast(GatewayCode | ClientCode, error.code)
    match code:
        case "stale":
            return "read it again"
        case {" | ".join(map(repr, FAILURES))}:
            return code
        case _ as other:
            never: Never = other
            return "an act's own"
"""
WRONG = """\
from gateway_types import CallError, ClientCode, ErrorCode, ErrorDetail, GatewayCode
from typing import Never, assert_never, cast


def told(detail: ErrorDetail) -> str:
    if detail["code"] == "too_small":
        return str(detail["maximum"])  #! typeddict-item
    return ""


def count(code: ErrorCode) -> int:
    match code:
        case "required" | "null" | "too_short":
            return 1
    assert_never(code)  #! arg-type


def read(error: CallError) -> ErrorCode:
    return error.code  #! return-value


def advice(error: CallError) -> GatewayCode:
    code = cast(GatewayCode | ClientCode, error.code)
    match code:
        case "stale" | "no_reply":
            return "stail"  #! return-value
        case _ as other:
            never: Never = other  #! assignment
    return error.code  #! return-value
"""
NAMES = "ClientCode, ErrorCode, ErrorDetail, GatewayCode"
#: Where the types come from: a generated module, or the package.
PLACES = {
    "a generated module": f"from gateway_types import CallError, {NAMES}\n",
    "the package": f"from gatewayfw.client import CallError\nfrom gatewayfw.error_codes import {NAMES}\n",
}


def service():
    gw = gateway()
    validator = {"set": {"age": integer(minimum=18), "code": string()}, "get": {}}
    gw.acts.set_act(schema="person", act_name="add", validator=validator, fn=lambda body: None)
    return gw.catalog()


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_checkers_of_python_tell_which_code_is_forgotten(tmp_path, place):
    right, wrong = (text.replace(PLACES["a generated module"], place) for text in (RIGHT, WRONG))
    assert_told(tmp_path, python(service()), right, wrong)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
def test_compilers_of_typescript_tell_which_code_is_forgotten(compiler, project):
    project("codes_ok", "codes_wrong", gateway=typescript(service())).compiles(compiler, "--noEmit")


def with_new_codes(text):
    """Return a module whose lists of codes have one more each."""
    for known in ('"bad_token"', '"bad_gateway"'):
        between = " | " if f"{known} | " in text else ", "
        text = text.replace(known, f'{known}{between}"novel"', 1)
    return text


@pytest.mark.slow
def test_a_client_in_python_that_knew_all_codes_is_refused_once_there_is_another(tmp_path):
    pytest.importorskip("mypy")
    for name, text in {"gateway_types": with_new_codes(python(service())), "right": RIGHT}.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    lines = [RIGHT.splitlines()[line - 1].strip() for _, line, _ in mypy(tmp_path, "right.py")]
    assert lines == ['assert_never(detail["code"])', "never: Never = other"]
    (tmp_path / "gateway_types.py").write_text(python(service()), "utf-8")
    assert mypy(tmp_path, "right.py") == []


@pytest.mark.slow
def test_a_client_in_typescript_that_knew_all_codes_is_refused_once_there_is_another(project):
    made = project("codes_ok", gateway=with_new_codes(typescript(service())))
    source = (made.folder / "codes_ok.ts").read_text().splitlines()
    told = re.findall(r"^codes_ok\.ts\((\d+),\d+\): error", made.refused("typescript"), re.MULTILINE)
    ends = [source[int(line) - 1].split()[0] for line in told if "satisfies never" in source[int(line) - 1]]
    assert ends == ["detail", "code", "code"]


def test_every_code_and_every_bound_is_in_the_module_of_typescript():
    text = typescript(service())
    union = text.split("export type ErrorDetail = ")[1].split(";\nexport type ErrorCode")[0]
    assert sorted(re.findall(r'"(\w+)"', re.sub(r"expected: .*", "", union))) == sorted(CODES)
    assert "; minimum: number | string }" in union
    assert "; pattern: string | null }" in union


def test_openapi_says_what_the_details_of_an_error_are():
    schemas = openapi(service())["components"]["schemas"]
    validator = Draft202012Validator({**schemas["error-detail"]})
    for code, bounds in CODES.items():
        known = {"expected": "email", "choices": [1, "a"], "pattern": None}
        detail = {"code": code, **{name: known.get(name, 3) for name in bounds}}
        assert validator.is_valid(detail)
        assert not bounds or not validator.is_valid({"code": code})
    assert not validator.is_valid({"code": "none_such"})
    reference = schemas["error"]["properties"]["details"]["additionalProperties"]["items"]["$ref"]
    assert reference == "#/components/schemas/error-detail"

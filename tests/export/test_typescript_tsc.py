"""What the compilers say of generated TypeScript: right programs pass, wrong ones do not."""

from __future__ import annotations

import pytest

from gatewayfw.core import gateway
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import object_, optional, string
from sample_service.app import create_service
from tests.export.compiling import COMPILERS
from tests.export.sixty import calls, sixty
from tests.export.village import village

each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


@pytest.fixture(scope="module")
def sample():
    """The module of the sample service."""
    return typescript(create_service(token_key="k" * 32).gw.catalog())


@pytest.mark.slow
@each_compiler
def test_programs_of_all_kinds(compiler, project):
    made = project("shape", "village_ok", "village_wrong", gateway=typescript(village().catalog()))
    made.compiles(compiler, "--noEmit")


@each_compiler
def test_programs_of_the_sample_service(compiler, project, sample):
    project("shape", "sample_ok", "sample_wrong", gateway=sample).compiles(compiler, "--noEmit")


@pytest.mark.slow
@each_compiler
def test_programs_of_sixty_models(compiler, project):
    """With 8 acts each, and calls of 120 of them, three levels deep."""
    catalog = sixty().catalog()
    made = project(gateway=typescript(catalog), calls=calls(catalog))
    made.compiles(compiler, "--noEmit")


def test_an_error_that_is_none_is_refused(project, sample):
    """The negative programs prove something: a mark on a right line is an error."""
    wrong = 'import { createClient } from "./gateway.js";\n// @ts-expect-error\ncreateClient({ url: "" });\n'
    printed = project(gateway=sample, wrong=wrong).refused("typescript")
    assert printed == "wrong.ts(2,1): error TS2578: Unused '@ts-expect-error' directive.\n"


def test_a_gateway_without_models(project):
    from_nothing = {
        "format": 1,
        "tokens": [],
        "maxBatch": 0,
        "codes": gateway().catalog()["codes"],
        "models": {},
        "services": {"main": {"remote": False, "acts": {}}},
    }
    project(gateway=typescript(from_nothing)).compiles("typescript", "--noEmit")


INHERITED = """
import { createClient } from "./gateway.js";
const client = createClient({ url: "" });
export async function main(): Promise<(string | undefined)[]> {
  const set = { constructor: "a", inner: { valueOf: "b" } };
  const one = await client.call("constructor", "toString", { set, get: { constructor: 1, toString: 1 } });
  const other = await client.call("constructor", "toString", { set: { inner: {} }, get: { name: 1 } });
  // @ts-expect-error
  await client.call("constructor", "toString", { set: { inner: {}, constructor: 5 }, get: { name: 1 } });
  return [one.constructor, other.name];
}
"""


@each_compiler
def test_fields_may_be_called_like_members_of_every_object(compiler, project):
    gw = gateway()
    field = {name: optional(string()) for name in ("constructor", "toString", "valueOf", "__proto__")}
    gw.odm.new_model("constructor", {"name": string(), **field})
    get = gw.schemas.select_struct("constructor", 1)
    sent = {"inner": object_(field), **field}
    gw.acts.act("constructor", "toString", set=sent, get=get, public=True)(lambda body: None)
    project(gateway=typescript(gw.catalog()), use=INHERITED).compiles(compiler, "--noEmit")

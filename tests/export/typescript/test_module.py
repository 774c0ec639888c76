"""The text of ``gateway.ts``: what of a catalog stands where. What it means, the compilers say."""

from __future__ import annotations

import re

from gatewayfw.export.text import digest
from gatewayfw.export.typescript.module import typescript
from tests.export.village import village

NEEDED = {"presence": "required"}


def test_an_act_says_who_may_call_it():
    act = {
        "description": "Do it.",
        "access": "rule",
        "roles": ["A", "B"],
        "limit": ["2/minute", "9/hour"],
        "idempotent": 60,
        "errors": [{"status": 409, "code": "taken", "message": "it is taken"}],
        "maxGetDepth": 8,
        "set": {"kind": "object", "fields": {}, **NEEDED},
        "get": {"kind": "object", "fields": None, **NEEDED},
        "returns": {"kind": "boolean", "presence": "optional"},
    }
    catalog = {
        "tokens": [],
        "maxBatch": 0,
        "models": {},
        "services": {"main": {"remote": False, "acts": {"m": {"a": act}}}, "far": {"remote": True}},
    }
    services = typescript(catalog).split("export interface Services ")[1].split("\n}\n")[0]
    assert re.sub(r"\s+", " ", services) == (
        "{ main: { m: { /** * Do it. * * For the roles A, B. At most 2/minute and 9/hour."
        " May be repeated with a key. Errors of its own: 409 taken. */"
        " a: { set?: Nothing; get: AnyObject; body: boolean | null; idempotent: true }; }; };"
        " far: Remote;"
    )


def test_it_starts_with_the_hash_of_the_catalog():
    catalog = village().catalog()
    assert typescript(catalog).splitlines()[0] == f"// gatewayfw {digest(catalog)}: generated; do not edit"
    assert re.fullmatch("[0-9a-f]{16}", digest(catalog))
    assert digest({**catalog, "format": 2}) != digest(catalog)


def test_equal_code_gives_equal_bytes_without_what_is_hidden():
    text = typescript(village().catalog())
    assert typescript(village().catalog()) == text
    assert "secret" not in text
    assert text.endswith("}\n")
    assert not re.search(r"[ \t]$", text, re.MULTILINE)

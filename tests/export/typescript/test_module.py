"""The text of ``gateway.ts``: what of a catalog stands where. What it means, the compilers say."""

from __future__ import annotations

import re

import pytest

from gatewayfw.export.text import digest
from gatewayfw.export.typescript.kinds import Asked, Sent, Shown, noted
from gatewayfw.export.typescript.module import typescript
from gatewayfw.export.typescript.text import Member, block, comment, literal, union
from tests.export.village import village

NEEDED = {"presence": "required"}
TEXT = {"kind": "string", **NEEDED}
FIELDS = {"a": TEXT, "b": {**TEXT, "presence": "optional"}, "c": {**TEXT, "presence": "defaulted", "default": "x"}}

KINDS = {
    "string": (TEXT, "string", "string"),
    "email": ({"kind": "email", **NEEDED}, "string", "string"),
    "object_id": ({"kind": "object_id", **NEEDED}, "ObjectId", "ObjectId"),
    "date": ({"kind": "date", **NEEDED}, "IsoDate", "IsoDate"),
    "boolean": ({"kind": "boolean", **NEEDED}, "boolean", "boolean"),
    "number": ({"kind": "number", **NEEDED}, "number", "number"),
    "integer": ({"kind": "integer", **NEEDED}, "number", "number"),
    "any": ({"kind": "any", **NEEDED}, "Json", "Json"),
    "an unknown kind": ({"kind": "new", **NEEDED}, "Json", "Json"),
    "enums": ({"kind": "enums", "choices": ["a", 1, True, 'q"', 1], **NEEDED}, *['"a" | 1 | true | "q\\""'] * 2),
    "no choices": ({"kind": "enums", "choices": [], **NEEDED}, "never", "never"),
    "nullable": ({**TEXT, "nullable": True}, "string | null", "string | null"),
    "array": ({"kind": "array", "items": TEXT, **NEEDED}, "string[]", "readonly string[]"),
    "array of nullable": (
        {"kind": "array", "items": {**TEXT, "nullable": True}, **NEEDED},
        "(string | null)[]",
        "readonly (string | null)[]",
    ),
    "array of arrays": (
        {
            "kind": "array",
            "items": {"kind": "array", "items": {"kind": "enums", "choices": [1, 2], **NEEDED}},
            **NEEDED,
        },
        "(1 | 2)[][]",
        "readonly (readonly (1 | 2)[])[]",
    ),
    "object": (
        {"kind": "object", "fields": FIELDS, **NEEDED},
        "{ a: string; b?: string; c: string }",
        '{\n  a: string;\n  b?: string;\n  /** Default "x". */\n  c?: string;\n}',
    ),
    "object of any keys": ({"kind": "object", "fields": None, **NEEDED}, *["{ [key: string]: Json }"] * 2),
    "object without fields": ({"kind": "object", "fields": {}, **NEEDED}, "Nothing", "Nothing"),
    "object with other keys": (
        {"kind": "object", "fields": {"a": TEXT}, "open": True, **NEEDED},
        *["{ a: string } & AnyObject"] * 2,
    ),
}


@pytest.mark.parametrize(("kind", "shown", "sent"), KINDS.values(), ids=KINDS)
def test_kinds(kind, shown, sent):
    assert (Shown().type(kind), Sent().type(kind)) == (shown, sent)


MODELS = {
    "city": {
        "fields": {"_id": {}, "name": {}, "size": {}},
        "links": {"people": {"model": "person", "fields": ["_id"]}},
    },
    "person": {
        "fields": {"_id": {}, "age": {}},
        "links": {"home": {"model": "city", "fields": ["_id", "name", "size"]}},
    },
}
GETS = {
    "whole": ({"model": "city", "depth": 2}, 8, 'Get<"city", 2>'),
    "no deeper than the act": ({"model": "city", "depth": 5}, 3, 'Get<"city", 3>'),
    "no deeper than can be counted": ({"model": "city", "depth": 500}, 600, 'Get<"city", 32>'),
    "restricted": ({"model": "city", "fields": ["_id", "name"], "links": {}}, 8, "{ _id?: Flag; name?: Flag }"),
    "what a link hides": (
        {"model": "city", "fields": [], "links": {"people": {"model": "person", "depth": 1}}},
        8,
        '{ people?: Flag | Get<"person", 1, "person.age"> }',
    ),
    "what a link above hides": (
        {
            "model": "city",
            "fields": [],
            "links": {
                "people": {
                    "model": "person",
                    "fields": ["_id", "age"],
                    "whole": True,
                    "links": {"home": {"model": "city", "fields": ["name"], "whole": False, "links": {}}},
                }
            },
        },
        8,
        "{ people?: Flag | { _id?: Flag; home?: 0 | { name?: Flag } } }",
    ),
}


@pytest.mark.parametrize(("selection", "levels", "text"), GETS.values(), ids=GETS)
def test_selections(selection, levels, text):
    assert Asked(MODELS, levels).type({"kind": "selection", **selection, **NEEDED}) == text


def test_a_get_of_other_kinds():
    fields = {
        "flag": {"kind": "enums", "choices": [0, 1], **NEEDED},
        "user": {"kind": "selection", "model": "city", "depth": 4, "presence": "optional"},
        "any": {"kind": "any", "presence": "optional"},
    }
    text = '{ flag: Flag; user?: Get<"city", 2>; any?: unknown }'
    assert Asked(MODELS, 3).type({"kind": "object", "fields": fields, **NEEDED}) == text


def test_names_and_literals_are_escaped():
    assert block([Member("a-b", "1"), Member("$x", "2", optional=True), Member("class", "3")]) == (
        '{ "a-b": 1; $x?: 2; class: 3 }'
    )
    assert literal("\u2028\ud800é") == '"\\u2028\\ud800\\u00e9"'
    assert (literal("é"), literal(float("inf")), union([1, 1.5, -2])) == ('"é"', "number", "1 | 1.5 | -2")


def test_comments_cannot_be_left():
    assert comment("a */ b") == "/** a *\\/ b */\n"
    assert comment(" One.\n\n  Two. \n") == "/**\n * One.\n *\n *   Two.\n */\n"
    assert comment(" \n") == ""


def test_comments_hold_nothing_that_hides_or_turns_the_code_around_them():
    assert comment("a\u202eb\x9bc\u2066d\u200be\ud800f") == "/** a b c d e f */\n"
    assert comment("one\u202e\u2028two\x85three") == "/**\n * one\n * two\n * three\n */\n"


def test_what_a_comment_says_of_a_field():
    assert noted({"kind": "integer", "minimum": 0, "maximum": 9, "default": 1}) == "At least 0, at most 9, default 1."
    assert noted({"kind": "object_id", "of": "user"}) == "Id of user."
    assert noted({"kind": "array", "items": {"of": "user"}, "maxItems": 3}) == "Ids of user, at most 3."
    assert noted(TEXT) == ""


def test_an_act_says_who_may_call_it():
    act = {
        "description": "Do it.",
        "access": "rule",
        "roles": ["A", "B"],
        "limit": ["2/minute", "9/hour"],
        "maxGetDepth": 8,
        "set": {"kind": "object", "fields": {}, **NEEDED},
        "get": {"kind": "object", "fields": None, **NEEDED},
        "returns": {"kind": "boolean", "presence": "optional"},
    }
    catalog = {
        "tokens": [],
        "models": {},
        "services": {"main": {"remote": False, "acts": {"m": {"a": act}}}, "far": {"remote": True}},
    }
    services = typescript(catalog).split("export interface Services ")[1].split("\n}\n")[0]
    assert re.sub(r"\s+", " ", services) == (
        "{ main: { m: { /** * Do it. * * For the roles A, B. At most 2/minute and 9/hour. */"
        " a: { set?: Nothing; get: AnyObject; body: boolean | null }; }; }; far: Remote;"
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

"""The TypeScript types of kinds, as they are shown, sent and asked for."""

from __future__ import annotations

import pytest

from gatewayfw.export.typescript.kinds import Asked, Sent, Shown, noted

NEEDED = {"presence": "required"}
TEXT = {"kind": "string", **NEEDED}
FIELDS = {"a": TEXT, "b": {**TEXT, "presence": "optional"}, "c": {**TEXT, "presence": "defaulted", "default": "x"}}
PLACES = {
    "kind": "array",
    "items": {"kind": "any", **NEEDED},
    "prefixItems": [TEXT, {"kind": "integer", "nullable": True, **NEEDED}],
    **NEEDED,
}
KINDS = {
    "string": (TEXT, "string", "string"),
    "places": (PLACES, "[string, number | null]", "readonly [string, number | null]"),
    "list of places": (
        {"kind": "array", "items": PLACES, **NEEDED},
        "[string, number | null][]",
        "readonly (readonly [string, number | null])[]",
    ),
    "email": ({"kind": "email", **NEEDED}, "string", "string"),
    "object_id": ({"kind": "object_id", **NEEDED}, "ObjectId", "ObjectId"),
    "date": ({"kind": "date", **NEEDED}, "IsoDate", "IsoDate"),
    "boolean": ({"kind": "boolean", **NEEDED}, "boolean", "boolean"),
    "number": ({"kind": "number", **NEEDED}, "number", "number"),
    "integer": ({"kind": "integer", **NEEDED}, "number", "number"),
    "any": ({"kind": "any", **NEEDED}, "Json", "Json"),
    "any but null": ({"kind": "any", "nullable": False, **NEEDED}, "NonNullable<Json>", "NonNullable<Json>"),
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
    "array of nullable arrays": (
        {"kind": "array", "items": {"kind": "array", "items": TEXT, "nullable": True}, **NEEDED},
        "(string[] | null)[]",
        "readonly (readonly string[] | null)[]",
    ),
    "array of one choice": (
        {"kind": "array", "items": {"kind": "enums", "choices": ["a"]}, **NEEDED},
        '"a"[]',
        'readonly "a"[]',
    ),
    "decimal": ({"kind": "decimal", "places": 2, **NEEDED}, "string", "string"),
    "binary": ({"kind": "binary", **NEEDED}, "string", "string"),
    "file": ({"kind": "file", "types": [], **NEEDED}, "Upload", "Upload"),
    "mapping": ({"kind": "mapping", "values": TEXT, **NEEDED}, *["{ [key: string]: string }"] * 2),
    "count": ({"kind": "count", "most": 5, **NEEDED}, *["number | { atLeast: number }"] * 2),
    "a selection that nobody asks for": ({"kind": "selection", **NEEDED}, "AnyObject", "AnyObject"),
    "object with descriptions": (
        {"kind": "object", "fields": {"a": {**TEXT, "description": "One.", "maxLength": 5}}, **NEEDED},
        "{\n  /** One. */\n  a: string;\n}",
        "{\n  /**\n   * One.\n   * Characters at most 5.\n   */\n  a: string;\n}",
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
    "array of objects with other keys": (
        {"kind": "array", "items": {"kind": "object", "fields": {"a": TEXT}, "open": True}, **NEEDED},
        "({ a: string } & AnyObject)[]",
        "readonly ({ a: string } & AnyObject)[]",
    ),
}


@pytest.mark.parametrize(("kind", "shown", "sent"), KINDS.values(), ids=KINDS)
def test_kinds(kind, shown, sent):
    assert (Shown().type(kind), Sent().type(kind)) == (shown, sent)


MODELS = {
    "city": {
        "fields": {"_id": {}, "name": {}, "size": {}, "area": {}},
        "links": {
            "people": {"model": "person", "fields": ["_id"]},
            "mayor": {"model": "person", "fields": []},
        },
    },
    "person": {
        "fields": {"_id": {}, "age": {}},
        "links": {"home": {"model": "city", "fields": ["_id", "name"]}},
    },
}
GETS = {
    "whole": ({"model": "city", "depth": 2}, 8, 'Get<"city", 2> & Revised'),
    "no deeper than the act": ({"model": "city", "depth": 5}, 3, 'Get<"city", 3> & Revised'),
    "no deeper than can be counted": ({"model": "city", "depth": 500}, 600, 'Get<"city", 32> & Revised'),
    "restricted": ({"model": "city", "fields": ["_id"], "links": {}}, 8, "{ _id?: Flag; _rev?: Flag }"),
    "restricted, no deeper than the act": (
        {"model": "city", "fields": [], "links": {"people": {"model": "person", "depth": 5}}},
        3,
        '{ _rev?: Flag; people?: Flag | Get<"person", 2, "person.age"> }',
    ),
    "deeper than the act": (
        {"model": "city", "fields": [], "links": {"people": {"model": "person", "depth": 5}}},
        0,
        '{ _rev?: Flag; people?: Flag | Get<"person", 0, "person.age"> }',
    ),
    "what several links hide": (
        {
            "model": "person",
            "fields": [],
            "links": {
                "home": {
                    "model": "city",
                    "fields": ["name"],
                    "whole": False,
                    "links": {"people": {"model": "person", "depth": 2}, "mayor": {"model": "person", "depth": 0}},
                }
            },
        },
        8,
        "{\n  _rev?: Flag;\n  home?: 0 | {\n    name?: Flag;\n"
        '    people?: Flag | Get<"person", 2, "city.area" | "city.size" | "person.age">;\n'
        '    mayor?: Flag | Get<"person", 0, "city.area" | "city.size" | "person._id" | "person.age">;\n  };\n}',
    ),
    "what a link hides": (
        {"model": "city", "fields": [], "links": {"people": {"model": "person", "depth": 1}}},
        8,
        '{ _rev?: Flag; people?: Flag | Get<"person", 1, "person.age"> }',
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
        "{ _rev?: Flag; people?: Flag | { _id?: Flag; home?: 0 | { name?: Flag } } }",
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
    text = '{ flag: Flag; user?: Get<"city", 2> & Revised; any?: unknown }'
    assert Asked(MODELS, 3).type({"kind": "object", "fields": fields, **NEEDED}) == text


def test_a_get_of_an_object_of_any_keys():
    assert Asked(MODELS, 3).type({"kind": "object", "fields": None, **NEEDED}) == "AnyObject"


def test_a_filter_takes_null_where_a_value_may_be_absent():
    fields = {
        "age": {"operators": ["eq", "in", "gt"], "value": {"kind": "integer", "description": "In years."}},
        "name": {"operators": ["ne", "prefix", "exists"], "value": {"kind": "string"}},
    }
    assert Sent().type({"kind": "filter", "fields": fields, **NEEDED}) == (
        "{\n  /** In years. */\n"
        "  age?: number | null | { eq?: number | null; in?: readonly (number | null)[]; gt?: number };\n"
        "  name?: { ne?: string | null; prefix?: string; exists?: boolean };\n}"
    )


def test_decimals_are_texts_and_whole_numbers_where_these_are_taken():
    kind = {"kind": "decimal", "places": 2, "presence": "required"}
    whole = {**kind, "whole": True}
    listed = {"kind": "array", "items": whole, "presence": "required"}
    assert [Sent().type(one) for one in (kind, whole, listed)] == [
        "string",
        "string | number",
        "readonly (string | number)[]",
    ]
    assert noted(whole) == "Decimal places 2, numbers must be whole."


def test_what_operators_of_a_filter_take():
    operators = ["eq", "ne", "in", "nin", "gt", "prefix", "contains", "exists"]
    fields = {"a": {"operators": operators, "value": {"kind": "date"}}, "b": {"operators": ["lt"], "value": TEXT}}
    assert Shown().type({"kind": "filter", "fields": fields, **NEEDED}) == (
        "{\n  a?: IsoDate | null | {\n    eq?: IsoDate | null;\n    ne?: IsoDate | null;\n"
        "    in?: (IsoDate | null)[];\n    nin?: (IsoDate | null)[];\n    gt?: IsoDate;\n"
        "    prefix?: string;\n    contains?: string;\n    exists?: boolean;\n  };\n  b?: { lt?: string };\n}"
    )


def test_a_level_of_a_get_is_an_object_in_it():
    city = {"kind": "selection", "model": "city", "depth": 4, **NEEDED}
    inner = {"kind": "object", "fields": {"city": city}, **NEEDED}
    text = '{ inner: { city: Get<"city", 1> & Revised } }'
    assert Asked(MODELS, 3).type({"kind": "object", "fields": {"inner": inner}, **NEEDED}) == text

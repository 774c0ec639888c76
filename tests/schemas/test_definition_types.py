"""What type checkers make of definitions that are written out: right ones pass, typos are told at their lines."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import (
    IndexOptionsShape,
    IndexShape,
    OptionsShape,
    RelationShape,
    ReverseShape,
    SortShape,
    index_rules,
    relations,
)
from tests.export.checking import expected, mypy, pyright

RIGHT = """\
from typing import Any

from marshmallow import Schema, fields

from gatewayfw import gateway
from gatewayfw.schemas import RelationShape, Relation, RelatedRelation, enums, integer, optional, string
from gatewayfw.schemas import array, defaulted, described, mapping, nullable, object_

gw = gateway(max_batch=3, playground_refused_in=("production",))
new = gw.odm.new_model
several = {
    "author": {"schemaName": "author", "type": "single", "optional": True},
    "tags": {"schemaName": "tag", "type": "multiple", "limit": 3, "sort": {"field": "name", "order": "asc"}},
}
of_kinds = {"author": {"schemaName": "author", "type": "single"}, "tags": Relation("tag", "multiple")}
anything: dict[str, Any] = {}
author: RelationShape = {"schemaName": "author", "type": "single", "relatedRelations": {"books": {"type": "multiple"}}}
fields_of = {"title": string, "pages": integer(), "more": {"note": optional(string)}}
new("a", {"title": string, "pages": integer(), "kind": enums("a", "b"), "raw": fields.String(), "of": Schema})
new("b", fields_of, several, {"excludes": ["title"]})
new("c", anything, of_kinds, anything)
new("d", {**fields_of}, {"author": author}, anything)
new("e", {}, {"b": {"schemaName": "b", "type": "single", "relatedRelations": {"es": {"type": "multiple"}}}})
new("f", {}, {"author": Relation("a", "single", related_relations={"books": RelatedRelation(type="single")})})
new("g", {}, {"a": {"schemaName": "a", "type": "single"}, "b": Relation("a", "single")}, {"createIndex": []})
unique = {"indexSpec": {"title": 1}, "options": {"unique": True}}
new("h", {"title": string}, None, {"createIndex": {"indexSpec": {"title": 1}, "options": {"unique": True}}})
new("i", {"title": string}, several, {"createIndex": [unique]})
new("j", {"some": array(string), "more": array(object_({"n": integer, "of": Schema})), "any": mapping(Schema())})
new("k", {"a": optional(anything), "b": nullable(array({"n": integer()})), "c": object_(anything)})
page = new("a2", {"n": integer}).listing(filter={"n": ["eq"]})
parts = {"rows": "many", "next": nullable(string())}
act = gw.acts.act
act("a", "b", returns={**page.returns, "more": string})
act("a", "c", returns=page.returns)
act("a", "d", returns=parts)
act("a", "e", returns={"token": string(), "user": "one", "of": {"n": integer}})
act("a", "f", returns=anything)
act("a", "g", returns="many")
act("a", "h", returns=string)
act("a", "i", returns=optional({"n": integer}), get=1)
gw.acts.set_act(schema="a", act_name="b", validator={"set": {"n": string}, "get": {}}, fn=print, returns=None)
gw.acts.set_act(schema="a", act_name="c", validator={"set": fields_of, "get": gw.schemas.select_struct("a")}, fn=print)
gw.acts.set_act(schema="a", act_name="d", validator=anything, fn=print, returns={"n": Schema, "m": fields.Int()})
new("l", {"a": defaulted(array(string), []), "b": described(optional(fields.Int()), "How many.")})
"""

WRONG = """\
from flask import Flask

from gatewayfw import Relation, gateway
from gatewayfw.schemas import RelationShape, ReverseShape, string
from gatewayfw.schemas import array, defaulted, described, mapping, nullable, object_, optional
from gatewayfw.testing.kit import GatewayClient

gateway(max_bach=3)  #! call-arg
gw = gateway()
new = gw.odm.new_model
new("a", {"n": int})  #! arg-type
new("a", {"n": "string"})  #! arg-type
new("a", {}, {"author": {"schemaName": "author", "typ": "single"}})  #! dict-item
new("a", {}, {"author": {"schemaName": "author", "type": "singel"}})  #! dict-item
new("a", {}, {"b": {"schemaName": "b", "type": "single", "relatedRelation": {"es": {}}}})  #! dict-item
new("a", {}, {"b": {"schemaName": "b", "type": "single", "relatedRelations": {"es": {"typ": ""}}}})  #! dict-item
new("a", {}, {"b": {"type": "single"}})  #! dict-item
new("a", {"b": string}, None, {"createIndexes": {"indexSpec": {"b": 1}}})  #! call-overload
new("a", {"b": string}, None, {"createIndex": {"indexSpec": {"b": 2}}})  #! call-overload
new("a", {"b": string}, None, {"createIndex": {"indexSpec": {"b": 1}, "options": {"uniqe": True}}})  #! call-overload
held: RelationShape = {"schemaName": "b", "typ": "single"}  #! typeddict-item #! typeddict-unknown-key
reverse: ReverseShape = {"type": "multiple", "limits": 3}  #! typeddict-unknown-key
new("a", {}, {"b": held, "c": Relation("c", "one")})  #! arg-type
gw.acts.act("a", "b", set={"n": int})  #! arg-type
gw.acts.group("a").act("b", set={"n": int})  #! arg-type
new("a", {"n": array(int)})  #! arg-type
new("a", {"n": optional(int), "m": nullable("integer")})  #! arg-type #! arg-type
new("a", {"n": defaulted(int, 3), "m": described(int, "How many.")})  #! arg-type #! arg-type
new("a", {"n": object_({"m": int}), "o": mapping(int)})  #! arg-type #! arg-type
gw.acts.act("a", "b", set={"n": string}, publik=True)  #! call-arg
gw.blueprint(playgroud=True)  #! call-arg
gw.init_app(Flask("a"), playgroud=True)  #! call-arg
GatewayClient(Flask("a")).act("a", "b", retry=3)  #! call-arg
gw.acts.act("a", "b", get=1, returns="may")  #! arg-type
gw.acts.act("a", "b", get=1, returns={"rows": "meny"})  #! arg-type
gw.acts.act("a", "b", returns=int)  #! arg-type
gw.acts.group("a").act("b", get=1, returns="may")  #! arg-type
gw.acts.set_act(schema="a", act_name="b", validator={"set": {"n": int}, "get": {}}, fn=print)  #! arg-type
"""


@pytest.mark.slow
def test_right_definitions_pass_and_typos_are_told_where(tmp_path):
    pytest.importorskip("mypy")
    for name, text in {"right": RIGHT, "wrong": WRONG}.items():
        (tmp_path / f"{name}.py").write_text(text, "utf-8")
    marks = expected("wrong", WRONG)
    assert mypy(tmp_path, "right.py", "wrong.py") == marks
    lines = sorted({(name, line) for name, line, _ in marks})
    assert pyright(tmp_path, "right.py", "wrong.py") == lines


SHAPES = {
    "relation": (RelationShape, relations._RELATION_KEYS),
    "reverse": (ReverseShape, relations._REVERSE_KEYS),
    "sort": (SortShape, relations._SORT_KEYS),
    "index": (IndexShape, relations._INDEX_KEYS),
    "index options": (IndexOptionsShape, tuple(index_rules.INDEX_OPTIONS)),
    "options": (OptionsShape, relations._OPTION_KEYS),
}


@pytest.mark.parametrize(("shape", "keys"), SHAPES.values(), ids=SHAPES)
def test_a_shape_has_the_keys_that_are_read(shape, keys):
    assert tuple(shape.__annotations__) == keys

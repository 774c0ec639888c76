"""Every kind answers every question that is asked of kinds: whoever adds one is told here what is missing."""

from __future__ import annotations

import hashlib
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import bson
import jsonschema
import pytest
from bson import Binary, Decimal128, ObjectId
from hypothesis import given
from hypothesis import strategies as st

import tests.strategies
from gatewayfw.core import gateway
from gatewayfw.errors import ValidationError
from gatewayfw.export.jsonschema import kinds as jsonschema_kinds
from gatewayfw.export.jsonschema.document import json_schema
from gatewayfw.export.openapi import openapi
from gatewayfw.export.python import types as python_types
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript import kinds as typescript_kinds
from gatewayfw.export.typescript.module import typescript
from gatewayfw.schemas import (
    Schemas,
    any_,
    array,
    binary,
    boolean,
    compile_struct,
    date,
    decimal,
    email,
    enums,
    file,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    string,
    url,
    uuid,
)
from gatewayfw.schemas.exactness import check_value
from gatewayfw.schemas.fields import KINDS
from gatewayfw.schemas.kinds import Ability, KindField, as_kind
from gatewayfw.schemas.kinds.descriptions import describe
from gatewayfw.schemas.kinds.file import Upload
from gatewayfw.schemas.kinds.sizes import ENDLESS
from gatewayfw.settings import Settings
from tests.fuzz.details import MAKERS, DetailsMaker

UUID = uuid4()
ID = "0123456789abcdefABCDEF00"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
UPLOAD = Upload("a.png", "image/png", len(PNG), hashlib.sha256(PNG).hexdigest(), io.BytesIO(PNG))
SCALAR_TSX = Path(__file__).parents[2] / "playground" / "src" / "form" / "scalar.tsx"


@dataclass(frozen=True)
class Sample:
    """A field of a kind, with a value it takes and one it refuses.

    Attributes:
        loaded: what ``create`` makes of the value; ``stored``: what the database holds, where that is another.
        known: whether a quick test knows the value.
    """

    field: Any
    good: Any
    bad: Any
    loaded: Any = ...
    stored: Any = ...
    known: bool = True

    @property
    def as_loaded(self) -> Any:
        """The value that ``create`` makes of it."""
        return self.good if self.loaded is ... else self.loaded

    @property
    def as_stored(self) -> Any:
        """What the database holds of it."""
        return self.as_loaded if self.stored is ... else self.stored


#: Each kind by its name in `KINDS`.
SAMPLES = {
    "string": Sample(string(size=(1, 5)), "abc", 5),
    "number": Sample(number(minimum=1), 2.5, "x"),
    "integer": Sample(integer(maximum=9), 5, 5.5),
    "boolean": Sample(boolean(), True, "perhaps"),
    "object_": Sample(object_({"a": date()}), {"a": "2026-11-22"}, {"b": 1}, {"a": datetime(2026, 11, 22)}),
    "array": Sample(array(object_id(), size=2), [ID] * 2, [5, 5], [ObjectId(ID)] * 2),
    "mapping": Sample(
        mapping(nullable(date())),
        {"a": "2026-11-22", "b": None},
        {"a": 5},
        {"a": datetime(2026, 11, 22), "b": None},
    ),
    "object_id": Sample(object_id(of="note"), ID, "x", ObjectId(ID)),
    "enums": Sample(enums("a", 1), "a", "b"),
    "any_": Sample(any_(), {"a": [1]}, {"a": float("nan")}),
    "date": Sample(date(), "2026-11-22T10:00:00Z", "22.11.2026", datetime(2026, 11, 22, 10)),
    "decimal": Sample(
        decimal(places=2, minimum=0, maximum=99), "12.50", 5.5, Decimal("12.50"), stored=Decimal128("12.50")
    ),
    "binary": Sample(binary(size=(1, 3)), "AP8=", 5, b"\x00\xff", stored=b"\x00\xff"),
    "url": Sample(url(), "https://example.org/a?b=c", 5),
    "uuid": Sample(uuid(), str(UUID), 5, loaded=UUID, stored=Binary.from_uuid(UUID)),
    "email": Sample(email(), "a@b.org", 5),
    "file": Sample(file(most="1kB", types=["image/png"]), UPLOAD, "x"),
}
#: The kinds that come beside the JSON of a request, and that no document holds.
BESIDE = {"file"}
#: What makes a copy of another kind has no class.
COPIED = {"nullable", "optional", "defaulted", "described"}
BY_NAME = pytest.mark.parametrize("name", SAMPLES)
STORED_BY_NAME = pytest.mark.parametrize("name", [name for name in SAMPLES if name not in BESIDE])


def own_kinds(cls: type = KindField) -> Iterator[Any]:
    """Yield the classes of our kinds."""
    for one in cls.__subclasses__():
        if one.kind:
            yield one
        yield from own_kinds(one)


def service() -> Any:
    """Return a gateway with a model of all kinds, and with acts that take them in both modes."""
    gw = gateway()
    gw.schemas.add("note", {name: sample.field for name, sample in SAMPLES.items() if name not in BESIDE})
    for mode in ("assert", "create"):
        gw.acts.set_act(
            schema="note",
            act_name=mode,
            validator={
                "set": {name: sample.field for name, sample in SAMPLES.items()},
                "get": gw.schemas.select_struct("note", 1),
            },
            fn=lambda body: body,
            validation_run_type=mode,
        )
    return gw


CATALOG = service().catalog()
#: Kinds that no constructor makes: they come from models and their listings.
MADE_OTHERWISE = {"select_struct", "filter", "count"}
WORDS = {describe(sample.field)["kind"] for sample in SAMPLES.values()}


def test_every_constructor_and_every_class_has_a_sample():
    assert set(SAMPLES) == set(KINDS) - COPIED
    assert {cls.kind for cls in own_kinds()} - MADE_OTHERWISE == set(SAMPLES)


@BY_NAME
def test_a_kind_is_loaded_by_create_and_taken_as_sent_by_assert(name):
    sample = SAMPLES[name]
    struct = compile_struct({"set": {"x": sample.field}, "get": {}}, Schemas(Settings()))
    details = {"set": {"x": sample.good}, "get": {}}
    assert struct.check(details, "create")["set"] == {"x": sample.as_loaded}
    assert struct.check(details, "assert")["set"] == {"x": sample.good}
    for mode in ("create", "assert"):
        with pytest.raises(ValidationError):
            struct.check({"set": {"x": sample.bad}, "get": {}}, mode)


@STORED_BY_NAME
def test_a_kind_has_a_stored_form_also_in_filters(name):
    sample = SAMPLES[name]
    for form in (sample.good, sample.as_loaded):
        assert check_value(sample.field, form, "x") == sample.as_stored
        assert as_kind(sample.field).operand(form, "filter.x") == sample.as_stored


@BY_NAME
def test_a_kind_knows_its_good_values_quickly(name):
    sample = SAMPLES[name]
    test = as_kind(sample.field).quick_test()
    assert (test is not None and bool(test(sample.good))) == sample.known


@STORED_BY_NAME
def test_a_kind_counts_its_bytes_and_says_where_it_cannot(name):
    sample = SAMPLES[name]
    kind = as_kind(sample.field)
    value = bson.encode({"": check_value(sample.field, sample.good, "x")})
    assert len(value) - len(bson.encode({})) - 2 <= kind.largest
    assert bool(list(kind.unstated("x"))) == (kind.largest >= ENDLESS)


@BY_NAME
def test_a_kind_takes_operators_that_there_are(name):
    kind = as_kind(SAMPLES[name].field)
    assert (kind.elements is not None) == (Ability.LIST in kind.abilities)
    assert not (kind.sorts and (kind.elements or kind.sets_parts))


@pytest.mark.parametrize("rows", [typescript_kinds.ROWS, python_types.ROWS, jsonschema_kinds.ROWS])
def test_an_export_has_one_row_for_each_word_of_the_catalog(rows):
    assert set(rows) == WORDS | {"selection", "filter", "count", "bound"}


def test_the_whole_exports_name_every_kind():
    assert set(CATALOG["models"]["note"]["fields"]) == {"_id", *SAMPLES} - BESIDE
    for text in (typescript(CATALOG), python(CATALOG)):
        assert [name for name in SAMPLES if not re.search(rf"^ +\"?{name}\"?\??:", text, re.M)] == []
    properties = openapi(CATALOG, title="x")["components"]["schemas"]
    assert any(set(SAMPLES) - BESIDE <= set(schema.get("properties", ())) for schema in properties.values())


@STORED_BY_NAME
def test_the_json_schema_of_a_kind_agrees_with_it(name):
    sample = SAMPLES[name]
    schema = jsonschema_kinds.Values({}, "#/$defs/", {}).schema(describe(sample.field))
    jsonschema.validate(sample.good, schema)
    if name != "any_":
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(sample.bad, schema)


def test_the_json_schema_of_a_service_takes_a_request_of_all_kinds():
    sent = {name: sample.good for name, sample in SAMPLES.items() if name not in BESIDE}
    request = {"set": sent, "get": dict.fromkeys(sent, 1)}
    for mode in ("assert", "create"):
        body = {"service": "main", "model": "note", "act": mode, "details": request}
        jsonschema.validate(body, json_schema(CATALOG))


@BY_NAME
def test_a_kind_has_a_strategy_of_its_own(name):
    kind: Any = SAMPLES[name].field
    assert kind.kind in MAKERS
    assert name in {*tests.strategies.SCALARS, *tests.strategies.COMPOSED, *BESIDE}


@pytest.mark.parametrize("mode", ["assert", "create"])
@BY_NAME
@given(data=st.data())
def test_a_kind_takes_what_its_strategy_draws(name, mode, data):
    schemas = Schemas(Settings())
    value = data.draw(DetailsMaker(schemas, mode).likely(SAMPLES[name].field))
    compile_struct({"set": {"x": SAMPLES[name].field}, "get": {}}, schemas).check(
        {"set": {"x": value}, "get": {}}, mode
    )


def test_the_playground_has_an_input_or_a_form_for_every_word():
    source = SCALAR_TSX.read_text("utf-8")
    inputs = re.findall(r"^  (\w+):", source.split("const INPUTS")[1].split("};")[0], re.M)
    parts = re.findall(r'"(\w+)"', source.split("const WITH_PARTS")[1].split(";")[0])
    assert {*inputs, *parts} == WORDS | {"selection", "documents", "filter", "count"}

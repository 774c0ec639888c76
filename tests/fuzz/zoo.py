"""A gateway whose acts use every value kind, select struct and form of validator; no database."""

from __future__ import annotations

import enum
from typing import Any

from marshmallow import Schema, ValidationError, validate
from marshmallow import fields as mm

from gatewayfw.core import Gateway, gateway
from gatewayfw.schemas import (
    any_,
    array,
    binary,
    boolean,
    date,
    decimal,
    defaulted,
    described,
    email,
    enums,
    integer,
    mapping,
    nullable,
    number,
    object_,
    object_id,
    optional,
    string,
    url,
    uuid,
)

#: Fields of every kind, by its name in ``gatewayfw.schemas.fields.KINDS``; of each with all its options.
KIND_FIELDS: dict[str, list[Any]] = {
    "string": [
        string(),
        string(size=3),
        string(size=(2, None)),
        string(size=(1_200, 1_300)),
        string(pattern="[a-c]+x?"),
    ],
    "number": [number(), number(minimum=0.2, maximum=0.8), number(minimum=-3), number(maximum=2**63 - 1)],
    "integer": [integer(), integer(minimum=-2, maximum=2), integer(minimum=2**62)],
    "boolean": [boolean()],
    "object_": [object_(), object_({}), object_({"a": integer(), "b": optional(string())})],
    "array": [array(integer()), array(array(any_()), size=2), array(object_({"a": date()}), size=(40, 41))],
    "mapping": [mapping(integer()), mapping(array(string(size=(None, 5)))), mapping({"a": nullable(date)})],
    "nullable": [nullable(integer()), nullable(array(string())), nullable({"a": date})],
    "optional": [optional(integer())],
    "defaulted": [defaulted(array(string()), ["a"])],
    "described": [described(integer(), "A number.")],
    "object_id": [object_id()],
    "enums": [enums("a", 1, 2.5, True)],
    "any_": [any_()],
    "date": [date()],
    "email": [email()],
    "decimal": [decimal(places=0), decimal(places=2, minimum=0, maximum="9.99"), decimal(places=34)],
    "binary": [binary(), binary(size=3), binary(size=(40, 50))],
    "url": [url()],
    "uuid": [uuid(), array(uuid())],
}


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Stay(Schema):
    name = mm.String(required=True, validate=validate.Length(1, 5))
    nights = mm.Integer(data_key="number-of-nights", load_default=1)
    tags = mm.List(mm.String())


class Loud(mm.Field[str]):
    """A field of the user's own, of which nothing is known."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str) or value != value.upper():
            raise ValidationError("Must be loud.")
        return value


def _even(value: int) -> bool:
    if value % 2:
        raise ValidationError("Must be even.")
    return True


#: Fields of marshmallow's own, and what they are for.
OWN_FIELDS: dict[str, Any] = {
    "string": mm.String(required=True),
    "pattern": mm.String(validate=validate.Regexp("[a-z]{2}")),
    "choice": mm.String(validate=validate.OneOf(["a", "b"])),
    "integer": mm.Integer(validate=validate.Range(1, 9)),
    "float": mm.Float(),
    "boolean": mm.Boolean(),
    "uuid": mm.UUID(),
    "url": mm.Url(),
    "email": mm.Email(),
    "date": mm.Date(),
    "datetime": mm.DateTime(),
    "time": mm.Time(),
    "list": mm.List(mm.Integer(), validate=validate.Length(1, 2)),
    "tuple": mm.Tuple((mm.String(), mm.Integer())),
    "dict": mm.Dict(),
    "nested": mm.Nested(Stay),
    "many": mm.Nested(Stay, many=True),
    "enum": mm.Enum(Colour),
    "constant": mm.Constant("x"),
    "raw": mm.Raw(),
    "even": mm.Integer(validate=_even),
    "nullable": mm.String(allow_none=True),
    "loud": Loud(),
    "schema": Stay,
}


def _stars(details: dict[str, Any]) -> None:
    if not isinstance(details["set"].get("stars", 1), int):
        raise ValueError("stars must be an integer")


def make_zoo() -> Gateway:
    """Return the gateway: acts of `beast` named after the kinds, the own fields and the rest, in both modes."""
    gw = gateway()
    gw.schemas.add("keeper", {"name": string(), "badge": string()}, {}, {"excludes": ["badge"]})
    gw.schemas.add(
        "beast",
        {"name": string(), "any": optional(any_()), "secret": optional(string())},
        {"keepers": {"schemaName": "keeper", "type": "multiple", "relatedRelations": {"beasts": {"type": "multiple"}}}},
        {"excludes": ["secret"]},
    )
    kinds = {f"{name}{n}": field for name, fields in KIND_FIELDS.items() for n, field in enumerate(fields)}
    validators: dict[str, Any] = {
        **{
            name: {"set": {f"x{n}": field for n, field in enumerate(row)}, "get": {}}
            for name, row in KIND_FIELDS.items()
        },
        "kinds": {"set": optional_all(kinds), "get": gw.schemas.select_struct("beast", 1)},
        "own": {"set": optional_all(OWN_FIELDS), "get": {}},
        "shallow": {"set": {}, "get": gw.schemas.select_struct("beast", 0)},
        "deep": {"set": {}, "get": gw.schemas.select_struct("beast", 3)},
        "narrow": {"set": {}, "get": gw.schemas.select_struct("beast", {"name": 1, "keepers": {"name": 1}})},
        "schema": Schema.from_dict({"set": mm.Nested(Stay, required=True), "get": mm.Dict(required=True)}),
        "function": _stars,
    }
    for name, validator in validators.items():
        for mode in ("assert", "create"):
            gw.acts.set_act(
                schema="beast",
                act_name=f"{name}_{mode}",
                validator=validator,
                fn=lambda body: body["details"],
                validation_run_type=mode,
            )
    return gw


def optional_all(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: optional(field) for name, field in fields.items()}

"""The names that the package offers: gatewayfw.schemas."""

from __future__ import annotations

from inspect import ismodule

from gatewayfw import schemas

KINDS = (
    "any_ array binary boolean date decimal defaulted described email enums file integer mapping nullable number"
    " object_ object_id optional string url uuid"
)


def test_what_is_offered_is_there():
    shapes = "IndexOptionsShape IndexShape OptionsShape RelationShape ReverseShape SortShape"
    offered = (
        f"{shapes} IndexSpec ModelSchema Options RelatedRelation Relation Schemas Sort Struct compile_struct {KINDS}"
    )
    found = [name for name, value in vars(schemas).items() if not (name.startswith("_") or ismodule(value))]
    assert sorted(found) == sorted(["Mode", *offered.split()])
    assert [getattr(schemas, name).__name__ for name in offered.split()] == offered.split()

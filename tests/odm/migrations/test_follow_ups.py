"""What is to be done besides the run of a migration."""

from __future__ import annotations

import re

import pytest

from gatewayfw.odm import Odm
from gatewayfw.odm.migrations.plans import find_follow_ups
from gatewayfw.odm.upkeep.indexes import create_missing
from gatewayfw.schemas import Schemas, optional, string
from gatewayfw.settings import Settings

BUILD = "before the roll-out: flask gateway indexes --create, for"
LATER = "when no old process runs:"


@pytest.fixture
def deploy(database):
    """A function that gives shops, and items that are listed in their shop in the order of a field."""

    def define(field, shop="name", type="single", **options):
        odm = Odm(Schemas(Settings()), Settings(fan_out_thread=False))
        odm.set_db(database)
        odm.new_model("shop", {shop: string()})
        items = {"type": "multiple", "sort": {"field": field, "order": "asc"}, "default": True}
        relation = {"schemaName": "shop", "type": type, "relatedRelations": {"items": items}}
        indexes = [{"indexSpec": {"in._id": 1, f"in.{shop}": 1}}, {"indexSpec": {field: 1}, "options": options}]
        fields = {name: optional(string()) for name in (field, "code")}
        odm.new_model("item", fields, {"in": relation}, {"createIndex": indexes})
        return odm

    return define


@pytest.fixture
def follow_ups():
    """A function that gives what follows from one migration of a gateway's model."""

    def find(odm, model, **keys):
        odm.migration("m", model, **keys)
        (migration,) = odm.migrations.chosen()
        return list(find_follow_ups(odm.schemas, odm.storage, migration))

    return find


def test_a_renamed_sort_has_indexes_to_build_and_to_drop_and_a_window_to_repair(deploy, follow_ups):
    deploy("title").ready()
    new = deploy("label")
    found = follow_ups(new, "item", rename={"title": "label"})
    window = f"{LATER} flask gateway repair, since shop.items is sorted by label"
    build = f"{BUILD} item: label, _id; item: in._id, _gw.out.in.items, label, _id"
    drop = [f'{LATER} db.item.dropIndex("title_1__id_1")']
    drop += [f'{LATER} db.item.dropIndex("in._id_1__gw.out.in.items_1_title_1__id_1")']
    assert found == [build, *drop, window]


CHANGES = [
    ({"field": "label"}, "item", {"rename": {"title": "label"}}),
    ({"field": "title", "shop": "sign"}, "shop", {"rename": {"name": "sign"}}),
    ({"field": "title", "type": "multiple"}, "item", {"relation": "in"}),
]


@pytest.mark.parametrize(("definition", "model", "migration"), CHANGES)
def test_who_does_what_is_said_has_the_indexes_of_the_definition(
    deploy, follow_ups, database, definition, model, migration
):
    deploy("title").ready()
    new = deploy(**definition)
    for name in re.findall(r'dropIndex\("(.*)"\)', "\n".join(follow_ups(new, model, **migration))):
        database.item.drop_index(name)
    rows = create_missing(new.schemas, new.storage)
    assert {row.state for row in rows} == {"present"}
    again = find_follow_ups(new.schemas, new.storage, *new.migrations.chosen())
    assert [one for one in again if "repair" not in one] == []


def test_an_index_over_copies_follows_its_source(deploy, follow_ups):
    deploy("title").ready()
    new = deploy("title", shop="sign")
    found = follow_ups(new, "shop", rename={"name": "sign"})
    assert found == [f"{BUILD} item: in._id, in.sign", f'{LATER} db.item.dropIndex("in._id_1_in.name_1")']


def test_a_unique_index_is_built_when_nothing_is_left(deploy, follow_ups):
    deploy("title").ready()
    found = follow_ups(deploy("code", unique=True), "item", rename={"title": "code"})
    assert "when nothing is left, by itself: the unique index of item: code" in found


def test_another_form_of_a_relation_leaves_the_index_of_its_notes_behind(deploy, follow_ups):
    deploy("title").ready()
    build = f"{BUILD} item: in._id, _gw.some.in.items, title, _id; item: _gw.in.in.items, title, _id"
    drop = f'{LATER} db.item.dropIndex("in._id_1__gw.out.in.items_1_title_1__id_1")'
    assert follow_ups(deploy("title", type="multiple"), "item", relation="in") == [build, drop]


def test_a_dropped_field_leaves_its_indexes_behind(deploy, follow_ups):
    deploy("title").ready()
    new = deploy("code")
    found = follow_ups(new, "item", drop=["title"])
    assert len(found) == 2
    assert all(one.startswith(f"{LATER} db.item.dropIndex(") for one in found)

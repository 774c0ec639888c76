"""A value means the same in both its forms, wherever it is given, and when it comes back."""

from __future__ import annotations

import json
from copy import deepcopy
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import DefinitionError, ValidationError
from gatewayfw.messages import NOT_KEPT
from gatewayfw.odm import Odm, Operators
from gatewayfw.schemas import Schemas, compile_struct
from gatewayfw.schemas.kinds import as_kind
from gatewayfw.settings import Settings
from gatewayfw.web.reply import success
from tests.examples import examples
from tests.meaning import DOUBTFUL, LEAVES, meanings
from tests.models import read_stored


class Meanings:
    """Two models of a field on an empty database: things, and holders that embed a thing and are listed in it."""

    def __init__(self, database, field):
        self.odm = Odm(Schemas(Settings()), Settings())
        self.odm.set_db(database)
        self.thing = self.odm.new_model("thing", {"v": field})
        sort = "v" if as_kind(self.thing.schema.pure["v"]).sorts else "_id"
        window = {"type": "multiple", "limit": 5, "sort": {"field": sort, "order": "asc"}}
        relation = {"schemaName": "thing", "type": "single", "relatedRelations": {"holders": window}}
        self.holder = self.odm.new_model("holder", {"v": field}, {"of": relation})
        self.listing = self.list_things()
        for name in ("thing", "holder"):
            self.odm.storage.delete_many(name, {})

    def list_things(self):
        """Declare a listing that is filtered by the field; None where clients cannot give its values."""
        listing = self.thing.listing(filter={"v": ["eq", "in"]})
        try:
            listing.page({"set": {}, "get": {"_id": 1}})
        except DefinitionError:
            return None
        return listing

    def add(self, form):
        """Insert a thing; return its id."""
        return self.thing.insert_one(doc={"v": form})["_id"]

    def stored(self, id_):
        """Return what the database holds of the field of a thing."""
        return typed(read_stored(self.odm, self.thing, {"_id": id_})["v"])

    def embedded(self, id_, forms):
        """Insert a holder of a thing with each form; return what is stored of each: field, copy, listing."""
        relation = {"of": {"_ids": id_, "relatedRelations": {"holders": True}}}
        added = self.holder.insert_many(docs=[{"v": form} for form in forms.values()], relations=relation)
        ids = {one["_id"]: name for one, name in zip(added, forms, strict=True)}
        holders = {name: read_stored(self.odm, self.holder, {"_id": one}) for one, name in ids.items()}
        window = read_stored(self.odm, self.thing, {"_id": id_})["holders"]
        return {
            "field": {name: typed(holder["v"]) for name, holder in holders.items()},
            "copy": {name: typed(holder["of"]["v"]) for name, holder in holders.items()},
            "window": {ids[one["_id"]]: typed(one["v"]) for one in window},
        }

    def found(self, condition):
        """Return the ids of the things that meet a condition on the field."""
        return [one["_id"] for one in self.thing.find({"v": condition}, projection={"_id": 1})]

    def listed(self, condition):
        """Return the ids in a page of the things that meet a client's condition."""
        struct = compile_struct({"set": self.listing.set, "get": {}}, self.odm.schemas)
        details = struct.check({"set": {"filter": {"v": condition}, "limit": 100}, "get": {}}, "create")
        return [row["_id"] for row in self.listing.page({**details, "get": {"_id": 1}})["rows"]]


def typed(value):
    """Return a value with the type of each part, so that 1 is not 1.0."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value).__name__, repr(value))


def distinct(forms):
    """Return the forms without those that equal an earlier one in the type of each part, too."""
    kept = {repr(typed(form)): name for name, form in reversed(forms.items())}
    return {name: form for name, form in forms.items() if name in kept.values()}


def keeps(sent, shown):
    """Whether what is shown has each name and each place of what was sent."""
    if isinstance(sent, dict):
        return all(key in shown and keeps(part, shown[key]) for key, part in sent.items())
    return not isinstance(sent, list) or len(sent) == len(shown) and all(map(keeps, sent, shown))


def spoil(loaded):
    """Change a loaded value in place wherever it can be."""
    inner = vars(loaded) if isinstance(loaded, SimpleNamespace) else loaded
    for part in inner.values() if isinstance(inner, dict) else inner if isinstance(inner, (list, tuple)) else ():
        spoil(part)
    if isinstance(inner, dict):
        inner["spoilt"] = True
    elif isinstance(inner, list):
        inner.append("spoilt")


def judge(database, field, sent, python):
    """Give a value in all its forms to all operations."""
    world = Meanings(database, field)
    made = world.add(sent)
    stored = world.stored(made)
    found = world.thing.find_one({"_id": made}, projection={"v": 1})["v"]
    shown = json.loads(success(found))["body"]
    assert keeps(sent, shown)
    struct = compile_struct({"set": {"v": field}, "get": {}}, world.odm.schemas)
    kept = repr(sent)
    spoil(struct.check({"set": {"v": deepcopy(sent)}, "get": {}}, "create")["set"]["v"])
    loaded = struct.check({"set": {"v": deepcopy(sent)}, "get": {}}, "create")["set"]["v"]
    assert repr(struct.check({"set": {"v": sent}, "get": {}}, "assert")["set"]["v"]) == kept
    forms = distinct({"sent": sent, "python": python, "loaded": loaded, "found": found, "shown": shown})
    for name, form in forms.items():
        world.thing.find_one_and_update({"_id": made}, {"$set": {"v": form}})
        assert world.stored(made) == stored, name
        assert made in world.found(Operators({"$eq": form})), name
        assert made in world.found(Operators({"$in": [form]})), name
    same = dict.fromkeys(forms, stored)
    assert world.embedded(made, forms) == {"field": same, "copy": same, "window": same}
    if world.listing and not isinstance(sent, list):  # of a list, a listing compares the elements
        assert made in world.listed({"eq": shown})
        assert made in world.listed({"in": [sent, shown]})


@pytest.mark.parametrize("name", LEAVES)
@examples(5)
@given(data=st.data())
def test_a_value_of_a_field_without_parts_means_one_thing(database, name, data):
    made = LEAVES[name]()
    judge(database, made.field, *data.draw(made.forms))


@pytest.mark.parametrize("name", DOUBTFUL)
@examples(5)
@given(data=st.data())
def test_what_would_become_another_value_is_refused(database, name, data):
    made = DOUBTFUL[name]()
    sent, python = data.draw(made.forms)
    refused = NOT_KEPT
    try:
        judge(database, made.field, sent, python)
    except DefinitionError:
        return
    except ValidationError as refusal:
        refused = str(refusal.errors)
    assert NOT_KEPT in refused


@examples(100)
@given(data=st.data())
def test_a_value_of_a_nested_field_means_one_thing(database, data):
    made = data.draw(meanings())
    judge(database, made.field, *data.draw(made.forms))

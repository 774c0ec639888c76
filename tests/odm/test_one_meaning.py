"""A value means the same in both its forms, wherever it is given, and when it comes back."""

from __future__ import annotations

import json
from copy import deepcopy
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from marshmallow import fields as mm

from gatewayfw.errors import DefinitionError, ValidationError
from gatewayfw.messages import NO_PART, NO_PLACE, NOT_KEPT
from gatewayfw.odm import Odm, Operators
from gatewayfw.schemas import Schemas, array, compile_struct, mapping
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
        self.struct = compile_struct({"set": {"v": field}, "get": {}}, self.odm.schemas)
        self.asked = self.listing and compile_struct({"set": self.listing.set, "get": {}}, self.odm.schemas)
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

    def add(self, forms):
        """Insert a thing with each form; return their ids."""
        return [one["_id"] for one in self.thing.insert_many(docs=[{"v": form} for form in forms])]

    def stored(self, id_):
        """Return what the database holds of the field of a thing."""
        return typed(read_stored(self.odm, self.thing, {"_id": id_})["v"])

    def embedded(self, forms):
        """Insert a holder with each form of each thing, by id; return what is stored: field, copy, window."""
        places = [(id_, name) for id_, named in forms.items() for name in named]
        relations = [{"of": {"_ids": id_, "relatedRelations": {"holders": True}}} for id_, _ in places]
        docs = [{"v": forms[id_][name]} for id_, name in places]
        added = self.holder.insert_many(docs=docs, relations=relations)
        ids = {one["_id"]: place for one, place in zip(added, places, strict=True)}
        holders = {ids[one["_id"]]: one for one in self.odm.storage.find("holder", {})}
        windows = [one for thing in self.odm.storage.find("thing", {}) for one in thing["holders"]]
        return {
            "field": {place: typed(holder["v"]) for place, holder in holders.items()},
            "copy": {place: typed(holder["of"]["v"]) for place, holder in holders.items()},
            "window": {ids[one["_id"]]: typed(one["v"]) for one in windows},
        }

    def found(self, condition):
        """Return the ids of the things that meet a condition on the field."""
        return [one["_id"] for one in self.thing.find({"v": condition}, projection={"_id": 1})]

    def listed(self, condition):
        """Return the ids in a page of the things that meet a client's condition."""
        details = self.asked.check({"set": {"filter": {"v": condition}, "limit": 100}, "get": {}}, "create")
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


def parts_of(value, path=()):
    """Yield the path and the value of each part of a value with the names of JSON."""
    for key, part in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*path, str(key)), part
        yield from parts_of(part, (*path, str(key)))


def spoil(loaded):
    """Change a loaded value in place wherever it can be."""
    inner = vars(loaded) if isinstance(loaded, SimpleNamespace) else loaded
    for part in inner.values() if isinstance(inner, dict) else inner if isinstance(inner, (list, tuple)) else ():
        spoil(part)
    if isinstance(inner, dict):
        inner["spoilt"] = True
    elif isinstance(inner, list):
        inner.append("spoilt")


def judge(database, field, pairs):
    """Give values in all their forms to all operations."""
    world = Meanings(database, field)
    ids = world.add([sent for sent, _ in pairs])
    stored = {made: world.stored(made) for made in ids}
    forms = {made: judge_one(world, made, *pair, stored[made]) for made, pair in zip(ids, pairs, strict=True)}
    same = {(made, name): stored[made] for made, named in forms.items() for name in named}
    assert world.embedded(forms) == {"field": same, "copy": same, "window": same}


def judge_one(world, made, sent, python, stored):
    """Load and set all forms of a value, and look for it by each; return them by name."""
    found = world.thing.find_one({"_id": made}, projection={"v": 1})["v"]
    shown = json.loads(success(found))["body"]
    assert keeps(sent, shown)
    struct, kept = world.struct, repr(sent)
    spoil(struct.check({"set": {"v": deepcopy(sent)}, "get": {}}, "create")["set"]["v"])
    loaded = struct.check({"set": {"v": deepcopy(sent)}, "get": {}}, "create")["set"]["v"]
    assert repr(struct.check({"set": {"v": sent}, "get": {}}, "assert")["set"]["v"]) == kept
    forms = distinct({"sent": sent, "python": python, "loaded": loaded, "found": found, "shown": shown})
    for name, form in forms.items():
        world.thing.find_one_and_update({"_id": made}, {"$set": {"v": form}})
        assert world.stored(made) == stored, name
        assert made in world.found(Operators({"$eq": form, "$in": [form]})), name
    for form in distinct({"sent": sent, "found": found, "shown": shown}).values():
        judge_parts(world, made, form, stored)
        if isinstance(form, list) and as_kind(world.thing.schema.pure["v"]).elements is not None:
            world.thing.find_one_and_update({"_id": made}, {"$set": {"v": []}})
            world.thing.find_one_and_update({"_id": made}, {"$push": {"v": Operators({"$each": form})}})
            assert world.stored(made) == stored
    if world.listing and not isinstance(sent, list):  # of a list, a listing compares the elements
        assert made in world.listed({"eq": shown})
        assert made in world.listed({"in": [sent, shown]})
    return forms


def judge_parts(world, made, form, stored):
    """Look for a thing by each part of a form of its value, and set the part where that can be."""
    for path, part in parts_of(form):
        place = ("v", *path)
        assert made in [one["_id"] for one in world.thing.find({place: Operators({"$eq": part, "$in": [part]})})], place
        refused = [[NO_PART]]
        try:
            world.thing.find_one_and_update({"_id": made}, {"$set": {place: part}})
        except ValidationError as refusal:
            refused = [*refusal.errors.values()]
        assert refused in ([[NO_PART]], [[NO_PLACE]]), place
        assert world.stored(made) == stored, place


def values_of(made):
    """Return some values of a field, which share its models."""
    return st.lists(made.forms, min_size=1, max_size=4)


@pytest.mark.parametrize("name", LEAVES)
@examples(5)
@given(data=st.data())
def test_a_value_of_a_field_without_parts_means_one_thing(database, name, data):
    made = LEAVES[name]()
    judge(database, made.field, data.draw(values_of(made)))


@pytest.mark.parametrize("name", DOUBTFUL)
@examples(5)
@given(data=st.data())
def test_what_would_become_another_value_is_refused(database, name, data):
    made = DOUBTFUL[name]()
    sent, python = data.draw(made.forms)
    refused = NOT_KEPT
    try:
        judge(database, made.field, [(sent, python)])
    except DefinitionError:
        return
    except ValidationError as refusal:
        refused = str(refusal.errors)
    assert NOT_KEPT in refused


@examples(100)
@given(data=st.data())
def test_a_value_of_a_nested_field_means_one_thing(database, data):
    made = data.draw(meanings())
    judge(database, made.field, data.draw(values_of(made)))


def test_a_part_beside_a_number_that_is_stored_as_a_long_is_set(database):
    judge(database, mapping(array(mm.Raw())), [({"a": [2**40]}, {"a": [2**40]})])

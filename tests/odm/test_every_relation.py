"""Every operation on every kind of relation; the fixture `world` checks all copies afterwards."""

from __future__ import annotations

import pytest

from gatewayfw.errors import Conflict, NotFound, StillReferenced
from gatewayfw.odm.copies.rules import copy_of, ids_in

#: (model, relation): what is special about it.
RELATIONS = [
    pytest.param("city", "country", id="single, required, three reverses"),
    pytest.param("person", "home", id="single, one-way"),
    pytest.param("person", "born", id="single, reverse without limit"),
    pytest.param("person", "visited", id="multiple, second relation to one model"),
    pytest.param("person", "friends", id="multiple, to itself"),
    pytest.param("person", "boss", id="single, to itself, single reverse"),
    pytest.param("person", "clubs", id="multiple, many-to-many, two reverses"),
    pytest.param("club", "places", id="multiple, required"),
]


class Case:
    """One relation, two documents it may embed, and a way to make holders."""

    def __init__(self, world, model, name):
        self.world = world
        self.model = getattr(world, model)
        self.relation = self.model.schema.relations[name]
        self.source_model = getattr(world, self.relation.schema_name)
        self.first, self.second = (self.make_source(f"source {number}") for number in (1, 2))

    def make_source(self, name):
        relations = self.source_model.schema.relations
        if "country" in relations:
            return self.world.add_city(name, self.world.add_country(f"land of {name}"), flags=())
        if "places" in relations:
            place = self.world.add_city(name, self.world.add_country(f"land of {name}"), flags=())
            return self.source_model.insert_one(doc={"name": name}, relations={"places": {"_ids": [place]}})["_id"]
        return self.source_model.insert_one(doc={"name": name})["_id"]

    def input(self, *ids, flag=None):
        """Relation input for some ids, all flags the same, or left out."""
        flags = {} if flag is None else dict.fromkeys(self.relation.related_relations, flag)
        given = list(ids) if self.relation.type == "multiple" else ids[0]
        return {self.relation.name: {"_ids": given, "relatedRelations": flags}}

    def make_holder(self, *ids, flag=True):
        return self.model.insert_one(doc={"name": "holder"}, relations=self.input(*ids, flag=flag))["_id"]

    def held(self, holder):
        """The ids the holder embeds."""
        stored = self.world.raw(self.model, holder)
        return ids_in(stored.get(self.relation.name))

    def copies_in(self, holder):
        value = self.world.raw(self.model, holder).get(self.relation.name)
        return value if isinstance(value, list) else [value] if value else []

    def copy(self, source):
        fields = self.source_model.schema.copy_fields(self.relation.excludes)
        return copy_of(self.world.raw(self.source_model, source), fields)

    def listed(self, source):
        """The reverse relations of a source that list anybody, with the names listed."""
        stored = self.world.raw(self.source_model, source)
        found = {name: stored.get(name) for name in self.relation.related_relations}
        return {
            name: [one["name"] for one in (value if isinstance(value, list) else [value])]
            for name, value in found.items()
            if value
        }

    def everywhere(self, *names):
        """What `listed` gives when every reverse lists exactly these."""
        return dict.fromkeys(self.relation.related_relations, list(names)) if names else {}


@pytest.fixture
def case(world, request):
    return Case(world, *request.param)


def over_relations(test):
    return pytest.mark.parametrize("case", [pytest.param(p.values, id=p.id) for p in RELATIONS], indirect=True)(test)


@over_relations
def test_insert_embeds_the_source_and_is_listed_by_it(case):
    holder = case.make_holder(case.first)
    assert case.copies_in(holder) == [case.copy(case.first)]
    assert case.listed(case.first) == case.everywhere("holder")


@over_relations
@pytest.mark.parametrize("flag", [False, None], ids=["false", "omitted"])
def test_insert_without_flag_embeds_but_is_not_listed(case, flag):
    holder = case.make_holder(case.first, flag=flag)
    assert case.copies_in(holder) == [case.copy(case.first)]
    assert case.listed(case.first) == {}


@over_relations
def test_insert_of_a_missing_source_changes_nothing(case):
    missing = "0" * 24
    before = case.world.digest()
    with pytest.raises(NotFound) as raised:
        case.make_holder(missing)
    assert raised.value.message == f"{case.source_model.name} not found: {missing}"
    assert case.world.digest() == before


@over_relations
def test_insert_many_embeds_in_all_and_lists_all(case):
    case.model.insert_many(docs=[{"name": "x"}, {"name": "y"}], relations=case.input(case.first, flag=True))
    for name, names in case.listed(case.first).items():
        single = case.relation.related_relations[name].type == "single"
        assert sorted(names) == (["y"] if single else ["x", "y"])


@over_relations
def test_update_of_the_source_reaches_the_copy(case):
    holder = case.make_holder(case.first)
    case.source_model.find_one_and_update(filter={"_id": case.first}, update={"$set": {"name": "renamed"}})
    assert [copy["name"] for copy in case.copies_in(holder)] == ["renamed"]


@over_relations
def test_update_of_the_holder_reaches_the_reverses(case):
    holder = case.make_holder(case.first)
    case.model.find_one_and_update(filter={"_id": holder}, update={"$set": {"name": "renamed"}})
    assert case.listed(case.first) == case.everywhere("renamed")


@over_relations
def test_delete_of_the_holder_leaves_the_reverses(case):
    result = case.model.delete_one(filter={"_id": case.make_holder(case.first)})
    assert result == {"deletedCount": 1, "cascaded": {}}
    assert case.listed(case.first) == {}


@over_relations
def test_delete_of_an_embedded_source_is_refused(case):
    case.make_holder(case.first)
    before = case.world.digest()
    with pytest.raises(StillReferenced) as raised:
        case.source_model.delete_one(filter={"_id": case.first})
    assert raised.value.message == f"{case.source_model.name} is still referenced ({case.model.name}: 1)"
    assert case.world.digest() == before


@over_relations
def test_cascade_deletes_holders_that_require_the_source(case):
    holder = case.make_holder(case.first)
    result = case.source_model.delete_one(filter={"_id": case.first}, hard_cascade=True)
    if case.relation.optional:
        assert result == {"deletedCount": 1, "cascaded": {}}
        assert case.world.raw(case.model, holder) == {
            "_id": holder,
            **_defaults(case),
            "name": "holder",
            "_gw": {"r": 1},
        }
    else:
        assert result == {"deletedCount": 1, "cascaded": {case.model.name: 1}}
        assert case.world.raw(case.model, holder) is None


def _defaults(case):
    return {"active": True} if case.model.name == "person" else {}


@over_relations
def test_add_to_a_present_single_is_refused_without_replace(case):
    if case.relation.type == "multiple":
        holder = case.make_holder(case.first, flag=False)
        case.model.add_relation(filters={"_id": holder}, relations=case.input(case.second, flag=True))
        assert case.held(holder) == [case.first, case.second]
        assert case.listed(case.first) == {}
        assert case.listed(case.second) == case.everywhere("holder")
    else:
        holder = case.make_holder(case.first)
        before = case.world.digest()
        with pytest.raises(Conflict) as raised:
            case.model.add_relation(filters={"_id": holder}, relations=case.input(case.second))
        assert raised.value.message == f"{case.model.name} already has {case.relation.name}"
        assert case.world.digest() == before


@over_relations
def test_replace_leaves_the_old_source_and_enters_the_new(case):
    holder = case.make_holder(case.first)
    relations = case.input(case.second, flag=True)
    case.model.add_relation(filters={"_id": holder}, relations=relations, replace=True)
    assert case.copies_in(holder) == [case.copy(case.second)]
    assert case.listed(case.first) == {}
    assert case.listed(case.second) == case.everywhere("holder")


@over_relations
@pytest.mark.parametrize("flag", [True, False, None], ids=["true", "false", "omitted"])
def test_flag_on_an_id_that_stays_begins_ends_or_keeps_its_membership(case, flag):
    holder = case.make_holder(case.first, flag=flag is not True)
    relations = case.input(case.first, flag=flag)
    case.model.add_relation(filters={"_id": holder}, relations=relations, replace=True)
    assert case.listed(case.first) == ({} if flag is False else case.everywhere("holder"))


@over_relations
def test_remove_ends_relation_and_membership(case):
    holder = case.make_holder(case.first)
    before = case.world.digest()
    if case.relation.optional:
        case.model.remove_relation(filters={"_id": holder}, relations=case.input(case.first, flag=True))
        assert case.world.raw(case.model, holder) == {
            "_id": holder,
            **_defaults(case),
            "name": "holder",
            "_gw": {"r": 1},
        }
        assert case.listed(case.first) == {}
    else:
        with pytest.raises(Conflict) as raised:
            case.model.remove_relation(filters={"_id": holder}, relations=case.input(case.first))
        assert raised.value.message == f"{case.relation.name} is required"
        assert case.world.digest() == before


@over_relations
def test_remove_of_an_unrelated_id_changes_nothing(case):
    holder = case.make_holder(case.first)
    before = case.world.digest()
    with pytest.raises(NotFound) as raised:
        case.model.remove_relation(filters={"_id": holder}, relations=case.input(case.second))
    assert raised.value.message == f"{case.relation.name} not found: {case.second}"
    assert case.world.digest() == before

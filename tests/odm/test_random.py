"""Random sequences of all operations keep the promise; a failed one changes nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.errors import Conflict, DuplicateKey, NotFound, Stale, StillReferenced, ValidationError
from tests.examples import examples
from tests.odm.frozen_copies import Exact
from tests.odm.random_operations import Operations
from tests.odm.world import MODELS

EXPECTED = (Conflict, DuplicateKey, NotFound, Stale, StillReferenced, ValidationError)
KINDS = ["insert", "insert", "insert_many", "update", "update", "unset", "delete", "cascade"]
KINDS += ["operate", "operate", "add", "replace", "remove", "transaction", "update_many", "delete_many"]
KINDS += ["revise", "upsert"]

#: One step: a kind, a model, and numbers that choose documents, flags and values.
STEPS = st.tuples(
    st.sampled_from(KINDS), st.sampled_from(MODELS), st.lists(st.integers(0, 11), min_size=12, max_size=12)
)


class Player(Operations):
    """Plays steps on a world; a step's numbers always choose something that exists, if anything does."""

    def __init__(self, world):
        self.world = world
        self.frozen = Exact(world.odm.schemas, world.storage)

    def _note(self, model, document, relations=(), replace=False):
        if document is not None and relations:
            self.frozen.related(model.schema, document["_id"], relations, replace)

    def play(self, step):
        kind, name, numbers = step
        self._numbers = iter(numbers * 20)
        model = getattr(self.world, name)
        getattr(self, f"_{kind}")(model)

    def _next(self):
        return next(self._numbers)

    def _ids(self, model, most=1):
        ids = sorted(one["_id"] for one in self.world.storage.find(model.name, {}, ()))
        start = self._next()
        return list(dict.fromkeys(ids[(start + step) % len(ids)] for step in range(most))) if ids else []

    def _doc(self, model):
        doc = {"name": f"{self._next()}{self._next()}"}
        for name in ("population", "age"):
            if name in model.schema.pure and (value := self._next()) < 8:
                doc[name] = value % 3
        return doc

    def _relation(self, relation):
        multiple = relation.type == "multiple"
        ids = self._ids(getattr(self.world, relation.schema_name), most=1 + self._next() % 3 if multiple else 1)
        flags = {name: self._next() < 8 for name in relation.related_relations if self._next() < 9}
        return {"_ids": ids if multiple else (ids or ["0" * 24])[0], "relatedRelations": flags}

    def _relations(self, model):
        return {
            name: self._relation(relation)
            for name, relation in model.schema.relations.items()
            if not relation.optional or self._next() < 6
        }

    def _one(self, model):
        return {"_id": (self._ids(model) or ["0" * 24])[0]}

    def _many(self, model):
        return {"_id": {"$in": self._ids(model, most=self._next() % 4)}}

    def _delete_many(self, model):
        before, wanted = model.count(), self._many(model)
        cascade, transaction = self._next() % 4 == 0, self.world.odm.transaction
        run = transaction if self._next() % 2 else lambda work: work()
        try:
            result = run(lambda: model.delete_many(wanted, hard_cascade=cascade))
            gone = result["deletedCount"] + result["cascaded"].get(model.name, 0)
        except StillReferenced as error:
            gone = error.done
        assert model.count() == before - gone

    def _revise(self, model):
        """Update what was just read, or another revision of it."""
        wanted, other = self._one(model), self._next() % 4 == 0
        found = model.find_one(wanted, projection={"_rev": 1})
        model.find_one_and_update(wanted, {"$set": self._doc(model)}, rev=(found or {"_rev": 0})["_rev"] + other)
        assert not (found and other)

    def _upsert(self, model):
        """Update or insert a document whose model requires no relation."""
        if all(relation.optional for relation in model.schema.relations.values()):
            wanted = {"_id": f"{self._next():024x}"}
            shown = model.find_one_and_update(wanted, {"$set": self._doc(model)}, upsert=True, projection={})
            assert {name: str(value) for name, value in shown.items()} == wanted

    def _delete(self, model):
        model.delete_one(filter=self._one(model))

    def _cascade(self, model):
        model.delete_one(filter=self._one(model), hard_cascade=True)

    def _operate(self, model):
        model.find_one_and_update(filter=self._one(model), update=self._operators(model))

    def _operators(self, model):
        """Choose operators that keep a number, a date or a list in order, or are refused for it."""
        pure, update = model.schema.pure, {}
        for name in ("population", "age"):
            if name in pure:
                operator = ("$inc", "$mul", "$min", "$max")[self._next() % 4]
                update.setdefault(operator, {})[name] = self._next() % 4 - 1
        if "born_on" in pure:
            operator = ("$min", "$max", "$currentDate")[self._next() % 3]
            moment = operator == "$currentDate" or f"200{self._next() % 10}-01-01"
            update.setdefault(operator, {})["born_on"] = moment
        if "tags" in pure:
            pushed = {"$each": ["a", "c"], "$position": 0, "$sort": 1, "$slice": -3}
            choices = (("$push", "a"), ("$addToSet", "b"), ("$pop", 1), ("$pop", -1), ("$push", pushed))
            operator, value = choices[self._next() % len(choices)]
            update[operator] = {"tags": value}
        return update or {"$set": {"name": f"{self._next()}"}}

    def _some(self, model):
        relations = list(model.schema.relations.values())
        return relations[self._next() % len(relations)] if relations else None

    def _remove(self, model):
        relation = self._some(model)
        if relation is not None:
            links = {relation.name: self._relation(relation)}
            model.remove_relation(filters=self._one(model), relations=links)

    def _transaction(self, model):
        def several():
            self._insert(model)
            self._update(model)
            if self._next() < 4:
                self._delete(model)
            if self._next() < 4:
                self._update_many(model)

        self.world.odm.transaction(several)


@pytest.mark.slow
@examples(40)
@given(steps=st.lists(STEPS, min_size=5, max_size=25))
def test_every_copy_and_window_equals_its_source(world, steps):
    for name in MODELS:
        world.storage.delete_many(name, {})
    player = Player(world)
    for number in range(4):
        world.add_country(f"land {number}", population=number)
    first = [("city", 5), ("person", 7), ("club", 3), ("trip", 3)]
    for step in [*(("insert", name, [number] * 12) for name, number in first), *steps]:
        before = world.digest()
        try:
            player.play(step)
        except EXPECTED:
            assert world.digest() == before
        assert world.problems() == []
        assert player.frozen.problems() == []

"""What all players of random operations do alike; how they choose is theirs."""

from __future__ import annotations


class Operations:
    """The operations on a model of a world, given what `_one`, `_many`, `_doc`, `_relation` and so on choose."""

    def _insert(self, model):
        model.insert_one(doc=self._doc(model), relations=self._relations(model))

    def _insert_many(self, model):
        model.insert_many(docs=[self._doc(model), self._doc(model)], relations=self._relations(model))

    def _update(self, model):
        model.find_one_and_update(filter=self._one(model), update={"$set": self._doc(model)})

    def _unset(self, model):
        field = next(name for name in ("population", "age", "name") if name in model.schema.pure)
        model.find_one_and_update(filter=self._one(model), update={"$unset": {field: ""}})

    def _update_many(self, model):
        model.update_many(self._many(model), {"$set": self._doc(model)})

    def _add(self, model, replace=False):
        relation = self._some(model)
        if relation is not None:
            links = {relation.name: self._relation(relation)}
            model.add_relation(filters=self._one(model), relations=links, replace=replace)

    def _replace(self, model):
        self._add(model, replace=True)

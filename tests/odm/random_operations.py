"""What all players of random operations do alike; how they choose is theirs."""

from __future__ import annotations


class Operations:
    """The operations on a model of a world, given what `_one`, `_many`, `_doc`, `_relation` and so on choose.

    `_note` is told what a document became, None where there was none, and with which relation input.
    """

    def _note(self, model, document, relations=(), replace=False):
        """Do nothing, for players that need no notes."""

    def _insert(self, model):
        relations = self._relations(model)
        self._note(model, model.insert_one(doc=self._doc(model), relations=relations), relations)

    def _insert_many(self, model):
        relations = self._relations(model)
        for document in model.insert_many(docs=[self._doc(model), self._doc(model)], relations=relations):
            self._note(model, document, relations)

    def _update(self, model):
        self._note(model, model.find_one_and_update(filter=self._one(model), update={"$set": self._doc(model)}))

    def _unset(self, model):
        field = next(name for name in ("population", "age", "name") if name in model.schema.pure)
        self._note(model, model.find_one_and_update(filter=self._one(model), update={"$unset": {field: ""}}))

    def _update_many(self, model):
        many, doc = self._many(model), self._doc(model)
        for id_ in many["_id"]["$in"]:
            self._note(model, {"_id": id_, **doc})  # a failure may leave some of them changed
        model.update_many(many, {"$set": doc})

    def _add(self, model, replace=False):
        relation = self._some(model)
        if relation is not None:
            links = {relation.name: self._relation(relation)}
            document = model.add_relation(filters=self._one(model), relations=links, replace=replace)
            self._note(model, document, links, replace)

    def _replace(self, model):
        self._add(model, replace=True)

"""Old and new processes on one database, and the judge of what they leave there."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from bson import Binary, Decimal128

from gatewayfw.errors import GatewayError
from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas
from gatewayfw.settings import Settings
from tests.odm.migrations.versions import KINDS, Case, Operation, Step, declared, fields_of, misfit_in, same, steps_of
from tests.odm.oracle import check

#: How items relate to owners, in both versions; the form of ``form`` changes.
FORMS: dict[str, dict[str, Any]] = {
    "by": {"type": "single", "relatedRelations": {"items": {"type": "multiple", "limit": 2, "default": True}}},
    "all": {"type": "multiple", "relatedRelations": {"last": {"type": "single", "default": True}}},
    "then": {"type": "single", "frozen": True},
    "once": {"type": "multiple", "frozen": True},
    "form": {},
}
FROZEN = ("then", "once")
WINDOWS = ("items", "last")
#: What `check` says of a relation in the other form.
REFORM = {("single", 1): "is a list", ("multiple", 1): "is no list", ("single", 2): "holds several documents"}
#: What `check` says of a frozen copy with a name that is not declared, or is excluded.
UNKNOWN = ("has a field that is not declared", "has an excluded field")


class Rollout:
    """Both versions on one database; ``docs``, ``frozen`` and ``forms`` say what must be stored."""

    def __init__(self, db: Any, case: Case) -> None:
        self.db, self.case = db, case
        self.docs: dict[str, dict[Any, dict[str, Any]]] = {"owner": {}, "item": {}}
        self.frozen: dict[tuple[Any, str], dict[Any, dict[str, Any]]] = {}
        self.forms: dict[Any, tuple[str, list[Any]]] = {}
        self.steps = [step for name, slots in case.slots.items() for step in steps_of(name, slots, case.together)]
        self.odms = {"old": self._deploy("old")}

    def deploy(self) -> Odm:
        """Deploy the new version beside the old one, with all migrations."""
        odm = self.odms["new"] = self._deploy("new")
        for step in self.steps:
            step.declare(odm)
        return odm

    def _deploy(self, version: str) -> Odm:
        case = self.case
        odm = Odm(Schemas(Settings()), Settings(inline_limit=case.limit, fan_out_thread=False))
        odm.set_db(self.db)
        indexed = [slot for slot in case.slots["owner"] if slot.index][:1] if version == "new" else []
        options = {"unique": True, "sparse": True} if indexed and indexed[0].index == "unique" else {}
        index = [{"indexSpec": {slot.new: 1}, "options": options} for slot in indexed]
        odm.new_model("owner", fields_of(case.slots["owner"], version), options={"createIndex": index})
        relations = {name: {"schemaName": "owner", "optional": True, **form} for name, form in FORMS.items()}
        relations["form"]["type"] = self.type_of(version)
        for name in ("all", "once"):
            relations[name]["excludes"] = sorted(self._hidden(version, name))
        if slot := case.sorting:
            sort = {"field": slot.old if version == "old" else slot.new, "order": "asc"}
            relations["by"]["relatedRelations"] = {"items": {**FORMS["by"]["relatedRelations"]["items"], "sort": sort}}
        odm.new_model("item", fields_of(case.slots["item"], version), relations)
        return odm

    def type_of(self, version: str) -> str:
        return self.case.types[version == "new"]

    def _hidden(self, version: str, relation: str) -> frozenset[str]:
        slot = self.case.hidden if version == "new" and relation in ("all", "once") else None
        return frozenset() if slot is None else frozenset([slot.new])

    # -- the writers

    def do(self, operation: Operation) -> None:
        """Let a writer do one thing; what is refused must change nothing."""
        what, version, *picks = operation
        if version in self.odms and (what == "add" or self.docs["owner"]):
            with suppress(GatewayError):
                getattr(self, f"_{what}")(version, *picks)
        self.sync()

    def _named(self, model: str, version: str, pick: int) -> tuple[str, Any]:
        """Return a name that a version declares, and a value that it takes."""
        names = sorted(declared(self.case.slots[model], version).items())
        name, (kind, _) = names[pick % len(names)]
        slot = next((one for one in self.case.slots[model] if one.old == name and one.fate == "convert"), None)
        if version == "old" and slot and slot.kind != "string":
            values = [one.value for one in KINDS[slot.kind][2] if isinstance(one.value, str)]
        else:
            values = KINDS[kind][1]
        return name, values[pick // len(names) % len(values)]

    def _add(self, version: str, one: int, two: int, three: int) -> None:
        doc = dict(self._named("owner", version, pick) for pick in (one, two, three))
        id_ = self.odms[version].model("owner").insert_one(plain(doc))["_id"]
        self.docs["owner"][id_] = doc

    def _hold(self, version: str, one: int, two: int, three: int) -> None:
        doc = dict(self._named("item", version, pick) for pick in (two, three))
        owner = self._one("owner", one)
        related = {name: self._ids(name, version, owner) for name in ("by", "all", "then", "once")}
        id_ = self.odms[version].model("item").insert_one(plain(doc), relations=related)["_id"]
        self.docs["item"][id_] = doc
        for name in FROZEN:
            self.frozen[id_, name] = {owner: self._copy(version, name, owner)}

    def _set(self, version: str, one: int, two: int, three: int) -> None:
        model = ("owner", "item")[one % 2]
        id_ = self._one(model, two)
        name, value = self._named(model, version, three)
        self.odms[version].model(model).find_one_and_update({"_id": id_}, {"$set": plain({name: value})})
        self.docs[model][id_][name] = value

    def _unset(self, version: str, one: int, two: int, three: int) -> None:
        model = ("owner", "item")[one % 2]
        id_ = self._one(model, two)
        name, _ = self._named(model, version, three)
        self.odms[version].model(model).find_one_and_update({"_id": id_}, {"$unset": {name: ""}})
        self.docs[model][id_].pop(name, None)

    def _relate(self, version: str, one: int, two: int, three: int) -> None:
        item, owner, name = self._one("item", one), self._one("owner", two), sorted(FORMS)[three % len(FORMS)]
        type_ = self.type_of(version) if name == "form" else FORMS[name]["type"]
        form, ids = self.forms.get(item, (type_, []))
        if name == "form" and type_ == "single" and ids:
            return
        related = {name: self._ids(name, version, owner)}
        books = self.odms[version].model("item")
        books.add_relation(filters={"_id": item}, relations=related, replace=type_ == "single")
        if name == "form":
            self.forms[item] = type_, list(dict.fromkeys([*ids, owner]))
        elif name in FROZEN:
            known = self.frozen.get((item, name), {})
            fresh = {owner: self._copy(version, name, owner)}
            kept = {**fresh, **{id_: copy for id_, copy in known.items() if id_ == owner}}
            self.frozen[item, name] = kept if type_ == "single" else {**known, **fresh}

    def _delete(self, version: str, one: int, two: int, three: int) -> None:
        model = ("owner", "item")[one % 2]
        id_ = self._one(model, two)
        if any(id_ in ids for _, ids in self.forms.values()):
            return
        self.odms[version].model(model).delete_one({"_id": id_}, hard_cascade=True)
        self.odms[version].work()
        del self.docs[model][id_]
        self.forms.pop(id_, None)
        for item, name in [key for key in self.frozen if key[0] == id_]:
            del self.frozen[item, name]

    def _raw(self, version: str, one: int, two: int, three: int) -> None:
        """Let another tool write whatever it likes, as long as no unique index minds."""
        model = ("owner", "item")[one % 2]
        slots = [slot for slot in self.case.slots[model] if slot.index != "unique"]
        if not slots or not self.docs[model]:
            return
        slot = slots[two % len(slots)]
        name = (slot.old, slot.new)[three % 2]
        values = [*KINDS[slot.kind][1], *(one.value for one in KINDS[slot.kind][2])]
        value, id_ = values[three // 2 % len(values)], self._one(model, two)
        self.db[model].update_one({"_id": id_}, {"$set": {name: value}})
        self.docs[model][id_][name] = value

    def _stain(self, version: str, one: int, two: int, three: int) -> None:
        """Let another tool write into a frozen copy."""
        copies = [(*key, owner) for key, found in self.frozen.items() for owner in found]
        slots = [one for one in self.case.slots["owner"] if one.fate == "rename"] or self.case.slots["owner"]
        if not copies:
            return
        item, name, owner = copies[one % len(copies)]
        slot = slots[two % len(slots)]
        field, value = (slot.old, slot.new)[three % 2], KINDS[slot.kind][1][0]
        where, path = {"_id": item, f"{name}._id": owner}, name if FORMS[name]["type"] == "single" else f"{name}.$"
        self.db.item.update_one(where, {"$set": {f"{path}.{field}": value}})
        self.frozen[item, name][owner][field] = value

    def _one(self, model: str, pick: int) -> Any:
        ids = [*self.docs[model]]
        if not ids:
            raise GatewayError("there is none")
        return ids[pick % len(ids)]

    def _ids(self, name: str, version: str, owner: Any) -> dict[str, Any]:
        type_ = self.type_of(version) if name == "form" else FORMS[name]["type"]
        return {"_ids": owner if type_ == "single" else [owner]}

    def _copy(self, version: str, relation: str, owner: Any) -> dict[str, Any]:
        shown = declared(self.case.slots["owner"], version).keys() - self._hidden(version, relation)
        return {name: value for name, value in self.docs["owner"][owner].items() if name in shown}

    # -- the judge

    def sync(self, step: Step | None = None) -> int:
        """See that each document is as it must be, before or after a step; return how many are after it."""
        changed = 0
        for model, docs in self.docs.items():
            stored = {one["_id"]: one for one in self.db[model].find()}
            assert stored.keys() == docs.keys()
            for id_, doc in docs.items():
                found = {n: v for n, v in stored[id_].items() if n not in ("_id", "_gw", *FORMS, *WINDOWS)}
                after = step.after(doc) if step and step.model == model else doc
                assert same(found) in (same(doc), same(after)), (model, found, doc, after)
                changed += same(found) != same(doc)
                docs[id_] = found
                if model == "item":
                    changed += self._sync_copies(id_, stored[id_], step)
        return changed

    def _sync_copies(self, item: Any, stored: dict[str, Any], step: Step | None) -> int:
        changed = 0
        for name in FROZEN:
            found = {one.pop("_id"): one for one in copies_in(stored, name)}
            known = self.frozen.get((item, name), {})
            after = self._frozen_after(step, name, known)
            assert keyed(found) in (keyed(known), keyed(after)), (name, found, known, after)
            changed += keyed(found) != keyed(known)
            self.frozen[item, name] = found
        form, ids = self.forms.get(item, ("", []))
        value = stored.get("form")
        assert [one["_id"] for one in copies_in(stored, "form")] == ids
        assert value is None or isinstance(value, list) == (form == "multiple")
        return changed

    def _frozen_after(self, step: Step | None, relation: str, copies: dict[Any, Any]) -> dict[Any, Any]:
        """Return what a step makes of frozen copies: of all of them, or of none."""
        if step is None or step.model != "owner" or not step.touches_frozen:
            return copies
        hidden = self._hidden("new", relation)
        after = {id_: step.without_old_names(copy, hidden) for id_, copy in copies.items()}
        return copies if any(step.is_left(copy) for copy in after.values()) else after

    def left(self, step: Step) -> list[Any]:
        """Return the ids of what a step has left, once for each frozen relation of a holder."""
        own = [id_ for id_, doc in self.docs[step.model].items() if step.is_left(doc)]
        if step.model == "owner" and step.touches_frozen:
            own += [item for (item, _), copies in self.frozen.items() if any(map(step.is_left, copies.values()))]
        return own

    def is_stuck(self, step: Step, id_: Any) -> bool:
        """Tell whether a document that is left cannot be changed, by the step or for a unique index."""
        doc = self.docs[step.model].get(id_)
        if doc is None or same(after := step.after(doc)) == same(doc):
            return True
        names = [slot.new for slot in step.slots if slot.index == "unique" and slot.new in after]
        others = [one for other, one in self.docs[step.model].items() if other != id_]
        return any(other.get(name) == after[name] for name in names for other in others)

    def reform(self) -> int:
        """Note that the relation has its new form wherever that loses nothing; return in how many documents."""
        new, before = self.type_of("new"), dict(self.forms)
        self.forms = {
            item: (new if new == "multiple" or len(ids) == 1 else type_, ids)
            for item, (type_, ids) in self.forms.items()
        }
        return sum(before[item] != form for item, form in self.forms.items())

    def reforms(self) -> list[tuple[Any, str]]:
        """Return the documents whose relation has the other form, and what `check` says of it."""
        new = self.type_of("new")
        wrong = {item: len(ids) for item, (type_, ids) in self.forms.items() if type_ != new and ids}
        return sorted((item, REFORM[new, min(number, 2) if new == "single" else 1]) for item, number in wrong.items())

    def misfits(self) -> list[tuple[str, str, str, int]]:
        """Return what a search for misfits must tell."""
        found: dict[tuple[str, str, str], int] = {}

        def add(*key: str) -> None:
            found[key] = found.get(key, 0) + 1  # type: ignore[index]

        for model, docs in self.docs.items():
            for name, (kind, required) in declared(self.case.slots[model], "new").items():
                for doc in docs.values():
                    if name not in doc:
                        if required:
                            add(model, name, "missing")
                    elif one := misfit_in(kind, doc[name]):
                        add(model, name + one.path, one.told)
        for _ in self.reforms():
            add("item", "form", "array" if self.type_of("new") == "single" else "object")
        return sorted((*key, count) for key, count in found.items())

    def unknown(self) -> list[tuple[Any, str, str]]:
        """Return the frozen copies with names that they must not have, and what `check` says of them."""
        found = []
        for (item, name), copies in self.frozen.items():
            names = declared(self.case.slots["owner"], "new").keys()
            for id_, copy in copies.items():
                if copy.keys() - names:
                    found.append((item, f"{name}.{id_}", UNKNOWN[0]))
                if copy.keys() & self._hidden("new", name):
                    found.append((item, f"{name}.{id_}", UNKNOWN[1]))
        return sorted(found)

    def repair(self) -> None:
        """Repair, and note that frozen copies lose what is excluded."""
        list(self.odms["new"].integrity.repair())
        self.odms["new"].work()
        self.reform()
        for (_, name), copies in self.frozen.items():
            for copy in copies.values():
                for hidden in self._hidden("new", name):
                    copy.pop(hidden, None)

    def problems(self) -> list[str]:
        """Return what is wrong with copies and windows, after `check` has told just that."""
        odm = self.odms["new"]
        reforms, unknown = [], []
        told: list[str] = []
        for one in odm.integrity.check():
            if one.reason in REFORM.values():
                reforms.append((one.id, one.reason))
            elif one.reason in UNKNOWN:
                unknown.append((one.id, one.path, one.reason))
            else:
                told.append(f"{one.model} {one.id} {one.path} {one.reason}")
        assert (sorted(reforms), sorted(unknown)) == (self.reforms(), self.unknown())
        undecided = {item for item, _ in reforms}  # of these nothing else is told
        wrong = [
            one
            for one in check(odm.schemas, odm.storage)
            if one.reason != "has fields that no copy may have"
            and not (one.id in undecided and one.path.startswith("form"))
        ]
        expected = sorted(f"{one.model} {one.id} {one.path} {one.reason}" for one in wrong)
        assert sorted(told) == expected
        return told


def copies_in(stored: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the copies in a relation, whatever its form."""
    value = stored.get(name)
    return [dict(one) for one in value] if isinstance(value, list) else [] if value is None else [dict(value)]


def keyed(copies: dict[Any, Any]) -> dict[Any, bytes]:
    return {id_: same(copy) for id_, copy in copies.items()}


def plain(values: dict[str, Any]) -> dict[str, Any]:
    """Return stored values as Python's."""
    python = {Decimal128: Decimal128.to_decimal, Binary: Binary.as_uuid}
    return {name: python.get(type(value), lambda one: one)(value) for name, value in values.items()}

"""A field that is excluded later leaves every copy: with the next update of its document, or by `repair`."""

from __future__ import annotations

import pytest

from gatewayfw.schemas import optional, string
from tests.odm.oracle import check

REVERSES = {"users": {"type": "multiple", "limit": 3}, "head": {"type": "single"}}


@pytest.fixture
def define(odm_on, storage):
    """A function that gives an Odm whose models exclude certain fields, on one database."""

    def make(of_model=(), of_relation=()):
        odm = odm_on(storage)
        odm.new_model(
            "user",
            {"name": string(), "pin": optional(string())},
            {"org": {"schemaName": "org", "type": "single", "optional": True, "relatedRelations": REVERSES}},
            options={"excludes": list(of_model)},
        )
        odm.new_model("org", {"name": string()})
        writer = {"schemaName": "user", "type": "single", "excludes": list(of_relation)}
        odm.new_model("note", {"text": string()}, {"writer": writer, "readers": {**writer, "type": "multiple"}})
        return odm

    return make


@pytest.fixture
def user(define):
    """A user with a pin, in an organization and in a note, when nothing is excluded yet."""
    odm = define()
    org = odm.model("org").insert_one(doc={"name": "org"})["_id"]
    related = {"org": {"_ids": org, "relatedRelations": {"users": True, "head": True}}}
    id_ = odm.model("user").insert_one(doc={"name": "x", "pin": "1234"}, relations=related)["_id"]
    odm.model("note").insert_one(doc={"text": "t"}, relations={"writer": {"_ids": id_}, "readers": {"_ids": [id_]}})
    return id_


def stored(odm):
    """What is embedded: the note's copies and those of the organization."""
    note, org = (next(odm.storage.find(name, {})) for name in ("note", "org"))
    return [note["writer"], *note["readers"], *org["users"], org["head"]]


@pytest.mark.parametrize("excluded", [(("pin",), ()), ((), ("pin",))], ids=["by the model", "by the relation"])
def test_an_update_takes_it_out_of_the_copies(define, user, excluded):
    odm = define(*excluded)
    odm.model("user").find_one_and_update(filter={"_id": user}, update={"$set": {"name": "y"}})
    shown = {"_id": user, "name": "y"}
    in_org = shown if excluded[0] else {**shown, "pin": "1234"}
    assert stored(odm) == [shown, shown, in_org, in_org]
    assert check(odm.schemas, odm.storage) == []


def test_check_names_the_copies_and_repair_takes_it_out(define, user):
    odm = define(["pin"])
    assert sorted(problem.path for problem in odm.integrity.check()) == sorted(
        ["users", "head", f"writer.{user}", f"readers.{user}"]
    )
    assert {problem.state for problem in odm.integrity.repair()} == {"mended"}
    assert stored(odm) == [{"_id": user, "name": "x"}] * 4
    assert list(odm.integrity.check()) == []


def test_a_job_takes_it_out_of_the_copies(define, user):
    odm = define(["pin"])
    with odm.leave_to_jobs():
        odm.model("user").find_one_and_update(filter={"_id": user}, update={"$set": {"name": "y"}})
    assert odm.jobs() == []
    assert stored(odm) == [{"_id": user, "name": "y"}] * 4

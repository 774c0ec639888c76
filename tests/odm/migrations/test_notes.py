"""What is noted of migrations, and who may run one."""

from __future__ import annotations

from datetime import timedelta

from gatewayfw.odm.jobs.records import now
from gatewayfw.odm.migrations.notes import COLLECTION, MigrationNotes


def test_a_lease_keeps_others_off_until_it_ends(storage):
    notes = MigrationNotes(storage)
    assert notes.claim("m", "one") is None
    assert notes.claim("m", "one") is None
    assert notes.claim("m", "two") > now()
    notes.release("m", "two")
    assert notes.claim("m", "two") is not None
    notes.release("m", "one")
    assert notes.claim("m", "two") is None


def test_a_lease_of_a_dead_process_passes(storage):
    notes = MigrationNotes(storage)
    notes.claim("m", "one")
    storage.update_one(COLLECTION, {"_id": "m"}, {"$set": {"lease.until": now() - timedelta(seconds=1)}}, ())
    assert notes.claim("m", "two") is None
    assert notes.claim("m", "one") is not None


def test_changes_are_counted_by_batch_and_told_once_a_run_has_ended(storage):
    notes = MigrationNotes(storage)
    notes.claim("m", "one", 2)
    notes.claim("m", "one", 3)
    assert notes.all() == {}
    notes.end("m", "one", "item", 7)
    (note,) = notes.all().values()
    assert (note.name, note.model, note.changed, note.left) == ("m", "item", 5, 7)
    assert notes.claim("m", "two") is None


def test_what_another_tool_put_there_is_passed_over(storage):
    strange = [{"_id": 1}, {"_id": "a", "model": 3}, {"_id": "b", "lease": 1}]
    storage.insert(COLLECTION, strange)
    notes = MigrationNotes(storage)
    assert notes.all() == {}
    assert notes.claim("b", "one") is None

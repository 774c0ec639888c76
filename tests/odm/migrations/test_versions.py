"""Whoever writes in between, migrations lose and invent no value, and tell exactly what is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gatewayfw.odm.operations import walk
from tests.examples import examples
from tests.odm.migrations.rollout import Case, Rollout
from tests.odm.migrations.versions import FATES, KINDS, Slot, normal

PICK = st.integers(0, 59)
SLOTS = st.builds(
    Slot,
    number=st.just(0),
    fate=st.sampled_from([*FATES, "rename", "convert"]),
    kind=st.sampled_from(sorted(KINDS)),
    prefer=st.sampled_from([None, "old", "new"]),
    required=st.booleans(),
    index=st.sampled_from([None, "plain", "unique"]),
)


def slots(most):
    """Up to so many fields, numbered."""
    numbered = st.lists(SLOTS, min_size=2, max_size=most).map(enumerate)
    return numbered.map(lambda drawn: tuple(normal(Slot(**{**vars(one), "number": n})) for n, one in drawn))


def operations(whats, versions, least, most):
    """A number of things that writers do."""
    one = st.tuples(st.sampled_from(whats), st.sampled_from(versions), PICK, PICK, PICK)
    return st.lists(one, min_size=least, max_size=most)


WRITES = ["add", "hold", "set", "unset", "relate", "delete"]
CASES = st.builds(
    Case,
    slots=st.fixed_dictionaries({"owner": slots(5), "item": slots(2)}),
    types=st.tuples(*[st.sampled_from(["single", "multiple"])] * 2),
    limit=st.sampled_from([100, 0]),
    together=st.booleans(),
    hides=st.booleans(),
    sorts=st.booleans(),
    plans=st.booleans(),
    before=operations([*WRITES, "add", "hold", "relate", "raw", "stain"], ["old"], 6, 24),
    during=operations([*WRITES, "raw", "stain"], ["old", "new"], 0, 8),
    after=operations(WRITES, ["old", "new"], 0, 2),
)


@given(case=CASES)
@examples(12)
def test_no_value_is_lost_or_invented_whoever_writes_in_between(database, case):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walk, "FIRST", 2)
        for name in database.list_collection_names():
            database.drop_collection(name)
        play(Rollout(database, case))


def play(rollout):
    """Let old processes write, deploy the new version, migrate while both write, and judge."""
    for one in rollout.case.before:
        rollout.do(one)
    odm = rollout.deploy()
    see_plans(rollout, odm)
    migrate_among_writers(rollout, odm)
    settle(rollout, odm)
    judge(rollout, odm)


def see_plans(rollout, odm):
    """See that plans say what is left, and change nothing."""
    if rollout.case.plans:
        told = odm.migrate(plan=True)
        assert [one["left"] for one in told] == [len(rollout.left(step)) for step in rollout.steps]
        rollout.sync()


def migrate_among_writers(rollout, odm):
    """Run each migration; between two batches of it somebody writes."""
    writes = rollout.case.during[::-1]
    for step, migration in zip(rollout.steps, odm.migrations.chosen(), strict=True):

        def write(_outcome, step=step):
            rollout.sync(step)
            if writes:
                rollout.do(writes.pop())

        odm.migrations.run(migration, write)
        rollout.sync(step)
    for one in writes + rollout.case.after:
        rollout.do(one)


def settle(rollout, odm):
    """Run all migrations alone, then again: what is left is listed, and nothing is done twice."""
    for again in (False, True):
        for step in rollout.steps:
            (told,) = odm.migrate(step.name)
            changed, left = rollout.sync(step), rollout.left(step)
            assert (told["changed"], told["left"]) == (changed, len(left)), step
            assert sorted(one["_id"] for one in told["listed"]) == sorted(left)
            assert all(map(rollout.is_stuck, [step] * len(left), left))
            assert not (again and changed)
    if rollout.case.types[0] != rollout.case.types[1]:
        odm.migration("form", "item", relation="form")
        for changed in (rollout.reform(), 0):
            (form,) = odm.migrate("form")
            left = [item for item, _ in rollout.reforms()]
            assert (form["changed"], form["left"]) == (changed, len(left))
            assert sorted(one["_id"] for one in form["listed"]) == left
    odm.work()
    rollout.sync()


def judge(rollout, odm):
    """See that misfits and wrong copies are told exactly, and that `repair` leaves none of these."""
    misfits = [(one.model, one.path, one.stored, one.count) for one in odm.integrity.misfits()]
    assert sorted(misfits) == rollout.misfits()
    wrong = rollout.problems()
    assert not (rollout.case.is_quiet and wrong) or any(map(rollout.left, rollout.steps))
    rollout.repair()
    rollout.sync()
    assert rollout.problems() == []

"""Several operations as one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from gatewayfw.errors import DefinitionError, DuplicateKey, HttpError, Timeout, ValidationError
from gatewayfw.schemas import integer


def test_all_happen_and_the_result_is_returned(world):
    def both():
        land = world.add_country("land")
        return world.add_city("city", land), world.country.find_one(filters={"_id": land})["cities"]

    city, cities = world.odm.transaction(both)
    assert cities == [{"_id": city, "name": "city"}]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_none_happens_when_the_function_fails(world, error):
    land = world.add_country("land")
    before = world.digest()

    def fails():
        world.add_city("city", land)
        world.country.find_one_and_update(filter={"_id": land}, update={"$set": {"name": "new"}})
        raise error("stop")

    with pytest.raises(error, match="^stop$"):
        world.odm.transaction(fails)
    assert world.digest() == before


def test_a_failed_operation_fails_the_whole_even_when_caught(world):
    world.add_country("land")
    before = world.digest()

    def careless():
        world.add_country("other")
        with pytest.raises(DuplicateKey):
            world.add_country("land")
        return "done"

    with pytest.raises(DuplicateKey):
        world.odm.transaction(careless)
    assert world.digest() == before


def test_nested_transactions_join(world):
    before = world.digest()

    def outer():
        world.odm.transaction(lambda: world.add_country("inner"))
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="^stop$"):
        world.odm.transaction(outer)
    assert world.digest() == before


def test_reads_inside_see_own_writes(world):
    counted = world.odm.transaction(lambda: (world.add_country("land"), world.country.count())[1])
    assert counted == 1


def test_nothing_is_written_after_the_deadline(world):
    world.odm.ready()
    before = world.digest()
    with pytest.raises(Timeout), world.odm.deadline(1e-9):
        world.add_country("land")
    assert world.digest() == before


def test_an_operation_refused_by_validation_fails_nothing_else(world):
    def careful():
        world.add_country("land")
        with pytest.raises(ValidationError):
            world.country.insert_one(doc={})

    world.odm.transaction(careful)
    assert world.country.count() == 1


@pytest.mark.mongo
def test_a_conflict_is_tried_again_even_when_it_got_another_name(mongo_database, odm_on):
    odm = odm_on(mongo_database)
    counter = odm.new_model("counter", {"n": integer()})
    id_ = counter.insert_one(doc={"n": 0})["_id"]

    def increment():
        try:
            counter.find_one_and_update(filter={"_id": id_}, update={"$inc": {"n": 1}})
        except Exception as error:
            raise HttpError("could not count", 409) from error

    def work():
        for _ in range(10):
            odm.storage.transaction(increment)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(work) for _ in range(4)]:
            done.result()
    assert counter.find_one()["n"] == 40


def test_functions_that_would_not_run_are_refused(world):
    def generator():
        yield

    async def later():
        pass

    for fn in (generator, later):
        with pytest.raises(DefinitionError, match="^transaction: expected a plain function"):
            world.odm.transaction(fn)

"""Several operations as one."""

from __future__ import annotations

import pytest

from gatewayfw.errors import DuplicateKey, Timeout


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

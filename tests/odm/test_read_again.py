"""The own document of an operation, read again where its effects may have changed it."""

from __future__ import annotations

from tests.odm.noted import note_commands


def test_only_a_model_related_to_itself_is_read_again(world):
    friend = world.add_person("friend")
    links = {"friends": {"_ids": [friend], "relatedRelations": {"friendOf": True}}}
    person, land = world.add_person("x", links), world.add_country("land")
    commands = note_commands(world.storage)
    changed = world.person.find_one_and_update({"_id": person}, {"$set": {"name": "new"}})
    assert (changed["name"], commands[-1]) == ("new", ("find", "person", {"_id": person}, {"limit": 1}))
    world.country.find_one_and_update({"_id": land}, {"$set": {"name": "new"}})
    assert "find" not in [command[0] for command in commands if command[1] == "country"]

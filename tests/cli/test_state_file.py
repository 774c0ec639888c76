"""A state file holds the progress of one command; the commands' own tests go on from it."""

from __future__ import annotations

import click
import pytest

from gatewayfw.cli.command import Failed
from gatewayfw.cli.integrity import StateFile
from gatewayfw.odm import Place
from tests.cli.shop import shop

PLACE = Place("item", "1", 5, 9)


@pytest.fixture
def odm(database):
    """The Odm of a shop."""
    return shop(database).odm


def test_what_was_saved_is_loaded_until_the_end(odm, tmp_path):
    file = StateFile("check", odm, tmp_path / "a.json")
    assert (file.load(dict), file.again) == ((None, None), "")
    file.save(PLACE, {"found": [1]})
    again = StateFile("check", odm, tmp_path / "a.json")
    assert again.load(lambda saved: saved["found"]) == (PLACE, [1])
    assert again.again == f"; go on with --state {tmp_path / 'a.json'}"
    again.end()
    assert (again.load(dict), list(tmp_path.iterdir())) == ((None, None), [])


def test_without_a_path_nothing_is_kept(odm):
    file = StateFile("check", odm, None)
    file.save(PLACE, {})
    file.end()
    assert (file.load(dict), file.again) == ((None, None), "")


def test_a_file_of_another_command_or_content_is_refused(odm, tmp_path):
    path = tmp_path / "a.json"
    StateFile("check", odm, path).save(PLACE, {})
    with pytest.raises(click.UsageError, match="holds the progress of another command"):
        StateFile("repair", odm, path).load(dict)
    with pytest.raises(click.UsageError, match="is not a progress file of this command"):
        StateFile("check", odm, path).load(lambda saved: saved["found"])


def test_a_file_that_cannot_be_written_is_told(odm, tmp_path):
    with pytest.raises(Failed, match="--state: cannot write"):
        StateFile("check", odm, tmp_path / "none" / "a.json").save(PLACE, {})

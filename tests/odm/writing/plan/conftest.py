"""A blog, for tests of inserts and of relations."""

from __future__ import annotations

import pytest

from gatewayfw.odm import Odm
from gatewayfw.schemas import Schemas, string
from gatewayfw.settings import Settings
from tests.odm.tags import TAGS


@pytest.fixture
def blog(storage):
    """Four tags, and posts of which one insert may embed 6 copies of tags and authors."""
    settings = Settings(insert_copies=6)
    odm = Odm(Schemas(settings), settings)
    odm.set_db(storage)
    tag = odm.new_model("tag", {"name": string})
    relations = {
        "tags": {"schemaName": "tag", "type": "multiple", "optional": True},
        "main": {"schemaName": "tag", "type": "single", "optional": True},
    }
    odm.new_model("post", {"title": string}, relations)
    tag.insert_many([{"_id": id_, "name": str(number)} for number, id_ in enumerate(TAGS)])
    return odm

"""A gateway with files on each database and in each store, and uploads for it."""

from __future__ import annotations

import hashlib
import io

import pytest

from gatewayfw import DirectoryFiles, GridFsFiles, gateway
from gatewayfw.schemas.kinds.file import Upload

KEY = "k" * 32
STORES = ["directory", "gridfs"]


@pytest.fixture(params=STORES)
def store(request, tmp_path):
    """An empty store; the one in the database is bound when a gateway uses it."""
    return DirectoryFiles(tmp_path) if request.param == "directory" else GridFsFiles()


@pytest.fixture
def gw(database, store):
    """A gateway with the model `file` and users who may have an avatar."""
    gw = gateway(link_key=KEY)
    gw.odm.set_db(database)
    gw.files.use(store)
    gw.files.model("file")
    gw.odm.new_model("user", {}, {"avatar": {"schemaName": "file", "type": "single", "optional": True}})
    return gw


@pytest.fixture
def keys(store, gw):
    """Return a function that gives the keys of all that is stored."""
    return lambda: sorted(store.old("", -60))


def upload(content=b"content", name="a.txt", type_="application/octet-stream"):
    """An upload as an act gets it."""
    return Upload(name, type_, len(content), hashlib.sha256(content).hexdigest(), io.BytesIO(content))


@pytest.fixture
def keys_of():
    """Return what gives the keys of all that a store has."""
    return lambda store: sorted(store.old("", -60))

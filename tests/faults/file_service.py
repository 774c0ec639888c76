"""A service that stores files, for processes that are killed while they do."""

from __future__ import annotations

import os
import signal
from typing import Any

from gatewayfw import DirectoryFiles, Gateway, GridFsFiles, file, gateway
from gatewayfw.files import FileStore

#: The variable that says where the bytes go: a directory, or nothing for the database.
FOLDER = "FILES_FOLDER"
MOST = 20_000_000


def store_in(folder: str) -> FileStore:
    """Return the store of a folder; without one that in the database."""
    return DirectoryFiles(folder) if folder else GridFsFiles()


def make(uri: str, store: FileStore) -> Gateway:
    """Return the service."""
    gw = gateway(link_key="k" * 32, max_upload_bytes=2 * MOST)
    gw.odm.set_db(uri)
    gw.files.use(store)
    gw.files.model("file", public=True)

    @gw.acts.act("file", "add", set={"file": file(most=MOST)}, get=1, public=True)
    def add(body: Any) -> Any:
        """Store a file."""
        return gw.files.insert(body["details"]["set"]["file"], projection=body["details"]["get"])

    @gw.acts.act("file", "die", set={"file": file(most=MOST)}, public=True)
    def die(body: Any) -> None:
        """Store a file, and be killed before its document is inserted."""
        model = gw.odm.model("file")
        object.__setattr__(model, "insert_one", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
        gw.files.insert(body["details"]["set"]["file"])

    return gw


def create_app() -> Any:
    """Return the app that gunicorn loads."""
    return make(os.environ["MONGODB_URI"], store_in(os.environ.get(FOLDER, ""))).create_app()

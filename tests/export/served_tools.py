"""The sample service with its demo data, for a server of tools in a process of its own."""

from __future__ import annotations

import os
from pathlib import Path

import mongomock
from flask import Flask

from sample_service.app import create_service
from sample_service.demo import seed


def create_app() -> Flask:
    """Return the app; the file that TEST_TOKEN_FILE names gets a Manager's token."""
    service = create_service(mongomock.MongoClient().test, "k" * 32)
    seed(service)
    manager = service.users.find_one(filters={"email": "manager@example.com"})
    assert manager is not None
    token = service.auth.tokens.issue({"_id": str(manager["_id"])})
    Path(os.environ["TEST_TOKEN_FILE"]).write_text(f"{token}\n")

    @service.gw.acts.act("user", "shout", public=True, mcp=True, returns=None)
    def shout(body):
        """Print where a client listens."""
        print("AH!", flush=True)
        return "done"

    return service.gw.create_app()

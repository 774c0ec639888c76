"""file.addFile."""

from __future__ import annotations

from typing import Any

from ..service import Body, Service
from .model import FILE


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "file",
        "addFile",
        set=FILE,
        get=1,
        pre_act=service.signed_in,
    )
    def add_file(body: Body) -> dict[str, Any]:
        """Add a file's metadata, for example of an avatar."""
        details = body["details"]
        return service.files.insert_one(doc=details["set"], projection=details["get"])

"""file.getFile."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id

from ..service import Body, Service


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "file",
        "getFile",
        set={"fileId": object_id(of="file")},
        get=1,
        pre_act=service.signed_in,
    )
    def get_file(body: Body) -> dict[str, Any]:
        """Return one file."""
        details = body["details"]
        file = service.files.find_one(filters={"_id": details["set"]["fileId"]}, projection=details["get"])
        if file is None:
            raise NotFound("file not found")
        return file

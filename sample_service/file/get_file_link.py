"""file.getFileLink."""

from __future__ import annotations

from typing import Any

from gatewayfw import NotFound, object_id, string

from ..service import Body, Service

#: Seconds that a link opens a file.
LASTS = 300


def register(service: Service) -> None:
    """Register the act."""

    @service.gw.acts.act(
        "file",
        "getFileLink",
        set={"fileId": object_id(of="file")},
        pre_act=service.signed_in,
        returns={"link": string()},
    )
    def get_file_link(body: Body) -> dict[str, Any]:
        """Return a path that opens one file without a token for a few minutes, for example in an `<img>`."""
        id_ = body["details"]["set"]["fileId"]
        if not service.files.exists({"_id": id_}):
            raise NotFound("file not found")
        return {"link": service.gw.files.link(id_, LASTS)}

"""A gateway with an act that takes files."""

from __future__ import annotations

import hashlib
from typing import Any

import mongomock

from gatewayfw.core import Gateway, gateway
from gatewayfw.schemas import any_, array, file, object_, optional, string


def uploading() -> Gateway:
    """Return a gateway whose one act says what it got."""
    gw = gateway()
    gw.odm.set_db(mongomock.MongoClient().uploading)
    set_ = {
        "name": string(size=(1, 20)),
        "avatar": file(most="1MB", types=["image/png", "image/jpeg"]),
        "cover": optional(file(most=10)),
        "more": optional(object_({"tags": array(string(size=5))})),
    }

    @gw.acts.act("user", "setAvatar", set=set_, mode="create", public=True, returns=any_())
    def set_avatar(body: dict[str, Any]) -> Any:
        """Set an avatar."""
        given = body["details"]["set"]
        cover = given.get("cover")
        files = [one and [one.name, one.type, one.size] for one in (given["avatar"], cover)]
        digest = hashlib.sha256(given["avatar"].stream.read()).hexdigest()
        return {"name": given["name"], "files": files, "whole": digest == given["avatar"].sha256}

    return gw

"""The model file: data about a file that is stored elsewhere."""

from __future__ import annotations

from gatewayfw import Gateway, integer, optional, string
from gatewayfw.odm import Model
from sample_service.mixins import NAME

FILE = {
    "name": NAME,
    "type": string(size=(None, 255)),
    "size": integer(minimum=0),
    "path": optional(string(size=(None, 2000))),
}


def define_file(gw: Gateway) -> Model:
    """Define file; ``type`` is a media type, ``size`` counts bytes, ``path`` is its path on the server."""
    return gw.odm.new_model("file", FILE)

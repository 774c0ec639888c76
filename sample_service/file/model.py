"""The model file: avatars that users sent, and data about files that are stored elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gatewayfw import Gateway, GridFsFiles, integer, optional, string
from gatewayfw.odm import Model

PATH = string(size=(None, 2000))
#: What data about a file has; name and type as those of every file.
FILE = {
    "name": string(size=(1, 255)),
    "type": string(size=(1, 255)),
    "size": integer(minimum=0),
    "path": optional(PATH),
}


def define_file(gw: Gateway, read: Sequence[Callable[..., Any]]) -> Model:
    """Define file; who passes the hooks of ``read`` may read one.

    ``path`` is where one is that is stored elsewhere.
    """
    gw.files.use(GridFsFiles())
    return gw.files.model("file", {"path": optional(PATH)}, read=read)

"""Files: documents about them, their bytes in a store, and links to read them."""

from __future__ import annotations

from gatewayfw.files.directory import DirectoryFiles
from gatewayfw.files.files import Files, StoredFile
from gatewayfw.files.gridfs import GridFsFiles
from gatewayfw.files.stores import FileStore

__all__ = ["DirectoryFiles", "FileStore", "Files", "GridFsFiles", "StoredFile"]

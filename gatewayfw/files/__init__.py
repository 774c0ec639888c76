"""Files: documents about them, their bytes in a store, and links to read them.

What type an uploaded file has is judged as it arrives, by `gatewayfw.schemas.file_signatures`.
"""

from gatewayfw.files.directory import DirectoryFiles
from gatewayfw.files.files import Files, StoredFile
from gatewayfw.files.gridfs import GridFsFiles
from gatewayfw.files.stores import FileStore

__all__ = ["DirectoryFiles", "FileStore", "Files", "GridFsFiles", "StoredFile"]

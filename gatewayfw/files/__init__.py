"""Files: documents about them, their bytes in a store, and links to read them.

What type an uploaded file has is judged as it arrives, by `gatewayfw.schemas.file_signatures`.
"""

from gatewayfw.files.files import Files, StoredFile
from gatewayfw.files.stores import DirectoryFiles, FileStore, GridFsFiles

__all__ = ["DirectoryFiles", "FileStore", "Files", "GridFsFiles", "StoredFile"]

"""What the package of files offers."""

from gatewayfw import files


def test_the_names_of_the_package():
    assert files.__all__ == ["DirectoryFiles", "FileStore", "Files", "GridFsFiles", "StoredFile"]

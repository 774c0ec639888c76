"""The files among what a client sends, written as ``multipart/form-data``.

Source: RFC 7578, section 4.2; https://html.spec.whatwg.org/#multipart-form-data.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from typing import Any

_ESCAPES = str.maketrans({'"': "%22", "\r": "%0D", "\n": "%0A"})


def split_files(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a ``set`` without its files, and these by their paths (``set.avatar``)."""
    files = {
        name: value
        for name, value in given.items()
        if isinstance(value, os.PathLike) or callable(getattr(value, "read", None))
    }
    kept = {name: value for name, value in given.items() if name not in files}
    return kept, {f"set.{name}": file for name, file in files.items()}


def form_of(data: bytes, files: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a request body with files, and its content type; all of it is in memory.

    Raises:
        OSError: a file cannot be read.
        TypeError: an open file gives text.
    """
    boundary = f"gatewayfw-{secrets.token_hex(16)}"
    parts = [_part(boundary, 'name="gateway-body"', data)]
    for path, file in files.items():
        name, content = _read(file)
        parts.append(_part(boundary, f'name="{_escaped(path)}"; filename="{_escaped(name)}"', content))
    return b"".join([*parts, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"


def _part(boundary: str, names: str, content: bytes) -> bytes:
    return f"--{boundary}\r\nContent-Disposition: form-data; {names}\r\n\r\n".encode() + content + b"\r\n"


def _read(file: Any) -> tuple[str, bytes]:
    if isinstance(file, os.PathLike):
        with open(file, "rb") as opened:
            return os.path.basename(os.fspath(file)), opened.read()
    content = file.read()
    if not isinstance(content, bytes):
        raise TypeError("a file must be open in binary mode")
    name = getattr(file, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "file", content


def _escaped(name: str) -> str:
    return name.encode("utf-8", "replace").decode().translate(_ESCAPES)

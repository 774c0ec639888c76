"""Generated files: written atomically, and only if something changed."""

import contextlib
import os
import secrets
from collections.abc import Callable, Mapping
from difflib import unified_diff
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gatewayfw.errors import DefinitionError
from gatewayfw.export.python.module import python
from gatewayfw.export.typescript.module import typescript

#: The name of the file and the function that writes it, by language.
LANGUAGES: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], str]]] = MappingProxyType(
    {"ts": ("gateway.ts", typescript), "python": ("gateway_types.py", python)}
)


def generated(catalog: Mapping[str, Any], lang: str) -> tuple[str, str]:
    """Return the name of a language's file, and its text.

    Raises:
        DefinitionError: the language is not one of `LANGUAGES`.
    """
    if lang not in LANGUAGES:
        raise DefinitionError(f"unknown language {lang!r} (known: {', '.join(LANGUAGES)})")
    name, make = LANGUAGES[lang]
    return name, make(catalog)


def write(place: Path, text: str) -> bool:
    """Write a file unless it has this text, and tell whether it was written.

    Its folder is made if missing. Symbolic links are followed.

    Raises:
        OSError: the folder or the file cannot be made or read.
    """
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    if _read(place) == text.encode():
        return False
    replace_file(place, text.encode())
    return True


def difference(place: Path, text: str) -> list[str]:
    """Return a unified diff of a file and its expected text; no lines if they agree.

    Raises:
        OSError: the file cannot be read.
    """
    data = _read(place)
    if data is None:
        return [f"{place} is missing"]
    if data == text.encode():
        return []
    old = data.decode(errors="replace").splitlines()
    return list(unified_diff(old, text.splitlines(), str(place), "generated", lineterm="", n=1))


def replace_file(place: Path, data: bytes) -> None:
    """Write a file whole or not at all: beside its place first, then renamed.

    Raises:
        OSError: it cannot be written; what was there stays.
    """
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None

"""Generated files: written atomically, and only if something changed."""

from __future__ import annotations

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


def generated(catalog: Mapping[str, Any], lang: str) -> dict[str, str]:
    """Return the text of each file of a language, by name.

    Raises:
        DefinitionError: the language is not one of `LANGUAGES`.
    """
    if lang not in LANGUAGES:
        raise DefinitionError(f"unknown language {lang!r} (known: {', '.join(LANGUAGES)})")
    name, write = LANGUAGES[lang]
    return {name: write(catalog)}


def write(folder: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files by name into a folder, made if missing; return those that changed.

    Each is written beside its place and then renamed, so that nobody reads half of it.

    Raises:
        DefinitionError: a name leads out of the folder, by itself or as a symbolic link. Then
            nothing is written.
        OSError: the folder or a file cannot be made or read.
    """
    places = {_place(folder, name): text.encode() for name, text in texts.items()}
    folder.mkdir(parents=True, exist_ok=True)
    changed = {place: data for place, data in places.items() if _read(place) != data}
    for place, data in changed.items():
        replace_file(place, data)
    return [folder / name for name in texts if _place(folder, name) in changed]


def difference(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Return a unified diff of a folder's files and their expected texts.

    No lines if they agree.

    Raises:
        DefinitionError: a name leads out of the folder.
        OSError: a file cannot be read.
    """
    lines: list[str] = []
    for name, text in texts.items():
        data = _read(_place(folder, name))
        if data is None:
            lines.append(f"{folder / name} is missing")
        elif data != text.encode():
            old = data.decode(errors="replace").splitlines()
            lines += unified_diff(old, text.splitlines(), str(folder / name), "generated", lineterm="", n=1)
    return lines


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


def _place(folder: Path, name: str) -> Path:
    """Return where a file is, symbolic links resolved."""
    inside = folder.resolve()
    place = (inside / name).resolve()
    if place == inside or not place.is_relative_to(inside):
        raise DefinitionError(f"the file {name!r} is not inside the folder {str(folder)!r}")
    return place


def _read(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None

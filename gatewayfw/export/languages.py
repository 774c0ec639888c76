"""The languages that types can be written in, and the file of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

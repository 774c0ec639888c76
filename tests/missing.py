"""Tests that need a library which is not installed, and are skipped for that reason."""

from __future__ import annotations

import importlib.util
import re

#: The extras' modules that may be missing, by the library that a message of the package names.
LIBRARIES = {
    "cryptography": "cryptography",
    "gevent": "gevent",
    "granian": "granian",
    "mcp": "mcp",
    "opentelemetry-api": "opentelemetry.trace",
    "opentelemetry-instrumentation-pymongo": "opentelemetry.instrumentation.pymongo",
    "opentelemetry-sdk": "opentelemetry.sdk",
    "prometheus-client": "prometheus_client",
    "sentry-sdk": "sentry_sdk",
    "waitress": "waitress",
}
_NAMED = re.compile(r"needs the library ([\w-]+)|No module named '([\w.]+)'|name '(\w+)' from '(\w+)'")


def is_missing(module: str) -> bool:
    """Tell whether a module is not installed."""
    try:
        return importlib.util.find_spec(module) is None
    except ModuleNotFoundError:  # a package above it
        return True


def missing_in(text: str) -> str | None:
    """Return the library that a failure names and that is not installed; None for another failure."""
    for named, module, *names in _NAMED.findall(text):
        wanted = f"{module or '.'.join(reversed(names))}."
        for library, its_module in LIBRARIES.items():
            is_wanted = wanted.startswith(f"{its_module}.") or f"{its_module}.".startswith(wanted)
            if (named == library or is_wanted) and is_missing(its_module):
                return library
    return None

"""Where a process runs, as its environment says; the one place that reads it.

``GATEWAYFW_ENV`` names the environment, else ``FLASK_ENV``. What makes anything less strict is
asked of ``GATEWAYFW_ENV`` alone, because Flask itself no longer reads the other: one that was left
behind must not make random keys in production.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Literal

VARIABLE = "GATEWAYFW_ENV"
_OTHER = "FLASK_ENV"
_DEVELOPMENT, _PRODUCTION = "development", "production"
_NO = frozenset({"", "0", "false", "no"})


def environment(environ: Mapping[str, str]) -> str:
    """Return the name of the environment in lower case; empty when nothing names it."""
    return (environ.get(VARIABLE) or environ.get(_OTHER) or "").strip().lower()


def is_development(environ: Mapping[str, str]) -> bool:
    """Tell whether ``GATEWAYFW_ENV`` says ``development``."""
    return environ.get(VARIABLE, "").strip().lower() == _DEVELOPMENT


def judge_memory(environ: Mapping[str, str], modules: Container[str]) -> Literal["refuse", "warn", "allow"]:
    """Return what becomes of data in memory, which ends with its process and is another one in each worker.

    ``modules`` are those that are loaded. Refused in production, and under gunicorn outside
    development and tests; allowed in development (``GATEWAYFW_ENV``, or ``FLASK_DEBUG`` where
    nothing is named) and where pytest runs; else, and for a gunicorn of development, to be warned
    of. Our choice.
    """
    name = environment(environ)
    if name == _PRODUCTION:
        return "refuse"
    is_debug = not name and environ.get("FLASK_DEBUG", "").lower() not in _NO
    under_gunicorn = environ.get("SERVER_SOFTWARE", "").startswith("gunicorn")  # which it sets for its workers
    if is_development(environ) or is_debug or "pytest" in modules:
        return "warn" if under_gunicorn else "allow"
    return "refuse" if under_gunicorn else "warn"

"""What refused operations say."""

from __future__ import annotations

from gatewayfw.errors import (
    ValidationError,
)

REQUIRED = "Missing data for required field."


def invalid(path, *texts):
    return ValidationError, f"validation error: {path}: {' '.join(texts)}"

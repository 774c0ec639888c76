"""Fixtures of the storage tests."""

from __future__ import annotations

import pytest

# The suite is no test module, so pytest would not explain its assertions.
pytest.register_assert_rewrite("gatewayfw.testing.storage_suite")

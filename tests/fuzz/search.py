"""Whether a strategy draws something at all; `hypothesis.find` shrinks it and prints it, however large."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


def draws(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool], examples: int = 40) -> bool:
    """Tell whether one of so many examples is as wanted; the same ones in every run."""
    found: list[bool] = []

    @given(strategy)
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def look(value: Any) -> None:
        if not found and wanted(value):
            found.append(True)

    look()
    return bool(found)

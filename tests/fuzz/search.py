"""What a strategy draws, for whole values; `hypothesis.find` shrinks and prints what it finds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st


def draws(strategy: st.SearchStrategy[Any], wanted: Callable[[Any], bool], examples: int = 40) -> bool:
    """Tell whether one of so many examples is as wanted; the same ones in every run."""
    return any(map(wanted, drawn(strategy, examples)))


def drawn(strategy: st.SearchStrategy[Any], examples: int = 60) -> list[Any]:
    """So many values of a strategy, the same ones in every run."""
    found: list[Any] = []

    @given(strategy)
    @settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def look(value: Any) -> None:
        found.append(value)

    look()
    return found

"""Fixtures of the act tests."""

from tests.acts.parts import acts, call, clock, context_fns, lifecycle, make_acts, schemas, store

__all__ = ["acts", "call", "clock", "context_fns", "lifecycle", "make_acts", "schemas", "store"]

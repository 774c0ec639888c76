"""Fixtures of the tests of limits."""

from tests.acts.parts import acts, call, clock, context_fns, lifecycle, make_acts, schemas, store

__all__ = ["acts", "call", "clock", "context_fns", "lifecycle", "make_acts", "schemas", "store"]

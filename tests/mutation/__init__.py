"""Mutation testing, sampled: `./dev mutate`, that is ``python -m tests.mutation``."""

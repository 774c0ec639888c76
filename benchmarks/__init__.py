"""Measurements of gatewayfw against hand-written services that do the same work; `./dev bench`.

Not a part of the installed package. `docs/performance-details.md` says what is measured and how.
"""

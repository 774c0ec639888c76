"""Do the work that is too large for one transaction."""

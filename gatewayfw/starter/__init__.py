"""A small service to begin with: ``flask gateway new`` writes it."""

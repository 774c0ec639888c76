"""Hostile requests over HTTP: `corpus.json` says what is sent and what must come back."""

"""Bring stored documents in line with changed definitions."""

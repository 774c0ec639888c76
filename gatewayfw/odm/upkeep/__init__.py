"""Checks, repairs and indexes of what is stored."""

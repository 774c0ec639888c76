"""Bounded HTTP, for clients and for remote services."""

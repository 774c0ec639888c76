"""HTTP with limits on time and size, for clients and for remote services."""

"""Reports of a running service to other tools."""

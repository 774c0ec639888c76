"""The servers that run an app."""

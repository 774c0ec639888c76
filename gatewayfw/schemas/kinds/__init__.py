"""The value kinds: one class for each, which knows all about it."""

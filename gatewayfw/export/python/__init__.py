"""The Python module: types of a client."""

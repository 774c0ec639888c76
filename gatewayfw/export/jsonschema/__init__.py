"""The JSON Schema of acts and models."""

"""The TypeScript module: types and a client."""

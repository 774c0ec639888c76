"""What the methods of models do, as functions by operation."""

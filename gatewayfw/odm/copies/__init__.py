"""The rules of embedded copies, and the space they may take."""

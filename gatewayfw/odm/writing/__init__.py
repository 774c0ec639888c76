"""Writing documents together with every copy of them."""

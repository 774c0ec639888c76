"""Rate limits: how many calls of an act pass, and what counts them."""

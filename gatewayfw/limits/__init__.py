"""Rate limits: how many calls of an act are admitted, and how they are counted."""

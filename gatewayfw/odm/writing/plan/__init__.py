"""Plans of writes: pure generators that yield steps, and get what each step read."""

"""Working off what is more than one transaction should write."""

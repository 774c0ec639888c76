"""What others see of a running service."""

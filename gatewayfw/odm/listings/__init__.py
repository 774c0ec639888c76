"""Lists that clients filter, sort and read by page."""

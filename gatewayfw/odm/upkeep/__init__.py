"""Looking after what is stored: checks, repairs and indexes."""

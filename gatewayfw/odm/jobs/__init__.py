"""Work that is too large for one transaction: records, batches, a thread."""

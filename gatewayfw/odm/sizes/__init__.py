"""What fits into documents: own fields, copies in holders, windows of targets."""

"""Reading documents: projections, deep levels, filters, sorts and cursors."""

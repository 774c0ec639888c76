"""Reading documents: projections, levels below the copies, filters, sorts and cursors."""

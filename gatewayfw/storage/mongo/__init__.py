"""Storage on MongoDB through PyMongo."""

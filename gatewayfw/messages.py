"""What clients are told of refused values, wherever the refusal is found."""

from __future__ import annotations

REQUIRED = "Missing data for required field."
UNKNOWN = "Unknown field."
NULL = "Field may not be null."
#: For a wrong value whose field says nothing better.
INVALID = "Invalid value."
NO_OBJECT = "Not a valid mapping type."
NO_KEY = "Not a key the database can hold."
LONG_PATH = "Has too many names."
NO_VALUE = "Not a value the database can hold."
#: For a value that the field would store, and then show or load as another one.
NOT_KEPT = "Would come back as another value."
NO_PART = "Not a field of this object."
NO_BOOLEAN = "Not a valid boolean."
NO_ID = "Not a valid id."

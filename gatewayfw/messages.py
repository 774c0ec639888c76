"""Every text that a client reads when a value is refused, wherever that is found.

What developers are told, in a `DefinitionError`, a `UsageError` or the log, stands where it is raised. What stands in
braces is filled in by ``str.format``: ``{min}`` and ``{max}`` are inclusive bounds.
"""

from __future__ import annotations

# -- absent, unknown, or of no use to anybody

REQUIRED = "Missing data for required field."
NULL = "Field may not be null."
UNKNOWN = "Unknown field."
#: For a wrong value whose field says nothing better.
INVALID = "Invalid value."

# -- not a value of the field's kind

NO_BASE64 = "Not valid base64."
NO_BOOLEAN = "Not a valid boolean."
NO_DATE = "Not a valid ISO 8601 date."
NO_DECIMAL = 'Not a valid decimal (text such as "12.50").'
NO_EMAIL = "Not a valid email address."
NO_FILE = "Not a file: send it as a part of multipart/form-data."
NO_ID = "Not a valid id."
NO_INTEGER = "Not a valid integer."
NO_JSON = "Not a valid value."
NO_LIST = "Not a valid list."
NO_MAP_KEY = "Not a valid key."
NO_NUMBER = "Not a valid number."
NO_OBJECT = "Not a valid mapping type."
NO_OBJECT_ID = "Not a valid ObjectId (24 hexadecimal digits)."
NO_TEXT = "Not a valid string."
NO_URL = "Not a valid URL."
NO_UUID = "Not a valid UUID."

# -- beyond a bound, or not among the choices

TOO_SHORT = "Shorter than minimum length {min}."
TOO_LONG = "Longer than maximum length {max}."
NO_LENGTH_BETWEEN = "Length must be between {min} and {max}."
NO_LENGTH = "Length must be {equal}."
TOO_SMALL = "Must be greater than or equal to {min}."
TOO_GREAT = "Must be less than or equal to {max}."
NO_NUMBER_BETWEEN = "Must be greater than or equal to {min} and less than or equal to {max}."
TOO_MANY_PLACES = "Must have at most {max} decimal places."
TOO_MANY_DIGITS = "Must have at most {max} digits."
TOO_MANY_BYTES = "Must be text of at most {max} bytes."
NO_MATCH = "String does not match expected pattern."
NO_CHOICE = "Must be one of: {choices}."

# -- nothing that the database can hold

NO_KEY = "Not a key the database can hold."
NO_VALUE = "Not a value the database can hold."
LONG_PATH = "Has too many names."
#: For a value that the field would store, and then show or load as another one.
NOT_KEPT = "Would come back as another value."

# -- of a `get`

NO_FLAG = "Must be 1 or 0."
NO_LINK_VALUE = "Must be 1, 0 or an object."
NO_REVISION_OF_COPY = "A copy has no revision: ask for it at the top."
NOT_WHOLE = "Not all fields may be selected: name them in an object."
TOO_DEEP = "Nested too deeply: at most {max} levels."
TOO_MANY_FIELDS = "Too many fields: at most {max}."
TOO_MANY_FIELDS_OF_BATCH = "Too many fields: at most {max} in a batch."
TOO_MANY_RELATIONS = "Too many relations of related documents: at most {max}."
TOO_MANY_RELATIONS_OF_BATCH = "Too many relations of related documents: at most {max} in a batch."

# -- of a listing

NO_OPERATORS = "Must be an object with {operators}."
EMPTY_OPERATORS = "Must have one of {operators}."
NO_LIMIT = "Must be between 1 and {max}."
NO_TOKEN = "Not a token of this list: begin again without it."

# -- of a filter or an update

DISGUISED = "Keys may not start with $, but those of Operators in the server's code."
NO_REVISION = "Must be a whole number from 0."
NO_PURE_FIELD = "Not a pure field of the model."
NO_PART = "Not a field of this object."
MAYBE_PLACE = "A number above {max} may be a place in a list: set the whole value."
NO_FACTOR = "Must be a whole number."
NO_TRUE = "Must be true."
NO_END = "Must be 1 or -1."
MISFIT = "Does not fit the value that is there."
BEYOND_64_BITS = "The number would leave 64 bits."
NOT_AS_FILTERED = "Must be the value in the filter."

# -- of new documents, their relations and their files

NO_DOCUMENTS = "Expected a list."
NO_DOCUMENT = "Expected an object."
NO_RELATIONS = "Expected an object."
NO_RELATIONS_OF_EACH = "Expected one object, or as many as docs."
NO_RELATION_NAMED = "Name at least one relation."
NO_IDS = "Expected an object with _ids."
NO_LIST_OF_IDS = "Expected a list of ids."
NO_SINGLE_ID = "Expected one id."
REPEATED_ID = "Ids may not repeat."
TOO_MANY_IDS = "More than {max} ids."
OF_FILE = "Comes from the file."

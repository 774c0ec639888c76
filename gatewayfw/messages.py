"""Every text that a client reads when a value or a request is refused.

First the sentences about values, which a reply shows with their paths, then the texts about whole requests. What
developers are told, in a `DefinitionError`, a `UsageError` or the log, stands where it is raised. ``str.format`` fills
in what is in braces; ``{min}`` and ``{max}`` are inclusive bounds.
"""

from __future__ import annotations

# Values

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
NO_OFFSET = "May have no offset, as times are ordered by their text."
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
NO_PLACE = "An element has no name: set the whole list."
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

# Requests

# -- what the classes of errors say, where nothing else is said

INTERNAL = "internal error"
VALIDATION = "validation error"
DUPLICATE_KEY = "Duplicate key error"
TAKEN = "is taken"
MORE_ERRORS = "and more"
IN_PROGRESS = "a request with this Idempotency-Key is under way, try again"
KEY_REUSED = "this Idempotency-Key was sent with another body"
NOT_DONE = "not done"
MIGRATION_RUNS = "another process runs the migration {name}"
STALE = "the document has changed: its revision is {revision}"
REVISION = "is {revision}"
RATE_LIMITED = "too many requests, try again later"
UNAVAILABLE = "service unavailable, try again"
TIMED_OUT = "the request timed out, try again"
PARTLY_DONE = "service unavailable; a part of this request was done"
OUTCOME_UNKNOWN = "service unavailable; the outcome of the write is unknown"

# -- names and addresses

NOT_FOUND = "not found; acts are called by POST {path}"
NO_SERVICE = "service not found: {name}"
NO_MODEL = "model not found: {name}"
NO_ACTS = "no acts found for model: {name}"
NO_ACT = "act not found: {name}"
NO_FIELD_OR_RELATION = "{what} not found: {name}"
#: Where a list of names is empty.
NONE = "none"
KNOWN_NAMES = "{message} (known: {names})"
NO_FILE_FOUND = "file not found"
METHOD_NOT_ALLOWED = "method not allowed"
USE_POST = "method not allowed: use POST"
USE_GET = "method not allowed: use GET"
BAD_HOST = "the header Host is not valid"

# -- the caller

NO_TOKEN_IN_HEADER = "you should send your id with {} key in req header"
NO_BEARER_TOKEN = "you should send your token as Authorization: Bearer"
NO_TOKEN_IN_COOKIE = "you should send your token in the cookie {}"
BAD_TOKEN = "Invalid or expired token"
BAD_TOKEN_DATA = "Invalid or missing token data"
NO_USER = "user not exist"
NO_ACTIVE_ROLE = "{} is required"
UNKNOWN_ACTIVE_ROLE = "Active role not found"
FORBIDDEN = "You cant do this"
HIDDEN = "{path} is hidden from you"
NOT_TO_WRITE = "You may not write any {model}"
NOT_TO_SET = "You may not set {names} of a {model}"
NOT_TO_CHANGE = "You may not change this {model}"
NOT_TO_LEAVE = "You may not leave a {model} like this"
BAD_LINK = "the link is not valid, or not any more"

# -- the body

NO_JSON_TYPE = "unsupported media type: send application/json in UTF-8"
ENCODED_BODY = "unsupported content encoding: send the body as it is"
BODY_TOO_LARGE = "the request body is too large"
SLOW_BODY = "the request body arrives too slowly"
UNREADABLE_BODY = "the request body could not be read"
EMPTY_BODY = "the request body is empty"
NO_UTF8 = "the request body is not UTF-8"
MALFORMED_JSON = "malformed JSON at line {line} column {column}"
BODY_TOO_DEEP = "the request body is nested deeper than {max} levels"
TOO_MANY_VALUES = "the request body holds more than {max} values"
LONG_TEXT_IN_BODY = "a text of the request body is longer than {max} characters"
LONG_KEY_IN_BODY = "a key of the request body is longer than {max} characters"
NUL_IN_KEY = "a key of the request body holds NUL"
LONG_INTEGER = "the request body holds an integer that does not fit 64 bits"
NO_BODY_OBJECT = "the request body must be an object"
NO_NAME = "{key} must be a string that is not empty"
NO_DETAILS = "details must be an object with set and get"
NO_PART_OF_DETAILS = "details.{key} must be an object"
OTHERS_IN_DETAILS = "details must hold set and get only"

# -- a body with files

NO_FILES_TAKEN = "this act takes no files: send application/json in UTF-8"
NO_UPLOAD_HEADER = "requests with files need the header {header}: 1"
BEFORE_FIRST_PART = "there are bytes before the first part"
OTHER_FIRST_PART = "the first part must be {part}"
NO_JSON_PART = "the part {part} must be JSON in UTF-8"
PART_TOO_LARGE = "the part {part} is too large"
UNEXPECTED_PART = "unexpected part: the files of this request may be {names}"
REPEATED_PART = "{path}: the part comes twice"
NO_FILE_PART = "{path}: expected a file, as it is and with a file name"
REPEATED_HEAD = "a part has the same head twice"
LONG_HEAD = "the head of a part is too long"
AFTER_LAST_PART = "there are bytes after the last part"
FILE_TOO_LARGE = "{path}: the file has more than {max} bytes"
OTHER_FILE_TYPE = "{path}: the content must be {types}"

# -- a batch

NO_BATCHES = "batch: this gateway takes one act at a time"
OTHERS_IN_BATCH = "a body with batch may have atomic beside it, and nothing else"
NO_BATCH = "batch must be a list of requests that is not empty"
LONG_BATCH = "batch: at most {max} requests"
NO_ATOMIC_FLAG = "atomic must be true or false"
KEY_OF_BATCH = "the header Idempotency-Key belongs to one act: a batch takes none"
BATCH_IN_BATCH = "batch.{number}: a batch cannot hold another"
FILES_OF_BATCH = "a batch carries no files: send application/json in UTF-8"
NO_TRANSACTIONS = "atomic: this gateway has no database with transactions"
REMOTE_IN_BATCH = "batch.{number}: an atomic batch takes no acts of remote services"
WRITES_OF_ACT_STAY = "; whatever it wrote stays"
HEADERS_IN_BATCH = "this act answers with headers or cookies: call it outside of a batch{stays}"

# -- keys of idempotent requests

NO_KEY_TAKEN = "this act takes no {header}"
BAD_KEY = "the header {header} must be 1 to 255 printable ASCII characters"
KEY_WITHOUT_CALLER = "the header {header} is for callers who are signed in"

# -- remote services

REMOTE_ACTS = "service {name} is remote: its acts are not known here"
NOT_PASSED_ON = "the request cannot be passed on to service {name}"
HEADER_NOT_PASSED_ON = "the header {header} cannot be passed on"
REMOTE_TIMED_OUT = "service {name} took too long"
REMOTE_UNREACHABLE = "service {name} is unreachable"
BAD_REMOTE_REPLY = "bad reply of service {name}: {reason}"
TOO_MANY_HOPS = "service {name} was not asked: too many hops"

# -- documents and relations

MISSING_RELATED = "{model} not found: {ids}"
MORE_MISSING = " and {count} more"
STILL_REFERENCED = "{model} is still referenced{counts}"
STILL_SPREAD = "{model} is still being spread or removed: {ids}"
STILL_FROZEN = "{holder} still has frozen copies of a deleted {model}: {ids}"
ALREADY_RELATED = "{model} already has {relation}"
SEVERAL_RELATED = "{model} has several documents in {relation}"
RELATION_REQUIRED = "{relation} is required"
DOCUMENT_TOO_LARGE = "the document would be too large"
FIELDS_TOO_LARGE = "{document}: the fields of this document would have more than {max} bytes"
NO_ROOM_FOR_COPIES = "its copies have no room for more"
TOO_MANY_COPIES = "{model}: one insert may embed {max} copies of related documents, all of its documents together"
TOO_MANY_MATCH = "more than {max} documents of {model} match, too many for one transaction"
WRITES_STAY = "; whatever this request wrote stays"
REPLY_TOO_LARGE = "the reply would have more than {max} bytes{stays}; ask for fewer fields or documents"
NO_DIRECTION = "sort: expected 1, -1, 'asc' or 'desc'"
NO_COUNT = "{name}: expected an integer from 0"
NO_CHANGES = "update: {operator} takes an object"
NO_FIELD_NAMED = "update: {operator} names no field"
CHANGED_TWICE = "update: {path} is changed twice"

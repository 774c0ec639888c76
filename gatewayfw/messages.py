"""Every text that a client reads when a value or a request is refused.

First the sentences about values, which a reply shows with their paths, then the texts about whole requests. What
developers are told, in a `DefinitionError`, a `UsageError` or the log, stands where it is raised. ``str.format`` fills
in what is in braces; ``{min}`` and ``{max}`` are inclusive bounds.

A sentence about a value is a `Text`: it has a code, which programs read, of `gatewayfw.error_codes`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, cast, final, get_args

from gatewayfw.error_codes import ErrorDetail

#: The names of the bounds of each code.
CODES: Mapping[str, tuple[str, ...]] = {
    code: tuple(name for name in kind.__annotations__ if name != "code")
    for kind in get_args(ErrorDetail)
    for code in get_args(kind.__annotations__["code"])
}
#: Bounds in braces by their names, and as programs read them.
_BOUNDS = {"min": "minimum", "max": "maximum", "equal": "length", "obj_type": "expected"}


@final
class Text(str):
    """A text about a value, with its code and the known bounds of the field.

    Of two codes the first is for values below the bounds, the second for those above.
    """

    def __new__(cls, text: str, *codes: str, **bounds: Any) -> Text:
        if not codes or not CODES.keys() >= set(codes):
            raise ValueError(f"a text about a value has a code of gatewayfw.error_codes: {text}")
        return super().__new__(cls, text)

    def __init__(self, text: str, *codes: str, **bounds: Any) -> None:
        self.codes, self.bounds = codes, bounds
        self._is_whole = "{" not in text and len(codes) == 1 and bounds.keys() >= set(CODES[codes[0]])

    def __getnewargs_ex__(self) -> tuple[tuple[str, ...], dict[str, Any]]:
        return (str(self), *self.codes), self.bounds

    def format(self, *args: object, **values: Any) -> Text:
        """Return the text with values filled in, which tell bounds; lists have commas."""
        if self._is_whole:  # marshmallow's Email and URL fill in their text for each value, before they look at it
            return self
        code = self.codes[-1] if self._is_above(**values) else self.codes[0]
        shown = {name: ", ".join(map(str, one)) if isinstance(one, list) else one for name, one in values.items()}
        told = {_BOUNDS.get(name, name): one for name, one in values.items()}
        told = {name: told[name] for name in CODES[code] if name in told}
        return Text(super().format(*args, **shown), code, **{**told, **self.bounds})

    def _is_above(self, input: Any = None, min: Any = None, **_others: object) -> bool:
        try:
            return bool((len(input) if self.codes[0] == "too_short" else input) > min)
        except TypeError:  # a check of a user's that measures something else
            return False


def detail_of(text: str) -> ErrorDetail:
    """Return what programs read of a text about a value, known or not."""
    known = text if isinstance(text, Text) else KNOWN.get(text) or _filled(text)
    told = known if known is text or known._is_whole else INVALID
    bounds = {name: told.bounds[name] for name in CODES[told.codes[0]] if name in told.bounds}
    return cast(ErrorDetail, {"code": told.codes[0], **bounds})


def _filled(text: str) -> Text:
    """Return a known text, of which this one has the bounds; `INVALID` for any other."""
    for form, known in _FORMS.items():
        if found := form.fullmatch(text):
            bounds = {name: int(bound) for name, bound in found.groupdict().items()}
            if len(known.codes) == 1:
                return known.format(**bounds)
            return Text(text, "out_of_range", minimum=bounds["min"], maximum=bounds["max"])
    return INVALID


# Values

# -- absent, unknown, or of no use to anybody

REQUIRED = Text("Missing data for required field.", "required")
NULL = Text("Field may not be null.", "null")
UNKNOWN = Text("Unknown field.", "unknown")
#: For a wrong value whose field says nothing better.
INVALID = Text("Invalid value.", "invalid")

# -- not a value of the field's kind

NO_BASE64 = Text("Not valid base64.", "wrong_type", expected="base64")
NO_BOOLEAN = Text("Not a valid boolean.", "wrong_type", expected="boolean")
NO_DATE = Text("Not a valid ISO 8601 date.", "wrong_type", expected="date")
NO_DECIMAL = Text('Not a valid decimal (text such as "12.50").', "wrong_type", expected="decimal")
NO_EMAIL = Text("Not a valid email address.", "wrong_type", expected="email")
NO_FILE = Text("Not a file: send it as a part of multipart/form-data.", "wrong_type", expected="file")
NO_ID = Text("Not a valid id.", "wrong_type", expected="object_id")
NO_INTEGER = Text("Not a valid integer.", "wrong_type", expected="integer")
NO_JSON = Text("Not a valid value.", "not_storable")
NO_LIST = Text("Not a valid list.", "wrong_type", expected="list")
NO_MAP_KEY = Text("Not a valid key.", "not_a_key")
NO_NUMBER = Text("Not a valid number.", "wrong_type", expected="number")
NO_OBJECT = Text("Not a valid mapping type.", "wrong_type", expected="object")
NO_OBJECT_ID = Text("Not a valid ObjectId (24 hexadecimal digits).", "wrong_type", expected="object_id")
NO_TEXT = Text("Not a valid string.", "wrong_type", expected="string")
NO_URL = Text("Not a valid URL.", "wrong_type", expected="url")
NO_UUID = Text("Not a valid UUID.", "wrong_type", expected="uuid")

# -- beyond a bound, or not among the choices

TOO_SHORT = Text("Shorter than minimum length {min}.", "too_short")
TOO_LONG = Text("Longer than maximum length {max}.", "too_long")
NO_LENGTH_BETWEEN = Text("Length must be between {min} and {max}.", "too_short", "too_long")
NO_LENGTH = Text("Length must be {equal}.", "wrong_length")
TOO_SMALL = Text("Must be greater than or equal to {min}.", "too_small")
TOO_GREAT = Text("Must be less than or equal to {max}.", "too_large")
NOT_GREATER = Text("Must be greater than {min}.", "not_greater")
NOT_LESS = Text("Must be less than {max}.", "not_less")
NO_NUMBER_BETWEEN = Text(
    "Must be greater than or equal to {min} and less than or equal to {max}.", "too_small", "too_large"
)
TOO_MANY_PLACES = Text("Must have at most {max} decimal places.", "too_many_places")
TOO_MANY_DIGITS = Text("Must have at most {max} digits.", "too_many_digits")
TOO_MANY_BYTES = Text("Must be text of at most {max} bytes.", "too_many_bytes")
NO_MATCH = Text("String does not match expected pattern.", "no_match", pattern=None)
NO_CHOICE = Text("Must be one of: {choices}.", "not_a_choice")

# -- nothing that the database can hold

NO_KEY = Text("Not a key the database can hold.", "not_a_key")
NO_VALUE = Text("Not a value the database can hold.", "not_storable")
NO_OFFSET = Text("May have no offset, as times are ordered by their text.", "not_storable")
LONG_PATH = Text("Has too many names.", "not_a_key")
#: For a value that the field would store, and then show or load as another one.
NOT_KEPT = Text("Would come back as another value.", "not_kept")

# -- of a `get`

NO_FLAG = Text("Must be 1 or 0.", "not_a_choice", choices=[1, 0])
NO_LINK_VALUE = Text("Must be 1, 0 or an object.", "wrong_type", expected="selection")
NO_REVISION_OF_COPY = Text("A copy has no revision: ask for it at the top.", "unknown")
NOT_WHOLE = Text("Not all fields may be selected: name them in an object.", "not_whole")
TOO_DEEP = Text("Nested too deeply: at most {max} levels.", "too_deep")
TOO_MANY_FIELDS = Text("Too many fields: at most {max}.", "too_many_fields")
TOO_MANY_FIELDS_OF_BATCH = Text("Too many fields: at most {max} in a batch.", "too_many_fields")
TOO_MANY_RELATIONS = Text("Too many relations of related documents: at most {max}.", "too_many_relations")
TOO_MANY_RELATIONS_OF_BATCH = Text(
    "Too many relations of related documents: at most {max} in a batch.", "too_many_relations"
)

# -- of a listing

NO_OPERATORS = Text("Must be an object with {operators}.", "no_operator")
EMPTY_OPERATORS = Text("Must have one of {choices}.", "no_operator")
NO_LIMIT = Text("Must be between 1 and {max}.", "out_of_range", minimum=1)
NO_TOKEN = Text("Not a token of this list: begin again without it.", "bad_token")

# -- of a filter or an update

DISGUISED = Text("Keys may not start with $, but those of Operators in the server's code.", "not_a_key")
NO_REVISION = Text("Must be a whole number from 0.", "wrong_type", expected="revision")
NO_PURE_FIELD = Text("Not a pure field of the model.", "unknown")
NO_PART = Text("Not a field of this object.", "unknown")
NO_PLACE = Text("An element has no name: set the whole list.", "not_a_key")
MAYBE_PLACE = Text("A number above {max} may be a place in a list: set the whole value.", "not_a_key")
NO_FACTOR = Text("Must be a whole number.", "wrong_type", expected="integer")
NO_TRUE = Text("Must be true.", "not_a_choice", choices=[True])
NO_END = Text("Must be 1 or -1.", "not_a_choice", choices=[1, -1])
MISFIT = Text("Does not fit the value that is there.", "misfit")
BEYOND_64_BITS = Text("The number would leave 64 bits.", "overflow")
NOT_AS_FILTERED = Text("Must be the value in the filter.", "not_as_filtered")

# -- of new documents, their relations and their files

NO_DOCUMENTS = Text("Expected a list.", "wrong_type", expected="list")
NO_DOCUMENT = Text("Expected an object.", "wrong_type", expected="object")
NO_RELATIONS = Text("Expected an object.", "wrong_type", expected="object")
NO_RELATIONS_OF_EACH = Text("Expected one object, or as many as docs.", "wrong_type", expected="object")
NO_RELATION_NAMED = Text("Name at least one relation.", "required")
NO_IDS = Text("Expected an object with _ids.", "wrong_type", expected="object")
NO_LIST_OF_IDS = Text("Expected a list of ids.", "wrong_type", expected="list")
NO_SINGLE_ID = Text("Expected one id.", "wrong_type", expected="object_id")
REPEATED_ID = Text("Ids may not repeat.", "repeated")
TOO_MANY_IDS = Text("More than {max} ids.", "too_long")
OF_FILE = Text("Comes from the file.", "fixed")
NO_FILE_PART = Text("expected a file, as it is and with a file name", "wrong_type", expected="file")
FILE_TOO_LARGE = Text("the file has more than {max} bytes", "too_long")
OTHER_FILE_TYPE = Text("the content must be {types}", "not_a_choice")

# -- of what is stored

TAKEN = Text("is taken", "taken")
REVISION = Text("is {revision}", "stale")

# -- marshmallow's own, besides those above

_OTHERS: Mapping[str, Sequence[str]] = {
    "date": ("Not a valid date.",),
    "datetime": [f"Not a valid {kind}datetime." for kind in ("", "naive ", "aware ")],
    "duration": ("Not a valid period of time.",),
    "ip": [f"Not a valid {kind} address." for kind in ("IP", "IPv4", "IPv6")],
    "ip_interface": [f"Not a valid {kind} interface." for kind in ("IP", "IPv4", "IPv6")],
    "list": ("Not a valid tuple.", "Invalid type."),
    "number": ("Number too large.", "Special numeric values (nan or infinity) are not permitted."),
    "object": ("Invalid input type.",),
    "string": ("Not a valid utf-8 string.",),
    "time": ("Not a valid time.",),
}
_MOMENTS = [Text(f"Not a valid {kind}.", "wrong_type") for kind in ("{obj_type}", "{awareness} {obj_type}")]
#: Texts by what they say.
KNOWN: Mapping[str, Text] = {
    **{str(text): text for text in (*list(globals().values()), *_MOMENTS) if isinstance(text, Text)},
    **{text: Text(text, "wrong_type", expected=kind) for kind, texts in _OTHERS.items() for text in texts},
}
#: Those with bounds, by what they are with whole numbers for them.
_FORMS = {
    re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>-?[0-9]{1,18})", re.escape(text))): text
    for text in KNOWN.values()
    if re.search("{(min|max|equal)}", text)
}

# Requests

# -- what the classes of errors say, where nothing else is said

INTERNAL = "internal error"
VALIDATION = "validation error"
DUPLICATE_KEY = "Duplicate key error"
MORE_ERRORS = "and more"
IN_PROGRESS = "a request with this Idempotency-Key is under way, try again"
KEY_REUSED = "this Idempotency-Key was sent with another body"
NOT_DONE = "not done"
MIGRATION_RUNS = "another process runs the migration {name}"
STALE = "the document has changed: its revision is {revision}"
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
REPEATED_HEAD = "a part has the same head twice"
LONG_HEAD = "the head of a part is too long"
AFTER_LAST_PART = "there are bytes after the last part"

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

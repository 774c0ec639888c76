"""What programs read of a refused value: a code, and the bounds of its field.

The list of codes is closed. Python's clients have these types as they stand here, other exports from the catalog.
"""

from typing import Any, Literal, TypedDict

#: A bound as JSON: that of decimals, dates and times is text.
ErrorBound = int | float | str
#: What a value should have been.
ExpectedType = Literal[
    "base64", "boolean", "date", "datetime", "decimal", "duration", "email", "file", "integer", "ip", "ip_interface",
    "list", "number", "object", "object_id", "revision", "selection", "string", "time", "url", "uuid",
]  # fmt: skip
PlainCode = Literal[
    "bad_token", "fixed", "invalid", "misfit", "not_a_key", "not_as_filtered", "not_kept", "not_storable", "not_whole",
    "null", "overflow", "repeated", "required", "taken", "unknown",
]  # fmt: skip
LeastCode = Literal["not_greater", "too_short", "too_small"]
MostCode = Literal[
    "not_less", "too_deep", "too_large", "too_long", "too_many_bytes", "too_many_digits", "too_many_fields",
    "too_many_places", "too_many_relations",
]  # fmt: skip
ChoiceCode = Literal["excluded", "no_operator", "not_a_choice"]

PlainDetail = TypedDict("PlainDetail", {"code": PlainCode})
TypeDetail = TypedDict("TypeDetail", {"code": Literal["wrong_type"], "expected": ExpectedType})
LeastDetail = TypedDict("LeastDetail", {"code": LeastCode, "minimum": ErrorBound})
MostDetail = TypedDict("MostDetail", {"code": MostCode, "maximum": ErrorBound})
RangeDetail = TypedDict("RangeDetail", {"code": Literal["out_of_range"], "minimum": int, "maximum": int})
LengthDetail = TypedDict("LengthDetail", {"code": Literal["wrong_length"], "length": int})
#: The pattern is Python's, for the whole text; null where a check cannot be said so.
PatternDetail = TypedDict("PatternDetail", {"code": Literal["no_match"], "pattern": str | None})
ChoiceDetail = TypedDict("ChoiceDetail", {"code": ChoiceCode, "choices": list[Any]})
StaleDetail = TypedDict("StaleDetail", {"code": Literal["stale"], "revision": int})

ErrorDetail = (
    PlainDetail | TypeDetail | LeastDetail | MostDetail | RangeDetail | LengthDetail | PatternDetail | ChoiceDetail
    | StaleDetail
)  # fmt: skip
SingleCode = Literal["wrong_type", "out_of_range", "wrong_length", "no_match", "stale"]
ErrorCode = PlainCode | LeastCode | MostCode | ChoiceCode | SingleCode
